package user

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Outside is a person as a provider of sign-ins vouches for them.
type Outside struct {
	Issuer, Subject    string // together they name the person for good
	Login, Name, Email string // as the provider has them; what is made of them here is clean
	Role               loyalty.Role
	Personal           bool
}

// Mapping says which role a group, or whatever else a claim has, gives.
type Mapping map[string]Grant

// Grant is what one value of the claim gives.
type Grant struct {
	Role     loyalty.Role
	Personal bool
}

// withPersonal ends a role that comes with the right to see personal data.
const withPersonal = "+personal"

// ParseMapping reads rows such as "admins=owner+personal".
func ParseMapping(rows []string) (Mapping, error) {
	m := Mapping{}
	for _, row := range rows {
		value, role, found := cutLast(strings.TrimSpace(row), "=")
		role, personal := strings.CutSuffix(role, withPersonal)
		if !found || value == "" || !loyalty.IsRole(role) {
			return nil, fmt.Errorf("%q is not VALUE=ROLE, the role being viewer, editor, operator or owner, and perhaps %s", row, withPersonal)
		}
		if _, twice := m[value]; twice {
			return nil, fmt.Errorf("%q is there twice", value)
		}
		m[value] = Grant{loyalty.Role(role), personal}
	}
	return m, nil
}

// cutLast cuts at the last separator: groups may have one in their names.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// Of is the highest role that any of some values gives, and whether any gives the right to
// see personal data; false: none gives a role, and there is no entry.
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

// LoginFrom makes a login out of a name that a provider gives.
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
	const room = 58 // of 64: a number may follow
	if clean = clean[:min(len(clean), room)]; strings.Trim(clean, "-") == "" {
		return "user"
	}
	return clean
}

// EnterOutside begins a session of a user whom a provider vouches for. proved: they showed
// the provider who they are a short while ago. It fails with ErrUserDisabled.
func (u *Users) EnterOutside(ctx context.Context, user loyalty.User, proved bool, from From) (token string, err error) {
	if !user.DisabledAt.IsZero() {
		return "", loyalty.ErrUserDisabled
	}
	return u.begin(ctx, user.ID, proved, from)
}

// ConfirmOutside notes that the user of a session proved to their provider who they are.
// It fails with ErrNoSession, and with ErrSignIn where that was another person.
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

// noteProof notes that the user of a session has just proved who they are.
func (u *Users) noteProof(ctx context.Context, token string) error {
	s, _, ok, err := u.store.Session(ctx, HashToken(token))
	if err != nil || !ok {
		return err
	}
	s.ConfirmedAt = u.now()
	return u.store.SaveSession(ctx, s)
}

// MayLink says whether the user of a session may tie an account outside to themselves: it
// opens the console as a password does, and needs a proof as one does.
func (u *Users) MayLink(c *loyalty.Caller) error {
	if !u.confirmed(c) {
		return loyalty.ErrConfirmNeeded
	}
	return nil
}
