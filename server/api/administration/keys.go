package administration

import (
	"context"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
)

// defaultOverlap is how long a rotated secret stays valid by default.
const defaultOverlap = 24 * time.Hour

// ListKeys lists the access keys, the newest first.
func (a *API) ListKeys(
	ctx context.Context, in administration.ListKeysRequestObject,
) (administration.ListKeysResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	all, err := a.Admin.Keys(api.Plain(ctx))
	if err != nil {
		return nil, err
	}

	l := list.Linked(p, list.Cut(p, all, keyPlace), a.Clock(), keyPlace)
	out := administration.ListKeys200JSONResponse{
		Data: make([]administration.Key, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time,
	}
	for i, k := range l.Entries {
		out.Data[i] = keyOf(k)
	}

	return out, nil
}

// keyPlace is the position of a key in the list.
func keyPlace(k loyalty.AccessKey) list.Cursor { return list.Cursor{At: k.CreatedAt, ID: []byte(k.ID)} }

// GetKey reads an access key.
func (a *API) GetKey(
	ctx context.Context, in administration.GetKeyRequestObject,
) (administration.GetKeyResponseObject, error) {
	k, err := a.Admin.Key(api.Plain(ctx), in.KeyID)
	if err != nil {
		return nil, err
	}
	return administration.GetKey200JSONResponse{Data: keyOf(k)}, nil
}

// CreateKey makes an access key and shows its secret once.
func (a *API) CreateKey(
	ctx context.Context, in administration.CreateKeyRequestObject,
) (administration.CreateKeyResponseObject, error) {
	return api.Change(ctx, http.StatusCreated, newKeyAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.AccessKey], error) {
			return a.Admin.CreateKey(ctx, call, keyChange(*in.Body))
		})
}

// UpdateKey changes what an access key may do.
func (a *API) UpdateKey(
	ctx context.Context, in administration.UpdateKeyRequestObject,
) (administration.UpdateKeyResponseObject, error) {
	return api.Change(ctx, http.StatusOK, keyAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.AccessKey], error) {
			return a.Admin.UpdateKey(ctx, call, in.KeyID, keyChange(*in.Body))
		})
}

// RotateKey gives an access key a new secret, which is shown once.
func (a *API) RotateKey(
	ctx context.Context, in administration.RotateKeyRequestObject,
) (administration.RotateKeyResponseObject, error) {
	overlap := defaultOverlap
	if s := in.Body.OverlapSeconds; s != nil {
		overlap = time.Duration(*s) * time.Second
	}
	return api.Change(ctx, http.StatusOK, newKeyAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.AccessKey], error) {
			return a.Admin.RotateKey(ctx, call, in.KeyID, overlap)
		})
}

// RevokeKey ends an access key.
func (a *API) RevokeKey(
	ctx context.Context, in administration.RevokeKeyRequestObject,
) (administration.RevokeKeyResponseObject, error) {
	return api.Change(ctx, http.StatusOK, keyAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.AccessKey], error) {
			return a.Admin.RevokeKey(ctx, call, in.KeyID)
		})
}

// keyChange is the change that a body asks for; absent properties stay.
func keyChange(in administration.KeyRights) admin.KeyChange {
	c := admin.KeyChange{Label: in.Label, ReadOnly: in.ReadOnly, RateLimit: in.RateLimit, ExpiresAt: in.ExpiresAt}
	if in.Apis != nil {
		names := make([]string, len(in.Apis))
		for i, name := range in.Apis {
			names[i] = string(name)
		}
		c.APIs = &names
	}
	if in.Addresses != nil {
		c.Addresses = &in.Addresses
	}
	return c
}

func keyAnswer(k loyalty.AccessKey) any { return administration.KeyAnswer{Data: keyOf(k)} }

// newKeyAnswer shows the secret if the change has just made it.
func newKeyAnswer(k loyalty.AccessKey) any {
	data := newKey{Key: keyOf(k)}
	if len(k.Secrets) > 0 {
		data.Secret = k.Secrets[0].Value
	}
	return struct {
		Data newKey `json:"data"`
	}{data}
}

// newKey is a key with its secret; the generated type repeats every property.
type newKey struct {
	administration.Key
	Secret string `json:"secret,omitempty"`
}

func keyOf(k loyalty.AccessKey) administration.Key {
	out := administration.Key{
		KeyID: k.ID, Label: k.Label, ReadOnly: k.ReadOnly, RateLimit: k.RateLimit,
		Addresses: append([]string{}, k.Addresses...),
		Apis:      []administration.APIName{}, Secrets: []administration.KeySecret{},
		CreatedAt: common.Instant(k.CreatedAt), ExpiresAt: api.InstantOrNil(k.ExpiresAt),
		LastUsedAt: api.InstantOrNil(k.LastUsedAt), RevokedAt: api.InstantOrNil(k.RevokedAt),
	}

	if k.RateLimit == 0 {
		out.RateLimit = ratelimit.DefaultPerMinute
	}

	for _, name := range k.APIs {
		out.Apis = append(out.Apis, administration.APIName(name))
	}

	for _, s := range k.Secrets { // the newest first
		out.Secrets = append(out.Secrets, administration.KeySecret{
			CreatedAt: common.Instant(s.CreatedAt), ExpiresAt: api.InstantOrNil(s.ExpiresAt),
		})
	}

	return out
}
