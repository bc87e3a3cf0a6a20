package loyalty_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"slices"
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

// histories is how many random histories each database is given:
// LOYALTY_TORTURE raises it.
func histories() string {
	if n := os.Getenv("LOYALTY_TORTURE"); n != "" {
		return n
	}
	return "12"
}

// TestHistories submits random histories of all actions to the engine and holds
// it against the plain model after every step (R8).
func TestHistories(t *testing.T) {
	for name, value := range map[string]string{"rapid.checks": histories(), "rapid.steps": "45"} {
		before := flag.Lookup(name).Value.String()
		require.NoError(t, flag.Set(name, value))
		t.Cleanup(func() { require.NoError(t, flag.Set(name, before)) })
	}
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			d.Migrated(t) // skips where there is no server
			rapid.Check(t, func(r *rapid.T) { history(r, d.Migrated(t)) })
			for _, k := range slices.Sorted(maps.Keys(tally)) { t.Logf("%6d %s", tally[k], k) }
		})
	}
}

var tally = map[string]int{}

// chronicle is a history being written: engine, store and model.
type chronicle struct {
	engine    *loyalty.Engine
	db        *store.Store
	model     *plainWorld
	now       time.Time
	programme *loyalty.Programme
	ids       []loyalty.ID // by the model's index
	keys      int
	answered  []loyalty.Submission // under a key, accepted or refused
}

func (h *chronicle) Programme() *loyalty.Programme { return h.programme }

