package loyalty_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// histories is how many random histories each database is given; the variable
// LOYALTY_TORTURE raises it.
func histories(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("LOYALTY_TORTURE"), "12"))
	require.NoError(t, err, "LOYALTY_TORTURE")
	return n
}

// TestHistories submits random histories of all actions to the engine and holds
// it against the plain model after every step (R8).
func TestHistories(t *testing.T) {
	n := histories(t)
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(n), "rapid.steps": "60"} {
		before := flag.Lookup(name).Value.String()
		require.NoError(t, flag.Set(name, value))
		t.Cleanup(func() { require.NoError(t, flag.Set(name, before)) })
	}
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			d.Migrated(t) // skips where there is no server
			reached := map[string]int{}
			rapid.Check(t, func(r *rapid.T) { history(r, d.Migrated(t), reached) })
			for _, fate := range slices.Sorted(maps.Keys(reached)) {
				t.Logf("%7d %s", reached[fate], fate)
			}
			for _, a := range drawn {
				require.True(t, n < 500 || reached[a+" recorded"] > n/50, "%s is hardly ever recorded: the histories are not worth much", a)
			}
		})
	}
}

// chronicle is a history being written: engine, store and model.
type chronicle struct {
	engine    *loyalty.Engine
	db        *store.Store
	model     *plainWorld
	now       time.Time
	programme *loyalty.Programme
	ids       []loyalty.ID // by the model's index
	keys      int
	reached   map[string]int       // what became of how many events
	answered  []loyalty.Submission // under a key, accepted or refused
}

func (h *chronicle) Programme() *loyalty.Programme { return h.programme }

func history(t *rapid.T, url string, reached map[string]int) {
	db, err := store.Open(context.Background(), store.Options{URL: url, MasterKey: storetest.MasterKey})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	h := &chronicle{db: db, reached: reached, now: shopOpens.AddDate(0, 0, dice(t, "opens", 33)-3)}
	h.model = newPlainWorld(plainRules{}, h.now)
	h.configure(t)
	v, err := vocabulary()
	require.NoError(t, err)
	h.engine, err = loyalty.NewEngine(loyalty.EngineOptions{
		Store: db, Contract: v, Programmes: h, Rules: action.All(), Clock: func() time.Time { return h.now },
	})
	require.NoError(t, err)
	defer h.engine.Close()
	for _, name := range customers[:2] { // most histories are about members
		h.single(t, said{customer: name, action: "opt_in", email: name + "@shop.test"})
	}
	t.Repeat(map[string]func(*rapid.T){
		"event": h.event, "event 2": h.event, "event 3": h.event, "event 4": h.event, "event 5": h.event, "event 6": h.event,
		"bulk": h.bulk, "again": h.again, "pass": h.pass, "pass 2": h.pass, "job": h.job, "configure": h.configure,
	})
	h.now = h.now.AddDate(3, 0, 0)
	h.model.now = h.now
	h.job(t)
	proven(t, db)
}

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

func (h *chronicle) event(t *rapid.T) { h.single(t, h.draw(t)) }

// single plays one event and compares everybody whom it could concern.
func (h *chronicle) single(t *rapid.T, e said) {
	sub := e.submission(t)
	if h.keys++; h.keys%3 == 0 {
		sub = keyed(sub, fmt.Sprint("k", h.keys))
		h.answered = append(h.answered, sub)
	}
	want, refusal := h.model.submit(e)
	o, err := h.engine.Submit(context.Background(), sub)
	h.judge(t, sub, want, refusal, loyalty.Result{Outcome: o, Err: err})
	h.compare(t)
}

// judge holds one result against the model's.
func (h *chronicle) judge(t *rapid.T, sub loyalty.Submission, want *plainCustomer, refusal error, got loyalty.Result) {
	fate := "recorded"
	if known, ok := refusal.(*loyalty.Error); ok {
		fate = known.Name
	}
	h.reached[sub.Action+" "+fate]++
	if refusal != nil {
		require.ErrorIs(t, got.Err, refusal, "%s %s %s", sub.Customer, sub.Action, sub.Data)
		return
	}
	require.NoError(t, got.Err, "%s %s %s", sub.Customer, sub.Action, sub.Data)
	if want.index == len(h.ids) {
		h.ids = append(h.ids, got.Outcome.Customer.ID)
	}
	require.Equal(t, h.ids[want.index], got.Outcome.Customer.ID)
	require.Equal(t, want.figures(), got.Outcome.Customer.Figures, "%s %s %s", sub.Customer, sub.Action, sub.Data)
	require.Equal(t, want.status, got.Outcome.Customer.Status)
}

// bulk plays some events in one transaction.
func (h *chronicle) bulk(t *rapid.T) {
	var subs []loyalty.Submission
	var wants []*plainCustomer
	var refusals []error
	for range 2 + dice(t, "events", 5) {
		e := h.draw(t)
		want, refusal := h.model.submit(e)
		subs, wants, refusals = append(subs, e.submission(t)), append(wants, want), append(refusals, refusal)
	}
	for i, r := range h.engine.SubmitAll(context.Background(), subs) {
		h.judge(t, subs[i], wants[i], refusals[i], r)
	}
	h.compare(t)
}

// again repeats a request under its key: nothing happens.
func (h *chronicle) again(t *rapid.T) {
	if len(h.answered) == 0 {
		t.Skip("nothing was sent under a key")
	}
	sub := rapid.SampledFrom(h.answered).Draw(t, "request")
	o, err := h.engine.Submit(context.Background(), sub)
	if err != nil {
		require.ErrorIs(t, err, loyalty.ErrCustomerNotFound, "only who was forgotten has no answer")
	} else {
		require.NotNil(t, o.Replayed)
	}
	h.compare(t)
}

// pass lets time pass, at most a few days; answers stay repeatable only for one.
func (h *chronicle) pass(t *rapid.T) {
	by := time.Duration(1+dice(t, "hours", 40)) * time.Hour
	h.now = h.now.Add(by)
	h.model.now = h.now
	h.answered = nil
}

// job settles what is due for everybody.
func (h *chronicle) job(t *rapid.T) {
	require.NoError(t, h.engine.SettleDue(context.Background()))
	for _, c := range h.model.all {
		if at, _ := c.due(); !at.IsZero() && !at.After(h.now) {
			h.model.settle(c)
		}
	}
	h.compare(t)
}

// compare holds every customer of the store against the model.
func (h *chronicle) compare(t *rapid.T) {
	needs := loyalty.Needs{Customers: make([]loyalty.CustomerNeeds, len(h.ids))}
	for i, id := range h.ids {
		c := h.model.all[i]
		needs.Customers[i] = loyalty.CustomerNeeds{
			ID: id, Lots: loyalty.UsedLots, Transactions: slices.Sorted(maps.Keys(c.purchases)), Reservations: slices.Sorted(maps.Keys(c.holds)),
		}
	}
	require.NoError(t, h.db.Within(context.Background(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		for i, id := range h.ids {
			h.model.all[i].compare(t, l.Customers[id])
		}
		return &loyalty.Writes{}, nil
	}))
}
