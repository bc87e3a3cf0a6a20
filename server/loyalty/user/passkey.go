package user

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// MostPasskeys is the most passkeys of a user.
const MostPasskeys = 10

// challengeLife is how long a device may take to sign.
const challengeLife = 5 * time.Minute

// ErrPasskey is the failure of a passkey that is unknown or was removed, or whose signature does not verify.
var ErrPasskey = errors.New("the passkey is unknown or over")

// Party is the console's identity for passkeys: a device uses a passkey only for the host it was
// made for.
type Party struct{ Host, Origin string }

// The purposes of challenges. A signature for one purpose is not valid for another.
const (
	passkeyAdds     = "add"
	passkeyEnters   = "enter"
	passkeyConfirms = "confirm"
)

func (p Party) ceremony() (*webauthn.WebAuthn, error) {
	return webauthn.New(&webauthn.Config{
		RPID: p.Host, RPDisplayName: "Loyalty", RPOrigins: []string{p.Origin},
		AttestationPreference: protocol.PreferNoAttestation,
		// The device verifies its user (a fingerprint, a PIN), which makes a passkey as good as a
		// password with a code.
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired},
		// some password managers send more than was asked for
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
}

// holder is a user in the form that the library expects.
type holder struct{ *loyalty.User }

func (h holder) WebAuthnID() []byte   { return h.ID[:] }
func (h holder) WebAuthnName() string { return h.Login }
func (h holder) WebAuthnDisplayName() string {
	if h.Name == "" {
		return h.Login
	}
	return h.Name
}

func (h holder) WebAuthnCredentials() []webauthn.Credential {
	list := make([]webauthn.Credential, len(h.Passkeys))
	for i, k := range h.Passkeys {
		list[i] = webauthn.Credential{
			ID: k.ID, PublicKey: k.PublicKey, Flags: webauthn.CredentialFlags{BackupEligible: k.Copied},
			Authenticator: webauthn.Authenticator{AAGUID: k.Model, SignCount: k.Count},
		}
		for _, t := range k.Transports {
			list[i].Transport = append(list[i].Transport, protocol.AuthenticatorTransport(t))
		}
	}
	return list
}

func (u *Users) challenge(ctx context.Context, purpose string, of loyalty.ID, text string) error {
	return u.store.AddChallenge(ctx, challengeHash(purpose, of, text), u.now().Add(challengeLife))
}

// taken consumes the challenge that a device says it signed, so that it can be used once, and
// reports whether it was valid.
func (u *Users) taken(ctx context.Context, purpose string, of loyalty.ID, text string) (bool, error) {
	return u.store.TakeChallenge(ctx, challengeHash(purpose, of, text), u.now())
}

func challengeHash(purpose string, of loyalty.ID, text string) loyalty.TokenHash {
	return sha256.Sum256([]byte(purpose + "\n" + of.String() + "\n" + text))
}

// NewPasskey asks a device for a passkey of a user; the result goes to the browser unchanged. It
// fails with ErrConfirmNeeded or ErrPasskeyMany.
func (u *Users) NewPasskey(ctx context.Context, c *loyalty.Caller, at Party) (any, error) {
	if err := u.mayAddPasskey(c); err != nil {
		return nil, err
	}
	w, err := at.ceremony()
	if err != nil {
		return nil, err
	}
	who := holder{&c.User}
	asked, session, err := w.BeginRegistration(who,
		webauthn.WithExclusions(webauthn.Credentials(who.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return nil, err
	}
	return asked.Response, u.challenge(ctx, passkeyAdds, c.ID, session.Challenge)
}

func (u *Users) mayAddPasskey(c *loyalty.Caller) error {
	switch {
	case !u.confirmed(c):
		return loyalty.ErrConfirmNeeded
	case len(c.Passkeys) >= MostPasskeys:
		return loyalty.ErrPasskeyMany.With("limit", MostPasskeys)
	}
	return nil
}

// MadePasskey checks what a device made in answer to NewPasskey. It fails as NewPasskey does, or
// with ErrPasskeyWrong.
func (u *Users) MadePasskey(ctx context.Context, c *loyalty.Caller, at Party, answer []byte) (loyalty.Passkey, error) {
	if err := u.mayAddPasskey(c); err != nil {
		return loyalty.Passkey{}, err
	}

	made, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return loyalty.Passkey{}, loyalty.ErrPasskeyWrong.Because(err)
	}

	text := made.Response.CollectedClientData.Challenge
	if ok, err := u.taken(ctx, passkeyAdds, c.ID, text); err != nil || !ok {
		return loyalty.Passkey{}, orWrong(err)
	}

	w, err := at.ceremony()
	if err != nil {
		return loyalty.Passkey{}, err
	}

	kept, err := w.CreateCredential(holder{&c.User}, webauthn.SessionData{
		Challenge: text, RelyingPartyID: at.Host, UserID: c.ID[:], UserVerification: protocol.VerificationRequired,
		CredParams: webauthn.CredentialParametersDefault(),
	}, made)
	if err != nil {
		return loyalty.Passkey{}, loyalty.ErrPasskeyWrong.Because(err)
	}

	k := loyalty.Passkey{
		ID: kept.ID, PublicKey: kept.PublicKey, Count: kept.Authenticator.SignCount, Model: kept.Authenticator.AAGUID,
		Copied: kept.Flags.BackupEligible, CreatedAt: u.now(),
	}

	for _, t := range kept.Transport {
		k.Transports = append(k.Transports, string(t))
	}

	return k, nil
}

func orWrong(err error) error {
	if err != nil {
		return err
	}
	return loyalty.ErrPasskeyWrong
}

// AskPasskey asks any device that has a passkey of the console; with a user, a device with one of
// theirs. It fails with ErrPasskey if the user has none.
func (u *Users) AskPasskey(ctx context.Context, c *loyalty.Caller, at Party) (any, error) {
	w, err := at.ceremony()
	if err != nil {
		return nil, err
	}

	if c == nil {
		asked, session, err := w.BeginDiscoverableLogin()
		if err != nil {
			return nil, err
		}
		return asked.Response, u.challenge(ctx, passkeyEnters, loyalty.ID{}, session.Challenge)
	}

	if len(c.Passkeys) == 0 {
		return nil, ErrPasskey
	}

	asked, session, err := w.BeginLogin(holder{&c.User})
	if err != nil {
		return nil, err
	}

	return asked.Response, u.challenge(ctx, passkeyConfirms, c.ID, session.Challenge)
}

// EnterByPasskey begins a session of the user whose passkey signed. It fails with ErrPasskey, and
// with ErrPasskeyOutside for a user who comes from the company's provider, because a passkey would
// outlast their account there.
func (u *Users) EnterByPasskey(ctx context.Context, at Party, answer []byte, from From) (Entry, error) {
	var found loyalty.User
	var failed error
	find := func(_, handle []byte) (webauthn.User, error) {
		var id loyalty.ID
		if len(handle) != len(id) {
			return nil, ErrPasskey
		}
		copy(id[:], handle)
		known := false
		if found, known, failed = u.store.User(ctx, id); failed != nil || !known {
			return nil, ErrPasskey
		}
		return holder{&found}, nil
	}

	used, err := u.signed(ctx, at, answer, passkeyEnters, loyalty.ID{},
		func(w *webauthn.WebAuthn, s webauthn.SessionData,
			a *protocol.ParsedCredentialAssertionData) (*webauthn.Credential, error) {
			return w.ValidateDiscoverableLogin(find, s, a)
		})
	switch {
	case failed != nil:
		return Entry{}, failed
	case err != nil:
		return Entry{}, err
	case found.Issuer != "" && found.Password == "":
		return Entry{}, loyalty.ErrPasskeyOutside
	}

	if err := u.noteUse(ctx, found.ID, used); err != nil {
		return Entry{}, err
	}

	return u.begin(ctx, found.ID, true, from)
}

// ConfirmByPasskey records that the user of a session proved their identity by a passkey. It fails
// with ErrNoSession or ErrPasskey.
func (u *Users) ConfirmByPasskey(ctx context.Context, token string, at Party, answer []byte) error {
	me, err := u.Session(ctx, token)
	if err != nil {
		return err
	}

	used, err := u.signed(ctx, at, answer, passkeyConfirms, me.ID,
		func(w *webauthn.WebAuthn, s webauthn.SessionData,
			a *protocol.ParsedCredentialAssertionData) (*webauthn.Credential, error) {
			s.UserID = me.ID[:]
			return w.ValidateLogin(holder{&me.User}, s, a)
		})
	if err != nil {
		return err
	}
	if err := u.noteUse(ctx, me.ID, used); err != nil {
		return err
	}

	return u.noteProof(ctx, token)
}

// signed verifies what a device signed in answer to a challenge.
func (u *Users) signed(ctx context.Context, at Party, answer []byte, purpose string, of loyalty.ID,
	holds func(*webauthn.WebAuthn, webauthn.SessionData,
		*protocol.ParsedCredentialAssertionData) (*webauthn.Credential, error),
) (*webauthn.Credential, error) {
	said, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, ErrPasskey
	}

	text := said.Response.CollectedClientData.Challenge
	if ok, err := u.taken(ctx, purpose, of, text); err != nil {
		return nil, err
	} else if !ok {
		return nil, ErrPasskey
	}

	w, err := at.ceremony()
	if err != nil {
		return nil, err
	}

	used, err := holds(w, webauthn.SessionData{Challenge: text, RelyingPartyID: at.Host,
		UserVerification: protocol.VerificationRequired}, said)
	if err != nil || used.Authenticator.CloneWarning { // the signature counter shows that one of two devices is a copy
		return nil, ErrPasskey
	}

	return used, nil
}

// noteUse stores a device's count of signatures. It fails for a passkey that was removed meanwhile, or whose user was
// disabled.
func (u *Users) noteUse(ctx context.Context, id loyalty.ID, used *webauthn.Credential) error {
	refused := ErrPasskey
	_, err := u.store.ChangeUser(ctx, id, func(user *loyalty.User) error {
		i := IndexPasskey(user.Passkeys, used.ID)
		if i < 0 || !user.DisabledAt.IsZero() {
			return nil
		}
		user.Passkeys = slices.Clone(user.Passkeys)
		user.Passkeys[i].Count, user.Passkeys[i].UsedAt, refused = used.Authenticator.SignCount, u.now(), nil
		origin{session: true}.passed(user, u.now()) // as after a right password
		return nil
	})
	if err != nil {
		return err
	}

	return refused
}

// MayRemovePasskey returns an error unless the user of a session may remove a passkey. It fails
// with ErrConfirmNeeded.
func (u *Users) MayRemovePasskey(c *loyalty.Caller) error { return u.MayLink(c) }

// EndOthers ends all sessions of a user but one.
func (u *Users) EndOthers(ctx context.Context, c *loyalty.Caller, token string) error {
	return u.store.EndOtherSessions(ctx, c.ID, HashToken(token))
}

// IndexPasskey returns the index of a passkey; -1 if it is not there.
func IndexPasskey(keys []loyalty.Passkey, id []byte) int {
	return slices.IndexFunc(keys, func(k loyalty.Passkey) bool { return bytes.Equal(k.ID, id) })
}

// PasskeyName is the name that a user gives a passkey, trimmed.
func PasskeyName(text string) string { return strings.TrimSpace(text) }
