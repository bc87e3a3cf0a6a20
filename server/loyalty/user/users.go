// Package user handles signing in: passwords, second factors, passkeys, providers, invitations and sessions. What a
// user may do is up to the contract (x-role); changes by owners belong to administration.
package user

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Lifetimes.
const (
	SessionLife = 12 * time.Hour
	IdleLife    = time.Hour
	// ConfirmLife is how long after a proof of identity a user may do what needs one.
	ConfirmLife = 10 * time.Minute

	seenEvery = time.Minute // precision of a session's last use
)

// Refusals of a sign-in. They do not tell which logins exist, or whether login or password was wrong.
var (
	ErrSignIn     = errors.New("login or password is wrong")
	ErrCodeNeeded = errors.New("a second factor is needed")
	ErrSlow       = errors.New("too many sign-ins failed; wait")
	ErrNoSession  = errors.New("there is no such session")
	ErrNoLink     = errors.New("the link is invalid, expired or already used")
)

// Users signs users in.
type Users struct {
	store  loyalty.UserStore
	clock  func() time.Time
	hasher *hasher
	others *strangers
}

// New makes Users; a nil clock means time.Now.
func New(store loyalty.UserStore, clock func() time.Time) *Users {
	if clock == nil {
		clock = time.Now
	}
	return &Users{store, clock, newHasher(present), &strangers{users: map[string]*loyalty.User{}}}
}

func (u *Users) now() time.Time { return u.clock().UTC().Truncate(time.Millisecond) }

// NewToken makes a token of 256 random bits, and its stored form.
func NewToken() (token string, hash loyalty.TokenHash) {
	random := make([]byte, 32)
	_, _ = rand.Read(random)
	token = base64.RawURLEncoding.EncodeToString(random)
	return token, HashToken(token)
}

// HashToken is the stored form of a token.
func HashToken(token string) loyalty.TokenHash { return sha256.Sum256([]byte(token)) }

// From is where a sign-in comes from.
type From struct {
	Address, Agent string
	Browser        string // the token that Entry gave this browser before; empty: none
}

// Entry is what a browser keeps of a sign-in: the token of its session, and the one by which it is known at the next
// sign-in.
type Entry struct{ Session, Browser string }

// maxAgent limits how much of a browser's name is stored.
const maxAgent = 200

// CleanLogin is the form in which logins are stored and compared.
func CleanLogin(login string) string { return strings.ToLower(strings.TrimSpace(login)) }

// SignIn begins a session for a login, its password and, if the user has a second factor, a code of
// it or a recovery code. It fails with ErrSignIn, ErrCodeNeeded (the password was right) or
// ErrSlow.
func (u *Users) SignIn(ctx context.Context, login, password, code string, from From) (Entry, error) {
	began := time.Now()
	login = CleanLogin(login)
	at := from.origin()
	found, known, err := u.store.UserByLogin(ctx, login)
	if err != nil {
		return Entry{}, err
	}
	if known && at.waits(&found, u.now()) || !known && u.others.waits(at, login, u.now()) {
		return Entry{}, ErrSlow
	}

	err = u.prove(ctx, &found, password, code, at)
	if !known && errors.Is(err, ErrSignIn) {
		err = u.others.judge(u, login, at)
	}
	if errors.Is(err, ErrSignIn) {
		wait(ctx, roundUp(time.Since(began))-time.Since(began))
	}
	if err != nil {
		return Entry{}, err
	}

	return u.begin(ctx, found.ID, true, from)
}

// refusedEvery is what the time of a refusal is rounded up to. The failure of a known login is stored and that of an
// unknown one is not; the time would reveal the difference.
const refusedEvery = 250 * time.Millisecond

func roundUp(d time.Duration) time.Duration { return (d/refusedEvery + 1) * refusedEvery }

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// prove checks a password and a code, counts failures, and consumes the code.
func (u *Users) prove(ctx context.Context, user *loyalty.User, password, code string, at origin) error {
	ok, stale, err := u.hasher.matches(ctx, password, user.Password)
	if err != nil {
		return err
	}
	if user.ID == (loyalty.ID{}) {
		return ErrSignIn
	}

	fresh := ""
	if ok && stale && user.DisabledAt.IsZero() {
		if fresh, err = u.hasher.hash(ctx, password); err != nil {
			return err
		}
	}

	var refused error
	_, err = u.store.ChangeUser(ctx, user.ID, func(now *loyalty.User) error {
		refused = u.judge(now, ok && now.Password == user.Password, code, at)
		if refused == nil && fresh != "" {
			now.Password = fresh
		}
		return nil
	})
	if err != nil {
		return err
	}

	return refused
}

// judge decides under the user's lock.
func (u *Users) judge(user *loyalty.User, right bool, code string, at origin) error {
	switch {
	case at.waits(user, u.now()): // others failed meanwhile
		return ErrSlow
	case !right, !user.DisabledAt.IsZero():
		// a disabled user gets the same answer as for a wrong password, and the same wait
		at.failed(user, u.now())
		return ErrSignIn
	case len(user.TOTP) > 0 && code == "":
		return ErrCodeNeeded
	case len(user.TOTP) > 0 && !u.takeCode(user, code):
		at.failed(user, u.now())
		return ErrSignIn
	}

	at.passed(user, u.now())
	return nil
}

