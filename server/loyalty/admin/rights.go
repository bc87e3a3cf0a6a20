package admin

import (
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// mayGive refuses to give a key more rights than the asking key has, because otherwise the asking key could escape its
// own limits through the other one. before is the previous state of the key, nil for a new one: rights that it had may
// stay, and taking rights away is never refused. Rights only have an effect together: a key that may write no rewards
// must not make a key able to write that could only read them. So if a key gets more of one right, its other rights
// must be within those of the asking key, too.
func (r *adminRun) mayGive(before, after *loyalty.AccessKey) error {
	giver, limited := r.giver()
	if !limited {
		return nil
	}

	var more []right
	for _, right := range rights {
		if before == nil || !right.within(after, before) {
			more = append(more, right)
		}
	}

	if len(more) == 0 {
		return nil
	}

	for _, right := range rights {
		asked := slices.ContainsFunc(more, right.same)
		if right.within(after, giver) || asked && len(more) == 1 && before != nil && right.together(after, giver, before) {
			continue
		}
		property := more[0].property
		if asked {
			property = right.property
		}
		return loyalty.ErrRightsExceeded.With("property", property).At(property)
	}

	return nil
}

// giver returns the asking key; false for the command line, and for a user whose role may give any right.
func (r *adminRun) giver() (*loyalty.AccessKey, bool) {
	if _, kind := loyalty.ActorOf(r.call.KeyID); kind != loyalty.ActorKey {
		return nil, false
	}
	k, err := findKey(r.Snapshot, r.call.KeyID)
	if err != nil || !k.RevokedAt.IsZero() {
		// The asking key was revoked meanwhile and has no rights any more.
		return &loyalty.AccessKey{ReadOnly: true, APIs: []string{""}, Addresses: []string{""}, RateLimit: 1,
			ExpiresAt: time.UnixMilli(1)}, true
	}
	return &k, true
}

// right is one dimension of what a key may do.
type right struct {
	property string
	// within reports whether a key has no more of the right than another one.
	within func(k, other *loyalty.AccessKey) bool
	// union reports whether it has no more than two others together; nil if that makes no difference.
	union func(k, one, other *loyalty.AccessKey) bool
}

func (r right) same(other right) bool { return r.property == other.property }

func (r right) together(k, one, other *loyalty.AccessKey) bool {
	return r.union != nil && r.union(k, one, other)
}

var rights = []right{
	{"apis", apisWithin, func(k, one, other *loyalty.AccessKey) bool {
		return apisWithin(k, &loyalty.AccessKey{APIs: append(slices.Clone(one.APIs), other.APIs...)})
	}},
	{"read_only", func(k, other *loyalty.AccessKey) bool { return k.ReadOnly || !other.ReadOnly }, nil},
	{"addresses", addressesWithin, func(k, one, other *loyalty.AccessKey) bool {
		return addressesWithin(k, &loyalty.AccessKey{Addresses: append(slices.Clone(one.Addresses), other.Addresses...)})
	}},
	{"rate_limit", func(k, other *loyalty.AccessKey) bool { return limitOf(k) <= limitOf(other) }, nil},
	{"expires_at", func(k, other *loyalty.AccessKey) bool {
		return other.ExpiresAt.IsZero() || !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(other.ExpiresAt)
	}, nil},
}

func apisWithin(k, other *loyalty.AccessKey) bool {
	if len(other.APIs) == 0 {
		return true
	}
	return len(k.APIs) > 0 &&
		!slices.ContainsFunc(k.APIs, func(name string) bool { return !slices.Contains(other.APIs, name) })
}

// addressesWithin compares networks one by one: a network that only several of the others cover
// together counts as more.
func addressesWithin(k, other *loyalty.AccessKey) bool {
	if len(other.Addresses) == 0 {
		return true
	}
	covered := func(text string) bool {
		p, ok := readPrefix(text)
		return ok && slices.ContainsFunc(other.Addresses, func(wide string) bool {
			w, ok := readPrefix(wide)
			return ok && w.Bits() <= p.Bits() && w.Contains(p.Addr())
		})
	}
	return len(k.Addresses) > 0 && !slices.ContainsFunc(k.Addresses, func(text string) bool { return !covered(text) })
}

// defaultRateLimit is the limit of a key without its own, in requests a minute, the same as in
// package limit.
const defaultRateLimit = 1000

func limitOf(k *loyalty.AccessKey) int {
	if k.RateLimit == 0 {
		return defaultRateLimit
	}
	return k.RateLimit
}
