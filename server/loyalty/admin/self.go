package admin

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// proofRecord shows in the audit trail whether a user has a password or second factor, and never its value.
type proofRecord struct {
	Password     *bool `json:"password,omitempty"`
	SecondFactor *bool `json:"second_factor,omitempty"`
}

// SetPassword stores the password that a user chose, as user.NewPassword made it. Browsers that signed in before are no
// longer known. Ending sessions that began with the previous one is up to the caller.
func (o *Users) SetPassword(ctx context.Context, id loyalty.ID, hash string) error {
	return o.ofSelf(ctx, id, func(r *adminRun, u *loyalty.User) error {
		had, has := u.Password != "", true
		u.Password, u.Browsers = hash, nil
		return r.audit("user.set_password", u.Login, proofRecord{Password: &had}, proofRecord{Password: &has})
	})
}

// SetSecondFactor gives a user a second factor, which replaces the previous one. Ending sessions
// that began without it is up to the caller.
func (o *Users) SetSecondFactor(ctx context.Context, id loyalty.ID, f user.SecondFactor) error {
	return o.ofSelf(ctx, id, func(r *adminRun, u *loyalty.User) error {
		had, has := len(u.TOTP) > 0, true
		u.TOTP, u.TOTPStep, u.Recovery, u.Browsers = f.Secret, f.Step, f.Recovery, nil
		return r.audit("user.set_second_factor", u.Login, proofRecord{SecondFactor: &had}, proofRecord{SecondFactor: &has})
	})
}

// ofSelf changes a user in their own name.
func (o *Users) ofSelf(ctx context.Context, id loyalty.ID, edit func(*adminRun, *loyalty.User) error) error {
	_, err := change(ctx, o.admin, Call{KeyID: CommandLine}, func(r *adminRun) (loyalty.User, error) {
		u, found, err := r.User(id)
		if err == nil && !found {
			err = loyalty.ErrUserNotFound
		}
		if err != nil {
			return u, err
		}
		r.call.KeyID, u.UpdatedAt = u.KeyID(), r.now
		if err := edit(r, &u); err != nil {
			return u, err
		}
		return u, r.SaveUser(u)
	}, asItIs)

	return err
}
