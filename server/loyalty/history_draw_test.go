package loyalty_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

var (
	customers = []string{"ada", "bob", "cid"}
	emails    = []string{"ada@shop.test", "x@shop.test"}
	products  = []string{"p", "q"}
	drawn     = []string{
		"point_add", "point_add", "point_add", "point_sub", "point_spend", "point_spend", "point_unspend", "point_unspend",
		"checkout", "checkout", "checkout", "checkout", "checkout", "checkout_accept", "checkout_accept", "checkout_reject", "checkout_update",
		"checkout_update", "reserve_points", "reserve_points", "release_points", "release_points",
		"partial_refund", "partial_refund", "refund", "refund_item", "refund_item", "visit", "video",
		"opt_in", "subscribe", "profile", "suspend", "unsuspend", "unsuspend", "opt_out",
	}
)

// dice throws a fair one with n sides: rapid's ranges like small numbers too much
// for choices that are equals, its permutations are fair. It still shrinks to 0.
func dice(t *rapid.T, label string, n int) int {
	const sides = 8
	if n > sides {
		return (dice(t, label, (n+sides-1)/sides)*sides + dice(t, label, sides)) % n
	}
	numbers := []int{0, 1, 2, 3, 4, 5, 6, 7}
	return rapid.Permutation(numbers[:n]).Draw(t, label)[0]
}

func pick[T any](t *rapid.T, label string, from []T) T { return from[dice(t, label, len(from))] }

// chance comes true so many times of a hundred.
func chance(t *rapid.T, label string, percent int) bool { return dice(t, label, 100) >= 100-percent }

// configure draws a configuration of the programme.
func (h *chronicle) configure(t *rapid.T) {
	zone := pick(t, "zone", []string{"UTC", "Europe/Budapest", "America/New_York"})
	loc, err := time.LoadLocation(zone)
	require.NoError(t, err)
	r := plainRules{
		expiry: pick(t, "expiry", []string{
			points.ExpiryNone, points.ExpiryRolling, points.ExpiryRolling, points.ExpiryCalendar, points.ExpiryLastActivity, points.ExpiryAnniversary,
		}),
		days: 1 + dice(t, "days", 5), month: time.March, day: 1 + dice(t, "day", 31),
		refuseNegative: chance(t, "refuse negative", 40),
		rounding:       pick(t, "rounding", []string{"floor", "round", "ceil"}),
		pending:        pick(t, "pending", []string{"", loyalty.AcceptManual, loyalty.AcceptAuto, loyalty.AcceptAuto, loyalty.AcceptReject, loyalty.AcceptManual}),
		pendingDays:    dice(t, "pending days", 4),
		zone:           loc,
	}
	m := modules{"time_zone": zone}
	expiry := map[string]any{"policy": r.expiry}
	switch r.expiry {
	case points.ExpiryRolling, points.ExpiryLastActivity:
		expiry["days"] = r.days
	case points.ExpiryCalendar:
		expiry["date"] = fmt.Sprintf("03-%02d", r.day)
	}
	m["points_economy"] = text(t, map[string]any{"expiry": expiry, "negative": map[bool]string{true: "refuse", false: "allow"}[r.refuseNegative]})
	rate := pick(t, "rate", []string{"1", "0.1", "1.5", "0.333", "0", "off"})
	if rate == "off" {
		m["incentivized_purchase"], r.rounding = "off", "floor"
	} else {
		r.rate, _ = new(big.Rat).SetString(rate)
		m["incentivized_purchase"] = fmt.Sprintf(`{"rate":%s,"rounding":%q}`, rate, r.rounding)
	}
	if r.pending != "" {
		m["checkout_accept"] = fmt.Sprintf(`{"type":%q,"pending_days":%d}`, r.pending, r.pendingDays)
	}
	h.programme, h.model.rules = compile(t, m), r
}

