package admin

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// FromOutside returns the user that a sign-in provider vouches for. It creates the user at the first sign-in, and
// updates role, right, name and e-mail address from the provider at later ones. A login that is taken is never taken
// over: the new user gets another one. It fails with ErrLastOwner if the installation would be left without an owner.
func (o *Users) FromOutside(ctx context.Context, who user.Outside) (loyalty.User, error) {
	done, err := change(ctx, o.admin, Call{KeyID: CommandLine}, func(r *adminRun) (loyalty.User, error) {
		u, found, err := r.UserBySubject(who.Issuer, who.Subject)
		if err != nil {
			return u, err
		}
		if !found {
			return r.newOutside(who)
		}
		return r.refresh(u, who)
	}, asItIs)
	return done.Value, err
}

// newOutside creates a user. The suggested login is normalised, and gets a number if it is taken.
func (r *adminRun) newOutside(who user.Outside) (loyalty.User, error) {
	u := loyalty.User{ID: r.next(r.now), Issuer: who.Issuer, Subject: who.Subject, CreatedAt: r.now, UpdatedAt: r.now}
	vouched(&u, who)
	wanted := user.LoginFrom(who.Login)
	for n := 1; ; n++ {
		u.Login = wanted
		if n > 1 {
			u.Login = fmt.Sprintf("%s.%d", wanted, n)
		}

		_, taken, err := r.UserByLogin(u.Login)
		if err != nil {
			return u, err
		}
		if !taken {
			break
		}
		if n == 999 {
			return u, loyalty.ErrLoginTaken.At("login")
		}
	}

	r.call.KeyID = u.KeyID()
	if err := r.SaveUser(u); err != nil {
		return u, err
	}

	return u, r.audit("user.create", u.Login, nil, recordUser(u))
}

// vouched copies the provider's data to a user.
func vouched(u *loyalty.User, who user.Outside) {
	u.Role, u.Personal = who.Role, who.Personal
	if name := plainText(who.Name, maxName); name != "" {
		u.Name = name
	}
	if email := plainText(who.Email, maxEmail); email != "" {
		u.Email = email
	}
}

// refresh updates a user at each sign-in: rights that ended at the provider must not continue here.
func (r *adminRun) refresh(u loyalty.User, who user.Outside) (loyalty.User, error) {
	if !u.DisabledAt.IsZero() {
		return u, nil // a disabled user is not signed in
	}

	before := u
	if vouched(&u, who); recordUser(before) == recordUser(u) {
		return u, nil
	}
	if err := r.keepsAnOwner(before, u); err != nil {
		return before, err
	}

	u.UpdatedAt = r.now
	r.call.KeyID = u.KeyID()
	if signsOut(before, u) {
		u.Browsers = nil
	}
	if err := r.SaveUser(u); err != nil {
		return u, err
	}

	if signsOut(before, u) {
		if err := r.EndSessions(u.ID); err != nil {
			return u, err
		}
	}

	return u, r.audit("user.update", u.Login, recordUser(before), recordUser(u))
}

// LinkOutside links a provider's account to an existing user, who can sign in by either from then on. It fails with
// ErrOutsideTaken if the account is linked to another user.
func (o *Users) LinkOutside(ctx context.Context, id loyalty.ID, who user.Outside) error {
	_, err := change(ctx, o.admin, Call{KeyID: CommandLine}, func(r *adminRun) (loyalty.User, error) {
		u, found, err := r.User(id)
		if err != nil || !found {
			return u, err
		}

		owner, taken, err := r.UserBySubject(who.Issuer, who.Subject)
		switch {
		case err != nil:
			return u, err
		case taken && owner.ID != u.ID:
			return u, loyalty.ErrOutsideTaken
		case taken:
			return u, nil
		}

		before := u
		u.Issuer, u.Subject, u.UpdatedAt = who.Issuer, who.Subject, r.now
		r.call.KeyID = u.KeyID()
		if err := r.SaveUser(u); err != nil {
			return u, err
		}

		return u, r.audit("user.link", u.Login, recordUser(before), recordUser(u))
	}, asItIs)

	return err
}

// plainText returns a provider's text without control characters, cut to a length.
func plainText(text string, most int) string {
	clean := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "")))
	return string(clean[:min(len(clean), most)])
}
