package user

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/netip"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Limits of guessing. Wrong passwords from a network slow down that network first, then all networks together, and
// never a browser by which the user has signed in.
const (
	freeTries   = 5               // of one network before it has to wait
	longestWait = 5 * time.Minute // of one network
	fadeEvery   = 10 * time.Minute

	// All networks together may fail allTries times; one failure is forgotten each allFade. A single network cannot
	// fail as often, so it takes several to make the others wait.
	allTries = 100
	allFade  = 5 * time.Minute

	browserTries = 10 // of a known browser before it counts as any other
	mostNetworks = 50
	mostBrowsers = 20

	// BrowserLife is how long a browser is known after a sign-in.
	BrowserLife = 90 * 24 * time.Hour
)

// origin is the keys by which the failures of a sign-in are counted.
type origin struct {
	session bool   // the user confirms their identity in their own session
	browser []byte // hash of the cookie of a browser that may have signed in before
	network string
}

// origin returns the keys by which the failures of a sign-in are counted.
func (f From) origin() origin {
	o := origin{network: networkOf(f.Address)}
	if f.Browser != "" {
		hash := HashToken(f.Browser)
		o.browser = hash[:]
	}
	return o
}

// networkOf returns the network of an address: a /24 of IPv4, a /64 of IPv6.
func networkOf(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "unknown"
	}
	a, bits := a.Unmap(), 24
	if a.Is6() {
		bits = 64
	}
	p, _ := a.WithZone("").Prefix(bits) // both lengths fit their kind
	return p.String()
}

// waits reports whether a sign-in has to wait.
func (o origin) waits(user *loyalty.User, now time.Time) bool {
	switch {
	case o.session:
		return now.Before(user.LockedUntil)
	case o.known(user, now) != nil:
		return false
	}
	all, here := triesOf(user, ""), triesOf(user, o.network)
	return all != nil && faded(all.Failures, all.At, now, allFade) >= allTries || here != nil && now.Before(here.Until)
}

// known returns the browser of a sign-in if it has signed this user in before and may still skip the wait; otherwise
// nil.
func (o origin) known(user *loyalty.User, now time.Time) *loyalty.Browser {
	for i := range user.Browsers {
		b := &user.Browsers[i]
		if len(o.browser) > 0 && bytes.Equal(b.Hash, o.browser) {
			if !now.Before(b.ExpiresAt) || faded(b.Failures, b.At, now, fadeEvery) >= browserTries {
				return nil
			}
			return b
		}
	}
	return nil
}

// failed counts a failure. The slices are copied first, because the user may be shared.
func (o origin) failed(user *loyalty.User, now time.Time) {
	if o.session {
		user.Failures++
		user.LockedUntil = now.Add(pause(user.Failures))
		return
	}

	user.Browsers, user.Tries = slices.Clone(user.Browsers), slices.Clone(user.Tries)
	if b := o.known(user, now); b != nil {
		count(&b.Failures, &b.At, now, fadeEvery)
		return
	}

	all := addTries(user, "")
	count(&all.Failures, &all.At, now, allFade)
	all.Failures = min(all.Failures, allTries)
	here := addTries(user, o.network)
	count(&here.Failures, &here.At, now, fadeEvery)
	here.Until = now.Add(pause(here.Failures))
	forgetNetworks(user)
}

// passed clears the failures of the origin that has signed in. Those of a network stay when a known browser signs in
// there: they may be a stranger's.
func (o origin) passed(user *loyalty.User, now time.Time) {
	switch {
	case o.session:
		user.Failures, user.LockedUntil = 0, time.Time{}
		return
	case o.known(user, now) != nil:
		return // its count ends with its token, which the sign-in replaces
	}
	user.Tries = slices.DeleteFunc(slices.Clone(user.Tries), func(t loyalty.Tries) bool { return t.Network == o.network })
}