func text(t require.TestingT, v any) string {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// draw makes one event.
func (h *chronicle) draw(t *rapid.T) said {
	e := said{customer: pick(t, "customer", customers), action: pick(t, "action", drawn)}
	number := func(label string, least, most int64) *int64 { return new(rapid.Int64Range(least, most).Draw(t, label)) }
	if chance(t, "late", 15) {
		e.effective = h.now.Add(-time.Duration(dice(t, "hours late", 8*24)) * time.Hour).Truncate(time.Second)
	}
	switch e.action {
	case "subscribe", "opt_in", "profile":
		e.optIn = e.action == "profile" && chance(t, "enrols", 50)
		if e.action == "opt_in" || chance(t, "e-mail", 50) {
			e.email = pick(t, "address", emails)
		}
	case "visit", "video":
		if chance(t, "with points", 50) {
			e.points = number("points", 1, 30)
		}
	case "point_add":
		e.points = number("points", 1, 120)
	case "point_sub", "point_spend":
		e.points = number("points", 1, 60)
	case "point_unspend":
		e.points = number("points", 1, 20)
	case "reserve_points":
		e.points = number("points", 1, 40)
	case "release_points":
		if chance(t, "some of it", 50) {
			e.points = number("points", 1, 40)
		}
	case "checkout", "checkout_update":
		h.drawPurchase(t, &e)
	case "partial_refund":
		e.total = rapid.OneOf(rapid.Int64Range(-10_000, 10_000), rapid.Int64Range(1, 400_000), rapid.SampledFrom([]int64{333_300, 0, 1, 999_900})).Draw(t, "amount")
	case "refund_item":
		e.product = pick(t, "product", products)
		if chance(t, "pieces", 70) {
			e.points = number("pieces", 1, 3)
		}
	}
	e.transaction = h.drawTransaction(t, e)
	return e
}

// drawTransaction likes what the customer has, where the action needs it.
func (h *chronicle) drawTransaction(t *rapid.T, e said) string {
	var liked []string
	if i, known := h.model.names[e.customer]; known {
		c := h.model.all[i]
		for _, id := range slices.Sorted(maps.Keys(c.purchases)) {
			state := c.purchases[id].state
			switch e.action {
			case "checkout_accept", "checkout_reject", "checkout_update":
				if state == loyalty.Pending {
					liked = append(liked, id)
				}
			case "partial_refund", "refund", "refund_item":
				if state == loyalty.Accepted {
					liked = append(liked, id)
				}
			}
		}
		if e.action == "release_points" || (e.action == "checkout" && chance(t, "reserved for", 50)) {
			liked = slices.Sorted(maps.Keys(c.holds))
		}
	}
	switch e.action {
	case "reserve_points", "release_points", "checkout", "checkout_update", "checkout_accept", "checkout_reject", "partial_refund", "refund", "refund_item":
		if len(liked) > 0 && chance(t, "liked", 85) {
			return pick(t, "purchase", liked)
		}
		return fmt.Sprint("T", dice(t, "transaction", 30))
	}
	return ""
}

func (h *chronicle) drawPurchase(t *rapid.T, e *said) {
	e.total = rapid.OneOf(rapid.Int64Range(0, 2_000_000), rapid.SampledFrom([]int64{0, 1, 999_900, 1_000_000})).Draw(t, "total")
	if e.hasItems = chance(t, "items", 80); e.hasItems {
		for range dice(t, "lines", 4) {
			l := plainLine{
				product: pick(t, "product", products), quantity: rapid.Int64Range(1, 4).Draw(t, "quantity"),
				subtotal: rapid.OneOf(rapid.Int64Range(0, 800_000), rapid.SampledFrom([]int64{0, 399_900, 600_000})).Draw(t, "subtotal"), lot: -1,
			}
			if chance(t, "line's own points", 15) {
				l.rewarded = new(rapid.Int64Range(1, 60).Draw(t, "rewarded"))
			}
			e.items = append(e.items, l)
		}
	}
	if chance(t, "burns", 40) {
		e.points = new(rapid.Int64Range(0, 50).Draw(t, "burned"))
	}
	if e.action == "checkout" && chance(t, "own points", 15) {
		e.rewarded = new(rapid.Int64Range(1, 90).Draw(t, "rewarded"))
	}
	if chance(t, "own date", 30) {
		e.auto = new(h.now.Add(time.Duration(dice(t, "date", 120)-30) * time.Hour))
	} else if e.action == "checkout_update" {
		e.removeAuto = chance(t, "no date", 20)
	}
}

// submission writes an event as an integrator would.
func (e said) submission(t require.TestingT) loyalty.Submission {
	d := map[string]any{}
	amount := func(n int64) json.Number { return json.Number(new(big.Rat).SetFrac64(n, 10_000).FloatString(4)) }
	if e.transaction != "" {
		d["transaction_id"] = e.transaction
	}
	if e.email != "" {
		d["email"] = e.email
	}
	if !e.effective.IsZero() {
		d["effective_timestamp"] = e.effective.Format(time.RFC3339)
	}
	switch e.action {
	case "subscribe":
		d["handler"] = "h"
	case "profile":
		d["opt_in"] = e.optIn
	case "visit", "video":
		d["url"] = "https://shop.test/"
	case "checkout", "checkout_update":
		d["total"] = amount(e.total)
	case "partial_refund":
		d["amount"] = amount(e.total)
	case "refund_item":
		d["product_id"] = e.product
	}
	if e.points != nil {
		d[map[string]string{"checkout": "points_burned", "checkout_update": "points_burned", "refund_item": "quantity"}[e.action]] = *e.points
		if n, ok := d[""]; ok {
			d["points"] = n
			delete(d, "")
		}
	}
	if e.rewarded != nil {
		d["points_rewarded"] = *e.rewarded
	}
	if e.auto != nil {
		d["auto_accept"] = e.auto.Format(time.RFC3339)
	}
	if e.removeAuto {
		d["auto_accept"] = ""
	}
	if e.hasItems {
		items := make([]map[string]any, len(e.items))
		for i, l := range e.items {
			items[i] = map[string]any{
				"product_id": l.product, "product_name": "n", "product_url": "https://shop.test/p", "quantity": l.quantity, "subtotal": amount(l.subtotal),
			}
			if l.rewarded != nil {
				items[i]["points_rewarded"] = *l.rewarded
			}
		}
		d["items"] = items
	}
	return event(e.customer, e.action, text(t, d))
}
