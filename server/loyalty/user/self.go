package user

import (
	"context"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Confirmed says whether a user proved who they are a short while ago.
func (u *Users) confirmed(c *loyalty.Caller) bool { return Confirmed(c, u.now().UnixMilli()) }

// Confirmed says whether a user has proved who they are within the last ten minutes, at
// an instant in Unix milliseconds.
func Confirmed(c *loyalty.Caller, now int64) bool {
	return !c.ConfirmedAt.IsZero() && now-c.ConfirmedAt.UnixMilli() < ConfirmLife.Milliseconds()
}

// SetPassword gives a user the password they chose. It fails with ErrConfirmNeeded, or
// where the password is too short.
// Their other sessions end: whoever knew the old one is out.
func (u *Users) SetPassword(ctx context.Context, c *loyalty.Caller, token, password string) error {
	switch {
	case c.Issuer != "" && c.Password == "":
		return loyalty.ErrPasswordOutside // else it would outlast the account of the company
	case !u.confirmed(c) && (c.Password != "" || len(c.Passkeys) > 0):
		return loyalty.ErrConfirmNeeded
	}
	if err := checkPassword(password); err != nil {
		return err
	}
	hash, err := u.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = u.store.ChangeUser(ctx, c.ID, func(user *loyalty.User) error {
		user.Password, user.UpdatedAt = hash, u.now()
		return nil
	})
	if err != nil {
		return err
	}
	return u.store.EndOtherSessions(ctx, c.ID, HashToken(token))
}

// Enrolment is a second factor that is being set up.
type Enrolment struct {
	Secret string `json:"secret"`
	URI    string `json:"uri"` // for an authenticator app
}

// NewSecondFactor makes a secret to show; it holds once SetSecondFactor has seen a code of it.
func (u *Users) NewSecondFactor(c *loyalty.Caller) (Enrolment, error) {
	if !u.confirmed(c) {
		return Enrolment{}, loyalty.ErrConfirmNeeded
	}
	secret := newSecret()
	return Enrolment{secretText.EncodeToString(secret), enrolment(secret, c.Login)}, nil
}

// SetSecondFactor takes a secret into use that the user's app has a right code of, and
// gives the recovery codes, this once.
// Sessions that began without it end.
func (u *Users) SetSecondFactor(ctx context.Context, c *loyalty.Caller, token, secret, code string) ([]string, error) {
	if !u.confirmed(c) {
		return nil, loyalty.ErrConfirmNeeded
	}
	raw, err := secretText.DecodeString(strings.ToUpper(strings.ReplaceAll(secret, " ", "")))
	if err != nil || len(raw) < secretSize {
		return nil, loyalty.ErrCodeWrong.At("secret")
	}
	at, ok := stepOf(raw, code, u.now(), 0)
	if !ok {
		return nil, loyalty.ErrCodeWrong.At("code")
	}
	codes, hashes := newRecovery()
	_, err = u.store.ChangeUser(ctx, c.ID, func(user *loyalty.User) error {
		user.TOTP, user.TOTPStep, user.Recovery, user.UpdatedAt = raw, at, hashes, u.now()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return codes, u.store.EndOtherSessions(ctx, c.ID, HashToken(token))
}
