package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// openStates lists, in SQL, the states in which a coupon can expire.
var openStates = func() string {
	var list []string
	for _, s := range loyalty.CouponStates {
		if s.Expires() {
			list = append(list, "'"+string(s)+"'")
		}
	}
	return strings.Join(list, ", ")
}()

// stateNow is the state of a coupon at the instant of its statement (seenAt), as Coupon.StateAt computes it.
var stateNow = fmt.Sprintf("CASE WHEN expires_at <= (SELECT seen_at FROM instant) AND state IN (%s) THEN '%s' ELSE state END",
	openStates, loyalty.CouponExpired)

// seenAt gives a statement its instant as a parameter, so that its text is always the same.
func (w sqlFragment) seenAt(at time.Time) sqlFragment {
	return sqlFragment{"WITH instant(seen_at) AS (SELECT CAST(? AS bigint)) " + w.text, append([]any{Millis(at)}, w.args...)}
}

// couponStatus is a condition on the current state of coupons, as ranges of the index over the stored states, or as
// one condition for few coupons.
func couponStatus(c loyalty.Condition, at Millis, few bool) (list []sqlFragment, err error) {
	wanted, err := statesOf(c)
	switch {
	case len(wanted) == 0 || err != nil:
		return []sqlFragment{sqlFragment{}.and("FALSE")}, err
	case few:
		return []sqlFragment{sqlFragment{}.and(stateNow+" IN ?", wanted)}, nil
	}

	for _, s := range wanted {
		switch {
		case s == loyalty.CouponExpired:
			list = append(list, sqlFragment{}.and("expires_at <= ? AND state IN ("+openStates+")", at))
		case s.Expires():
			list = append(list, sqlFragment{}.is("state", string(s)).and("(expires_at IS NULL OR expires_at > ?)", at))
		default:
			list = append(list, sqlFragment{}.is("state", string(s)))
		}
	}

	return list, nil
}

// statesOf lists the states that a condition allows.
func statesOf(c loyalty.Condition) ([]loyalty.CouponState, error) {
	named := func(s loyalty.CouponState) bool { return slices.Contains(c.Values, any(string(s))) }
	out := func(pass bool) []loyalty.CouponState {
		return slices.DeleteFunc(slices.Clone(loyalty.CouponStates), func(s loyalty.CouponState) bool { return named(s) != pass })
	}
	switch c.Operator {
	case loyalty.Eq, loyalty.In:
		return out(true), nil
	case loyalty.Ne, loyalty.Nin:
		return out(false), nil
	}
	return nil, fmt.Errorf("condition on %q with %q is not possible", c.Field, c.Operator)
}