// pause is how long the next sign-in waits after several failures: a second, then twice as long each time, at most five
// minutes. No user is locked out for ever.
func pause(failures int) time.Duration {
	n := failures - freeTries - 1
	switch {
	case n < 0:
		return 0
	case n < 9:
		return min(longestWait, time.Second<<n)
	}
	return longestWait
}

// faded is what is left of a count after a time.
func faded(failures int, at, now time.Time, every time.Duration) int {
	return max(0, failures-int(max(0, now.Sub(at))/every))
}

// count adds one failure to a count that fades.
func count(failures *int, at *time.Time, now time.Time, every time.Duration) {
	left := faded(*failures, *at, now, every)
	if left == 0 {
		*at = now
	} else {
		*at = at.Add(time.Duration(*failures-left) * every)
	}
	*failures = left + 1
}

func triesOf(user *loyalty.User, network string) *loyalty.Tries {
	for i := range user.Tries {
		if user.Tries[i].Network == network {
			return &user.Tries[i]
		}
	}
	return nil
}

func addTries(user *loyalty.User, network string) *loyalty.Tries {
	if known := triesOf(user, network); known != nil {
		return known
	}
	user.Tries = append(user.Tries, loyalty.Tries{Network: network})
	return &user.Tries[len(user.Tries)-1]
}

// forgetNetworks bounds the networks that are kept for a user: beyond the bound, the network that was counted longest
// ago is dropped. The count of all networks together stays.
func forgetNetworks(user *loyalty.User) {
	for len(user.Tries) > mostNetworks {
		oldest := -1
		for i, t := range user.Tries {
			if t.Network != "" && (oldest < 0 || t.At.Before(user.Tries[oldest].At)) {
				oldest = i
			}
		}
		user.Tries = slices.Delete(user.Tries, oldest, oldest+1)
	}
}

// remember makes a token for the browser that has just signed a user in. It replaces the one that
// the browser sent.
func (u *Users) remember(ctx context.Context, id loyalty.ID, sent string) (string, error) {
	token, _ := NewToken()
	token = base64.RawURLEncoding.EncodeToString(id[:]) + "." + token
	hash, old, now := HashToken(token), HashToken(sent), u.now()

	known, err := u.store.ChangeUser(ctx, id, func(user *loyalty.User) error {
		user.Browsers = slices.DeleteFunc(slices.Clone(user.Browsers), func(b loyalty.Browser) bool {
			return bytes.Equal(b.Hash, old[:]) || !now.Before(b.ExpiresAt)
		})
		user.Browsers = append(user.Browsers, loyalty.Browser{Hash: hash[:], ExpiresAt: now.Add(BrowserLife)})
		if over := len(user.Browsers) - mostBrowsers; over > 0 {
			user.Browsers = slices.Delete(user.Browsers, 0, over)
		}
		return nil
	})

	if !known {
		token = ""
	}

	return token, err
}

// Remember makes a token for the browser of a session whose user has just changed their means of signing in, which
// ended the tokens of all browsers.
func (u *Users) Remember(ctx context.Context, c *loyalty.Caller) (string, error) {
	return u.remember(ctx, c.ID, "")
}

// KnownBrowser reports whether a token belongs to a browser that has signed in any user.
func (u *Users) KnownBrowser(ctx context.Context, token string) (bool, error) {
	owner, ok := ownerOf(token)
	if !ok {
		return false, nil
	}
	user, ok, err := u.store.User(ctx, owner)
	if err != nil || !ok || !user.DisabledAt.IsZero() {
		return false, err
	}
	return From{Browser: token}.origin().known(&user, u.now()) != nil, nil
}

// ownerOf reads the user's id with which a browser's token begins.
func ownerOf(token string) (id loyalty.ID, ok bool) {
	front, _, found := bytes.Cut([]byte(token), []byte{'.'})
	raw, err := base64.RawURLEncoding.DecodeString(string(front))
	if !found || err != nil || len(raw) != len(id) {
		return id, false
	}
	return loyalty.ID(raw), true
}
