package admin

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// maxPasskeyName is how long the name of a passkey may be, in characters.
const maxPasskeyName = 64

// passkeyRecord is a passkey as the audit trail shows it.
type passkeyRecord struct {
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
}

// AddPasskey gives a user a passkey that their device has created. It fails with ErrPasskeyMany, or with an error of
// kind Invalid that names the field.
func (o *Users) AddPasskey(ctx context.Context, id loyalty.ID, k loyalty.Passkey) error {
	k.Name = user.PasskeyName(k.Name)
	switch {
	case k.Name == "":
		return programme.Fault("name", loyalty.ErrPropertyEmpty.Name, nil)
	case utf8.RuneCountInString(k.Name) > maxPasskeyName:
		return programme.Fault("name", "too_long", map[string]any{"limit": maxPasskeyName})
	case !utf8.ValidString(k.Name) || strings.ContainsFunc(k.Name, unicode.IsControl):
		return programme.Fault("name", "control_characters", nil)
	}

	return o.ofSelf(ctx, id, func(r *adminRun, u *loyalty.User) error {
		switch {
		case len(u.Passkeys) >= user.MostPasskeys:
			return loyalty.ErrPasskeyMany.With("limit", user.MostPasskeys)
		case user.IndexPasskey(u.Passkeys, k.ID) >= 0:
			return loyalty.ErrPasskeyWrong
		}
		u.Passkeys = append(slices.Clone(u.Passkeys), k)
		return r.audit("user.add_passkey", u.Login, nil, passkeyRecord{k.Name, k.CreatedAt})
	})
}

// RemovePasskey removes a passkey from a user. Sessions that began with it may be a thief's; ending them is up to the
// caller. It fails with ErrPasskeyUnknown.
func (o *Users) RemovePasskey(ctx context.Context, id loyalty.ID, passkey []byte) error {
	return o.ofSelf(ctx, id, func(r *adminRun, u *loyalty.User) error {
		i := user.IndexPasskey(u.Passkeys, passkey)
		if i < 0 {
			return loyalty.ErrPasskeyUnknown
		}
		was := u.Passkeys[i]
		u.Passkeys, u.Browsers = slices.Delete(slices.Clone(u.Passkeys), i, i+1), nil
		return r.audit("user.remove_passkey", u.Login, passkeyRecord{was.Name, was.CreatedAt}, nil)
	})
}
