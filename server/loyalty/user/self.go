package user

import (
	"context"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// confirmed reports whether a user proved their identity a short while ago.
func (u *Users) confirmed(c *loyalty.Caller) bool { return Confirmed(c, u.now().UnixMilli()) }

// Confirmed reports whether a user has proved their identity within the last ten minutes before an instant in Unix
// milliseconds.
func Confirmed(c *loyalty.Caller, now int64) bool {
	return !c.ConfirmedAt.IsZero() && now-c.ConfirmedAt.UnixMilli() < ConfirmLife.Milliseconds()
}

// NewPassword makes the stored form of a password that a user chose. It fails with ErrConfirmNeeded,
// ErrPasswordOutside, or if the password is too short or too long.
func (u *Users) NewPassword(ctx context.Context, c *loyalty.Caller, password string) (hash string, err error) {
	switch {
	case c.Issuer != "" && c.Password == "":
		return "", loyalty.ErrPasswordOutside // otherwise it would outlast the company's account
	case !u.confirmed(c) && (c.Password != "" || len(c.Passkeys) > 0):
		return "", loyalty.ErrConfirmNeeded
	}
	if err := checkPassword(password); err != nil {
		return "", err
	}
	return u.hasher.hash(ctx, password)
}

// Enrolment is a second factor that is being set up.
type Enrolment struct {
	Secret string `json:"secret"`
	URI    string `json:"uri"` // for an authenticator app
}

// NewSecondFactor makes a secret to show. It takes effect once ProvedSecondFactor has seen a code
// of it.
func (u *Users) NewSecondFactor(c *loyalty.Caller) (Enrolment, error) {
	if !u.confirmed(c) {
		return Enrolment{}, loyalty.ErrConfirmNeeded
	}
	secret := newSecret()
	return Enrolment{secretText.EncodeToString(secret), enrolment(secret, c.Login)}, nil
}

// SecondFactor is the stored form of a second factor.
type SecondFactor struct {
	Secret   []byte
	Step     int64    // the step of the code that was shown, which is used up
	Recovery []string // hashes of the recovery codes
}

// ProvedSecondFactor accepts a secret for which the user's app shows a right code. It returns what must be stored, and
// the recovery codes, which are shown once. It fails with ErrConfirmNeeded or ErrCodeWrong.
func (u *Users) ProvedSecondFactor(
	c *loyalty.Caller, secret, code string,
) (f SecondFactor, recovery []string, err error) {
	if !u.confirmed(c) {
		return f, nil, loyalty.ErrConfirmNeeded
	}
	raw, err := secretText.DecodeString(strings.ToUpper(strings.ReplaceAll(secret, " ", "")))
	if err != nil || len(raw) < secretSize {
		return f, nil, loyalty.ErrCodeWrong.At("secret")
	}
	at, ok := stepOf(raw, code, u.now(), 0)
	if !ok {
		return f, nil, loyalty.ErrCodeWrong.At("code")
	}
	recovery, hashes := newRecovery()
	return SecondFactor{raw, at, hashes}, recovery, nil
}