// takeCode consumes a code of the second factor, or a recovery code.
func (u *Users) takeCode(user *loyalty.User, code string) bool {
	if at, ok := stepOf(user.TOTP, code, u.now(), user.TOTPStep); ok {
		user.TOTPStep = at
		return true
	}
	if i := slices.Index(user.Recovery, recoveryHash(code)); i >= 0 {
		user.Recovery = slices.Delete(slices.Clone(user.Recovery), i, i+1)
		return true
	}
	return false
}

// Enter begins a session by a one-time link. It fails with ErrNoLink.
func (u *Users) Enter(ctx context.Context, token string, from From) (Entry, error) {
	id, ok, err := u.store.TakeInvitation(ctx, HashToken(token), u.now())
	if err != nil {
		return Entry{}, err
	}
	if !ok {
		return Entry{}, ErrNoLink
	}

	user, ok, err := u.store.User(ctx, id)
	if err != nil {
		return Entry{}, err
	}
	if !ok || !user.DisabledAt.IsZero() {
		return Entry{}, ErrNoLink
	}

	// A user with a password, a second factor or a passkey must confirm their identity before sensitive actions.
	return u.begin(ctx, id, user.Password == "" && len(user.TOTP) == 0 && len(user.Passkeys) == 0, from)
}

// begin opens a session. Only a hash of its token is stored, so that a reader of the database
// cannot sign in. It also deletes sessions that ended a day ago, which saves a job.
func (u *Users) begin(ctx context.Context, user loyalty.ID, confirmed bool, from From) (Entry, error) {
	token, hash := NewToken()
	now := u.now()
	s := loyalty.Session{Hash: hash, User: user, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(SessionLife),
		Address: from.Address, Agent: from.Agent}
	if confirmed {
		s.ConfirmedAt = now
	}
	if agent := []rune(s.Agent); len(agent) > maxAgent {
		s.Agent = string(agent[:maxAgent])
	}

	if err := u.store.ForgetSessions(ctx, now.Add(-24*time.Hour)); err != nil {
		return Entry{}, err
	}
	if err := u.store.AddSession(ctx, s); err != nil {
		return Entry{}, err
	}

	browser, err := u.remember(ctx, user, from.Browser)
	return Entry{token, browser}, err
}

// Session returns the user of a session in force. It fails with ErrNoSession.
func (u *Users) Session(ctx context.Context, token string) (*loyalty.Caller, error) {
	s, user, ok, err := u.store.Session(ctx, HashToken(token))
	if err != nil {
		return nil, err
	}

	now := u.now()
	if !ok || !user.DisabledAt.IsZero() || !now.Before(s.ExpiresAt) || now.Sub(s.SeenAt) > IdleLife {
		return nil, ErrNoSession
	}

	if now.Sub(s.SeenAt) >= seenEvery {
		s.SeenAt = now
		if err := u.store.SaveSession(ctx, s); err != nil {
			return nil, err
		}
	}

	return &loyalty.Caller{User: user, ConfirmedAt: s.ConfirmedAt}, nil
}

// Lasts reports whether a session is in force, without counting as its use: an open stream asks, which does not mean
// that the user is there.
func (u *Users) Lasts(ctx context.Context, token string, role loyalty.Role, personal bool) bool {
	s, user, ok, err := u.store.Session(ctx, HashToken(token))
	return err == nil && ok && user.DisabledAt.IsZero() && u.now().Before(s.ExpiresAt) && user.Role == role &&
		user.Personal == personal
}

// End ends a session.
func (u *Users) End(ctx context.Context, token string) error {
	return u.store.EndSession(ctx, HashToken(token))
}

// EndAll ends all sessions of the user of a session, including that one, and forgets their browsers.
func (u *Users) EndAll(ctx context.Context, token string) error {
	_, user, ok, err := u.store.Session(ctx, HashToken(token))
	if err != nil || !ok {
		return err
	}
	_, err = u.store.ChangeUser(ctx, user.ID, func(user *loyalty.User) error {
		user.Browsers = nil
		return nil
	})
	if err != nil {
		return err
	}
	return u.store.EndOtherSessions(ctx, user.ID, loyalty.TokenHash{})
}

// Confirm records that the user of a session proved their identity: by the password, with a code if there is a second
// factor, or by a code alone. It fails as SignIn does. Failures are counted per user, because only the user's own
// sessions get here.
func (u *Users) Confirm(ctx context.Context, token, password, code string) error {
	if _, err := u.Session(ctx, token); err != nil {
		return err // an ended session proves nothing
	}

	own := origin{session: true}
	s, user, ok, err := u.store.Session(ctx, HashToken(token))
	switch {
	case err != nil:
		return err
	case !ok:
		return ErrNoSession
	case own.waits(&user, u.now()):
		return ErrSlow
	}

	if password == "" && code != "" && len(user.TOTP) > 0 {
		err = u.proveByCode(ctx, user.ID, code)
	} else {
		err = u.prove(ctx, &user, password, code, own)
	}

	if err != nil {
		return err
	}

	s.ConfirmedAt = u.now()
	return u.store.SaveSession(ctx, s)
}

// proveByCode counts wrong codes in the transaction that checks them, under the user's row: otherwise codes tried at
// the same time would share one count.
func (u *Users) proveByCode(ctx context.Context, id loyalty.ID, code string) error {
	own := origin{session: true}
	var refused error
	_, err := u.store.ChangeUser(ctx, id, func(user *loyalty.User) error {
		switch {
		case own.waits(user, u.now()):
			refused = ErrSlow
		case !u.takeCode(user, code):
			own.failed(user, u.now())
			refused = ErrSignIn
		default:
			own.passed(user, u.now())
		}
		return nil
	})
	if err != nil {
		return err
	}

	return refused
}
