package admin

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Bounds of an access key.
const (
	maxLabel     = 255
	maxAddresses = 100
	maxRateLimit = 1_000_000 // requests a minute
	maxOverlap   = 30 * 24 * time.Hour
)

// KeyChange is a change of an access key, or a new key. Nil fields stay unchanged, or have their
// default.
type KeyChange struct {
	Label     *string
	APIs      *[]string // document names; empty: all
	ReadOnly  *bool
	Addresses *[]string // addresses or CIDR; empty: any
	RateLimit *int      // requests a minute; 0: the default
	ExpiresAt *string   // a day of the programme, included, or an instant; empty: never
}

// keyRecord is an access key as the audit trail shows it, without secrets.
type keyRecord struct {
	Label     string     `json:"label"`
	APIs      []string   `json:"apis"`
	ReadOnly  bool       `json:"read_only"`
	Addresses []string   `json:"addresses"`
	RateLimit int        `json:"rate_limit"` // the one in force, even if it is the default
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
	// OldSecretsUntil is when the secrets before the newest end, while a
	// rotation overlaps.
	OldSecretsUntil *time.Time `json:"old_secrets_until,omitempty"`
}

func recordKey(k loyalty.AccessKey) keyRecord {
	r := keyRecord{
		Label: k.Label, APIs: k.APIs, ReadOnly: k.ReadOnly, Addresses: k.Addresses, RateLimit: limitOf(&k),
		ExpiresAt: instantOrNil(k.ExpiresAt), RevokedAt: instantOrNil(k.RevokedAt),
	}
	if len(k.Secrets) > 1 {
		r.OldSecretsUntil = instantOrNil(k.Secrets[1].ExpiresAt)
	}
	return r
}

