package user

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Outside is a person that a sign-in provider vouches for.
type Outside struct {
	Issuer, Subject    string // together the permanent name of the person
	Login, Name, Email string // as the provider sends them; they are cleaned here
	Role               loyalty.Role
	Personal           bool
}

// Mapping gives roles by the values of the claim, such as groups.
type Mapping map[string]Grant

// Grant is what one value of the claim gives.
type Grant struct {
	Role     loyalty.Role
	Personal bool
}

// withPersonal is the suffix of a role that includes the right to see personal data.
const withPersonal = "+personal"

// ParseMapping parses rows such as "admins=owner+personal".
func ParseMapping(rows []string) (Mapping, error) {
	m := Mapping{}
	for _, row := range rows {
		value, role, found := cutLast(strings.TrimSpace(row), "=")
		role, personal := strings.CutSuffix(role, withPersonal)
		if !found || value == "" || !loyalty.IsRole(role) {
			return nil, fmt.Errorf("%q must be VALUE=ROLE, where ROLE is viewer, editor, operator or owner, optionally with %s",
				row, withPersonal)
		}
		if _, twice := m[value]; twice {
			return nil, fmt.Errorf("%q is there twice", value)
		}
		m[value] = Grant{loyalty.Role(role), personal}
	}
	return m, nil
}

// cutLast cuts at the last separator, because the name of a group may contain one.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// Of returns the highest role that any of the values gives, and whether any gives the right to see personal data; ok is
// false if none gives a role, and the sign-in is refused.
func (m Mapping) Of(values []string) (g Grant, ok bool) {
	for _, v := range values {
		given, known := m[v]
		if !known {
			continue
		}
		if !ok || given.Role.Covers(g.Role) {
			g.Role = given.Role
		}
		g.Personal = g.Personal || given.Personal
		ok = true
	}
	return g, ok
}

// LoginFrom makes a login from a name that a provider gives.
func LoginFrom(text string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', strings.ContainsRune(".-_@", r):
			return r
		case unicode.IsSpace(r), unicode.IsLetter(r), unicode.IsPunct(r):
			return '-'
		}
		return -1
	}, CleanLogin(text))

	const room = 58 // of 64, so that a number can be added
	if clean = clean[:min(len(clean), room)]; strings.Trim(clean, "-") == "" {
		return "user"
	}

	return clean
}

// EnterOutside begins a session of a user that a provider vouches for. proved says that they proved their identity to
// the provider a short while ago. It fails with ErrUserDisabled.
func (u *Users) EnterOutside(ctx context.Context, user loyalty.User, proved bool, from From) (Entry, error) {
	if !user.DisabledAt.IsZero() {
		return Entry{}, loyalty.ErrUserDisabled
	}
	return u.begin(ctx, user.ID, proved, from)
}

// ConfirmOutside records that the user of a session proved their identity to their provider. It
// fails with ErrNoSession, and with ErrSignIn if that was another person.
func (u *Users) ConfirmOutside(ctx context.Context, token string, who Outside) error {
	me, err := u.Session(ctx, token)
	if err != nil {
		return err
	}
	if me.Issuer != who.Issuer || me.Subject != who.Subject {
		return ErrSignIn
	}
	return u.noteProof(ctx, token)
}

// noteProof records that the user of a session has just proved their identity.
func (u *Users) noteProof(ctx context.Context, token string) error {
	s, _, ok, err := u.store.Session(ctx, HashToken(token))
	if err != nil || !ok {
		return err
	}
	s.ConfirmedAt = u.now()
	return u.store.SaveSession(ctx, s)
}

// MayLink returns an error unless the user of a session may link a provider's account to themselves. The account opens
// the console as a password does, so linking needs a fresh proof of identity, too.
func (u *Users) MayLink(c *loyalty.Caller) error {
	if !u.confirmed(c) {
		return loyalty.ErrConfirmNeeded
	}
	return nil
}

// wayLife is how long signing in at a provider may take.
const wayLife = 10 * time.Minute

// AskOutside records the purpose for which a browser is sent to a provider. text is known to that browser alone. With
// the token of a session, the record is valid for that session alone, so that nothing begun by another browser has an
// effect there.
func (u *Users) AskOutside(ctx context.Context, purpose, token, text string) error {
	return u.store.AddChallenge(ctx, wayHash(purpose, token, text), u.now().Add(wayLife))
}

// TakeOutside consumes the record of AskOutside, on any node; false: it is unknown, used or expired.
func (u *Users) TakeOutside(ctx context.Context, purpose, token, text string) (bool, error) {
	return u.store.TakeChallenge(ctx, wayHash(purpose, token, text), u.now())
}

func wayHash(purpose, token, text string) loyalty.TokenHash {
	session := HashToken(token)
	return HashToken("provider\n" + purpose + "\n" + string(session[:]) + text)
}