func history(t *rapid.T, url string) {
	db, err := store.Open(context.Background(), store.Options{URL: url, MasterKey: storetest.MasterKey})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	h := &chronicle{db: db, now: shopOpens.AddDate(0, 0, rapid.IntRange(-3, 30).Draw(t, "opens"))}
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
	customers    = []string{"ada", "bob", "cid"}
	emails       = []string{"ada@shop.test", "x@shop.test"}
	transactions = []string{"T0", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9"}
	products     = []string{"p", "q"}
	drawn        = []string{
		"subscribe", "opt_in", "profile", "opt_out", "suspend", "unsuspend", "unsuspend", "visit", "video",
		"point_add", "point_add", "point_add", "point_sub", "point_spend", "point_spend", "point_unspend",
		"reserve_points", "reserve_points", "release_points",
		"checkout", "checkout", "checkout", "checkout", "checkout_accept", "checkout_accept", "checkout_reject", "checkout_update", "checkout_update",
		"partial_refund", "partial_refund", "refund", "refund_item", "refund_item",
	}
)

// configure draws a configuration of the programme.
func (h *chronicle) configure(t *rapid.T) {
	zone := rapid.SampledFrom([]string{"UTC", "Europe/Budapest", "America/New_York"}).Draw(t, "zone")
	loc, err := time.LoadLocation(zone)
	require.NoError(t, err)
	r := plainRules{
		expiry: rapid.SampledFrom([]string{
			points.ExpiryNone, points.ExpiryRolling, points.ExpiryRolling, points.ExpiryCalendar, points.ExpiryLastActivity, points.ExpiryAnniversary,
		}).Draw(t, "expiry"),
		days: rapid.IntRange(1, 5).Draw(t, "days"), month: time.March, day: rapid.IntRange(1, 31).Draw(t, "day"),
		refuseNegative: rapid.Bool().Draw(t, "refuse negative"),
		rounding:       rapid.SampledFrom([]string{"floor", "round", "ceil"}).Draw(t, "rounding"),
		pending:        rapid.SampledFrom([]string{"", "", loyalty.AcceptManual, loyalty.AcceptAuto, loyalty.AcceptReject}).Draw(t, "pending"),
		pendingDays:    rapid.IntRange(0, 3).Draw(t, "pending days"),
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
	rate := rapid.SampledFrom([]string{"1", "0.1", "1.5", "0.333", "0", "off"}).Draw(t, "rate")
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

// draw makes one event. The e-mails of a bulk are nobody else's.
func (h *chronicle) draw(t *rapid.T, bulk bool) said {
	e := said{customer: rapid.SampledFrom(customers).Draw(t, "customer"), action: rapid.SampledFrom(drawn).Draw(t, "action")}
	some := func(label string, chance int) bool { return rapid.IntRange(1, 100).Draw(t, label) <= chance }
	number := func(label string, least, most int64) *int64 { return new(rapid.Int64Range(least, most).Draw(t, label)) }
	if some("late", 15) {
		e.effective = h.now.Add(-time.Duration(rapid.IntRange(0, 8*24).Draw(t, "hours late")) * time.Hour).Truncate(time.Second)
	}
	switch e.action {
	case "subscribe", "opt_in", "profile":
		e.optIn = e.action == "profile" && some("enrols", 50)
		if e.action == "opt_in" || some("e-mail", 50) {
			e.email = rapid.SampledFrom(emails).Draw(t, "address")
		}
		if bulk && e.email != "" {
			e.email = "bulk." + e.customer + "@shop.test"
		}
	case "visit", "video":
		if some("with points", 50) {
			e.points = number("points", 1, 30)
		}
	case "point_add":
		e.points = number("points", 1, 120)
	case "point_sub", "point_spend", "point_unspend":
		e.points = number("points", 1, 60)
	case "reserve_points":
		e.points = number("points", 1, 40)
	case "release_points":
		if some("some of it", 50) {
			e.points = number("points", 1, 40)
		}
	case "checkout", "checkout_update":
		h.drawPurchase(t, &e, some)
	case "partial_refund":
		e.total = rapid.OneOf(rapid.Int64Range(-10_000, 10_000), rapid.Int64Range(1, 400_000), rapid.SampledFrom([]int64{333_300, 0, 1, 999_900})).Draw(t, "amount")
	case "refund_item":
		e.product = rapid.SampledFrom(products).Draw(t, "product")
		if some("pieces", 70) {
			e.points = number("pieces", 1, 3)
		}
	}
	switch e.action {
	case "reserve_points", "release_points", "checkout", "checkout_update", "checkout_accept", "checkout_reject", "partial_refund", "refund", "refund_item":
		e.transaction = h.drawTransaction(t, e)
	}
	return e
}

// drawTransaction likes the purchases that are there, for what needs one.
func (h *chronicle) drawTransaction(t *rapid.T, e said) string {
	if known := slices.Sorted(maps.Keys(h.model.owners)); len(known) > 0 && e.action != "reserve_points" &&
		rapid.IntRange(1, 100).Draw(t, "known purchase") <= map[bool]int{true: 10, false: 85}[e.action == "checkout"] {
		if i, ok := h.model.names[e.customer]; ok && len(h.model.all[i].purchases) > 0 && rapid.IntRange(1, 100).Draw(t, "one's own") <= 85 {
			known = slices.Sorted(maps.Keys(h.model.all[i].purchases))
		}
		return rapid.SampledFrom(known).Draw(t, "purchase")
	}
	return rapid.SampledFrom(transactions).Draw(t, "transaction")
}

func (h *chronicle) drawPurchase(t *rapid.T, e *said, some func(string, int) bool) {
	e.total = rapid.OneOf(rapid.Int64Range(0, 2_000_000), rapid.SampledFrom([]int64{0, 1, 999_900, 1_000_000})).Draw(t, "total")
	if e.hasItems = some("items", 80); e.hasItems {
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			l := plainLine{
				product: rapid.SampledFrom(products).Draw(t, "product"), quantity: rapid.Int64Range(1, 4).Draw(t, "quantity"),
				subtotal: rapid.OneOf(rapid.Int64Range(0, 800_000), rapid.SampledFrom([]int64{0, 399_900, 600_000})).Draw(t, "subtotal"), lot: -1,
			}
			if some("line's own points", 15) {
				l.rewarded = new(rapid.Int64Range(1, 60).Draw(t, "rewarded"))
			}
			e.items = append(e.items, l)
		}
	}
	if some("burns", 40) {
		e.points = new(rapid.Int64Range(0, 50).Draw(t, "burned"))
	}
	if e.action == "checkout" && some("own points", 15) {
		e.rewarded = new(rapid.Int64Range(1, 90).Draw(t, "rewarded"))
	}
	if some("own date", 30) {
		e.auto = new(h.now.Add(time.Duration(rapid.IntRange(-30, 90).Draw(t, "date")) * time.Hour))
	} else if e.action == "checkout_update" {
		e.removeAuto = some("no date", 20)
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

func (h *chronicle) event(t *rapid.T) { h.single(t, h.draw(t, false)) }

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
	fate := "ok"
	if known, ok := refusal.(*loyalty.Error); ok { fate = known.Name }
	tally[sub.Action+" "+fate]++
	for _, e := range got.Outcome.Events { tally["event "+e.Action]++ }
	if got.Err == nil && want.debt > 0 { tally["debt"]++ }
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
	for range rapid.IntRange(2, 6).Draw(t, "events") {
		e := h.draw(t, true)
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
	by := time.Duration(rapid.IntRange(1, 60).Draw(t, "hours")) * time.Hour
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