// instantOrNil returns nil for the zero time, so that a record leaves it out.
func instantOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Keys lists every access key, newest first, including revoked ones. It lists the secrets in force
// without their values.
func (a *Admin) Keys(ctx context.Context) ([]loyalty.AccessKey, error) {
	s, err := a.store.Snapshot(ctx, nil)
	if err != nil {
		return nil, err
	}

	for i, k := range s.Keys {
		s.Keys[i] = withoutValues(k, a.now())
	}

	slices.SortFunc(s.Keys, func(x, y loyalty.AccessKey) int {
		if c := y.CreatedAt.Compare(x.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(y.ID, x.ID)
	})

	return s.Keys, nil
}

// Key returns one access key as Keys does. It fails with ErrKeyNotFound.
func (a *Admin) Key(ctx context.Context, id string) (loyalty.AccessKey, error) {
	s, err := a.store.Snapshot(ctx, nil)
	if err != nil {
		return loyalty.AccessKey{}, err
	}
	k, err := findKey(s, id)
	return withoutValues(k, a.now()), err
}

// CreateKey makes an access key. The value of its secret, in Secrets[0], is never shown again. It
// fails with an error of kind Invalid that names the field, and with ErrRightsExceeded if the new
// key would have more rights than the key that asks.
func (a *Admin) CreateKey(ctx context.Context, call Call, c KeyChange) (Done[loyalty.AccessKey], error) {
	return change(ctx, a, call, func(r *adminRun) (loyalty.AccessKey, error) { return a.newKey(r, c) }, a.storable)
}

// newKey makes and stores a key. Rights are compared once all fields are known, because leaving a
// list out grants more than any list does.
func (a *Admin) newKey(r *adminRun, c KeyChange) (loyalty.AccessKey, error) {
	k := loyalty.AccessKey{ID: newKeyID(r.Snapshot.Keys), CreatedAt: r.now, Secrets: []loyalty.Secret{newSecret(r.now)}}
	if err := a.apply(r, c, &k); err != nil {
		return k, err
	}
	if err := r.mayGive(nil, &k); err != nil {
		return k, err
	}
	if err := r.SaveKey(k); err != nil {
		return k, err
	}
	return k, r.audit("key.create", k.ID, nil, recordKey(k))
}

// CreateFirstKey is CreateKey unless there is a key already; then made is false, and nothing was done. If several
// callers ask at once, one of them makes it.
func (a *Admin) CreateFirstKey(
	ctx context.Context, call Call, c KeyChange,
) (k loyalty.AccessKey, made bool, err error) {
	done, err := change(ctx, a, call, func(r *adminRun) (loyalty.AccessKey, error) {
		if made = len(r.Snapshot.Keys) == 0; !made {
			return loyalty.AccessKey{}, nil
		}
		return a.newKey(r, c)
	}, a.storable)
	return done.Value, made && err == nil, err
}

// UpdateKey changes what an access key may do. It fails with ErrKeyNotFound, ErrKeyRevoked,
// ErrRightsExceeded if it would get more rights than the key that asks, or an error of kind Invalid
// that names the field.
func (a *Admin) UpdateKey(ctx context.Context, call Call, id string, c KeyChange) (Done[loyalty.AccessKey], error) {
	return change(ctx, a, call, func(r *adminRun) (loyalty.AccessKey, error) {
		k, err := r.editKey(id, "key.update", func(k *loyalty.AccessKey) error {
			before := *k
			if err := a.apply(r, c, k); err != nil {
				return err
			}
			return r.mayGive(&before, k)
		})
		return withoutValues(k, r.now), err
	}, a.storable)
}

// RotateKey gives an access key a new secret, whose value, in Secrets[0], is never shown again. The
// previous one stays valid for the overlap, at most 30 days; older ones end at once. It fails as
// UpdateKey does.
func (a *Admin) RotateKey(
	ctx context.Context, call Call, id string, overlap time.Duration,
) (Done[loyalty.AccessKey], error) {
	switch {
	case overlap < 0:
		return Done[loyalty.AccessKey]{}, programme.Fault("overlap_seconds", "too_small", map[string]any{"limit": 0})
	case overlap > maxOverlap:
		return Done[loyalty.AccessKey]{},
			programme.Fault("overlap_seconds", "too_large", map[string]any{"limit": int(maxOverlap / time.Second)})
	}

	return change(ctx, a, call, func(r *adminRun) (loyalty.AccessKey, error) {
		fresh := newSecret(r.now)
		k, err := r.editKey(id, "key.rotate", func(k *loyalty.AccessKey) error {
			if err := r.mayGive(nil, k); err != nil { // its secret gives all its rights to the caller
				return err
			}
			k.Secrets = append([]loyalty.Secret{fresh}, ending(k.Secrets, r.now, overlap)...)
			return nil
		})
		if err != nil {
			return k, err
		}

		k = withoutValues(k, r.now)
		k.Secrets[0].Value = fresh.Value
		return k, nil
	}, a.storable)
}

// ending returns the newest secret in force, valid until the end of the overlap.
func ending(secrets []loyalty.Secret, now time.Time, overlap time.Duration) []loyalty.Secret {
	old := secretsInForce(secrets, now)
	if overlap == 0 || len(old) == 0 {
		return nil
	}
	if end := now.Add(overlap); inForce(old[0].ExpiresAt, end) {
		old[0].ExpiresAt = end
	}
	return old[:1]
}

// RevokeKey ends an access key for good and deletes its secrets. Revoking it again changes nothing.
// It fails with ErrKeyNotFound.
func (a *Admin) RevokeKey(ctx context.Context, call Call, id string) (Done[loyalty.AccessKey], error) {
	return change(ctx, a, call, func(r *adminRun) (loyalty.AccessKey, error) {
		if k, err := findKey(r.Snapshot, id); err != nil || !k.RevokedAt.IsZero() {
			return k, err
		}
		return r.editKey(id, "key.revoke", func(k *loyalty.AccessKey) error {
			k.RevokedAt, k.Secrets = r.now, nil
			return nil
		})
	}, a.storable)
}

// editKey is the common part of all changes of an existing key.
func (r *adminRun) editKey(id, action string, edit func(*loyalty.AccessKey) error) (loyalty.AccessKey, error) {
	before, err := findKey(r.Snapshot, id)
	if err != nil {
		return before, err
	}
	if !before.RevokedAt.IsZero() {
		return before, loyalty.ErrKeyRevoked.With("key", id)
	}

	k := before
	if err := edit(&k); err != nil {
		return k, err
	}

	was, is := recordKey(before), recordKey(k)
	// the rate limit is compared as stored too: 0 and an equal explicit limit differ once the default changes
	if unchanged(was, is) && before.RateLimit == k.RateLimit && slices.Equal(before.Secrets, k.Secrets) {
		return k, nil
	}
	if err := r.SaveKey(k); err != nil {
		return k, err
	}

	return k, r.audit(action, k.ID, was, is)
}

// storable is the part of a key that a stored answer may show.
func (a *Admin) storable(k loyalty.AccessKey) any { return withoutValues(k, a.now()) }

// withoutValues returns a key with the secrets in force, their values removed.
func withoutValues(k loyalty.AccessKey, now time.Time) loyalty.AccessKey {
	k.Secrets = secretsInForce(k.Secrets, now)
	for i := range k.Secrets {
		k.Secrets[i].Value = ""
	}
	return k
}

func findKey(s loyalty.Snapshot, id string) (loyalty.AccessKey, error) {
	for _, k := range s.Keys {
		if k.ID == id {
			return k, nil
		}
	}
	return loyalty.AccessKey{}, loyalty.ErrKeyNotFound.With("key", id)
}

// apply checks a change and makes it, or fails with the field at fault.
func (a *Admin) apply(r *adminRun, c KeyChange, k *loyalty.AccessKey) error {
	if c.Label != nil {
		if err := checkLabel(*c.Label); err != nil {
			return err
		}
		k.Label = *c.Label
	}

	if c.ReadOnly != nil {
		k.ReadOnly = *c.ReadOnly
	}

	if c.RateLimit != nil {
		if err := checkRateLimit(*c.RateLimit); err != nil {
			return err
		}
		k.RateLimit = *c.RateLimit
	}

	if c.ExpiresAt != nil {
		var err error
		if k.ExpiresAt, err = r.keyEnd(*c.ExpiresAt); err != nil {
			return err
		}
	}

	return a.applyLists(c, k)
}

// keyEnd reads when a key ends, which must be in the future.
func (r *adminRun) keyEnd(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}

	fault := func(reason string) error {
		return programme.Fault("expires_at", loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": reason})
	}
	zone, err := programme.CheckSettings(programme.SettingsOrDefaults(r.Snapshot.Settings))
	if err != nil {
		return time.Time{}, err
	}

	at, err := calendar.ReadEnd(text, zone)
	switch {
	case err != nil:
		return at, fault("instant")
	case !at.After(r.now):
		return at, fault("past")
	}

	return at, nil
}

// applyLists reads the fields that are lists, each sorted and without duplicates, so that equal
// rights look equal.
func (a *Admin) applyLists(c KeyChange, k *loyalty.AccessKey) (err error) {
	if c.APIs != nil {
		if k.APIs, err = a.readAPIs(*c.APIs); err != nil {
			return err
		}
	}
	if c.Addresses != nil {
		k.Addresses, err = readAddresses(*c.Addresses)
	}
	return err
}

// checkLabel limits labels to a length that a list can show.
func checkLabel(label string) error {
	if utf8.RuneCountInString(label) > maxLabel {
		return programme.Fault("label", "too_long", map[string]any{"limit": maxLabel})
	}
	if !utf8.ValidString(label) || strings.ContainsFunc(label, unicode.IsControl) {
		return programme.Fault("label", "control_characters", nil)
	}
	return nil
}

// checkRateLimit accepts 0, which means the default, and limits other values.
func checkRateLimit(n int) error {
	switch {
	case n < 0:
		return programme.Fault("rate_limit", "too_small", map[string]any{"limit": 0})
	case n > maxRateLimit:
		return programme.Fault("rate_limit", "too_large", map[string]any{"limit": maxRateLimit})
	}
	return nil
}

func (a *Admin) readAPIs(names []string) ([]string, error) {
	var list []string
	for i, name := range names {
		if !slices.Contains(a.apis, name) {
			return nil, programme.Fault(fmt.Sprintf("apis[%d]", i),
				"must_be_one_of", map[string]any{"values": strings.Join(a.apis, ", ")})
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// readAddresses returns every entry as CIDR without host bits.
func readAddresses(texts []string) ([]string, error) {
	if len(texts) > maxAddresses {
		return nil, programme.Fault("addresses", "too_many", map[string]any{"limit": maxAddresses})
	}
	var list []string
	for i, text := range texts {
		prefix, ok := readPrefix(text)
		if !ok {
			return nil, programme.Fault(fmt.Sprintf("addresses[%d]", i), "bad_format", map[string]any{"format": "IP, CIDR"})
		}
		list = append(list, prefix.String())
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// readPrefix parses an address or a network. An IPv4 address written as IPv6 counts as IPv4, as
// callers' addresses do.
func readPrefix(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Addr().Is4In6() {
		return netip.Prefix{}, false
	}
	return prefix.Masked(), true
}

// keyLetters leaves out what is easily misread: 0, 1, I, O.
const keyLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

// newKeyID makes an id that no key has: LK and 14 letters and digits (70 bits).
func newKeyID(taken []loyalty.AccessKey) string {
	for {
		random := make([]byte, 14)
		_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
		for i, b := range random {
			random[i] = keyLetters[b%32]
		}
		id := "LK" + string(random)
		if !slices.ContainsFunc(taken, func(k loyalty.AccessKey) bool { return k.ID == id }) {
			return id
		}
	}
}

// newSecret makes a secret of 256 random bits, in base64url.
func newSecret(now time.Time) loyalty.Secret {
	random := make([]byte, 32)
	_, _ = rand.Read(random)
	return loyalty.Secret{Value: base64.RawURLEncoding.EncodeToString(random), CreatedAt: now}
}
