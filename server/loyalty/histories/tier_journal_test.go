package histories_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// ladders are the structures whose figures random histories are held against.
var ladders = map[string]string{
	"points-rolling":     `{"name":"a","base":"points","window":{"kind":"rolling","days":5},"downgrade":"automatic"}`,
	"points-calendar":    `{"name":"b","base":"points","window":{"kind":"calendar","months":1},"downgrade":"automatic","grace_days":2}`,
	"points-anniversary": `{"name":"c","base":"points","window":{"kind":"anniversary","months":1}}`,
	"points-none":        `{"name":"d","base":"points","downgrade":"automatic","grace_days":1}`,
	"spend-rolling":      `{"name":"e","base":"spend","window":{"kind":"rolling","months":1},"downgrade":"automatic","grace_days":1}`,
	"spend-calendar":     `{"name":"f","base":"spend","window":{"kind":"calendar","months":1},"downgrade":"automatic"}`,
	"spend-none":         `{"name":"g","base":"spend","downgrade":"automatic"}`,
}

// climbing compiles a programme with the ladders under a prefix.
func climbing(t require.TestingT, zone, prefix, accept string) *programme.Programme {
	m := modules{"time_zone": zone, "tiers": `{"exchange_rates":{"HUF":0.0025}}`}
	if accept != "" {
		m["checkout_accept"] = accept
	}
	var all things
	for name, data := range ladders {
		all = append(all, [3]string{"tiers/structure", prefix + name, data})
		for i, threshold := range []int{20, 60, 150} {
			all = append(all, [3]string{"tiers/tier", fmt.Sprint(prefix, name, i), fmt.Sprintf(`{"structure":%q,"name":{"en":"T"},"threshold":%d}`, prefix+name, threshold)})
		}
	}
	return loyaltytest.Compile(t, m, all)
}

// plainEntry is an event of the journal as plain rows tell it.
type plainEntry struct {
	at, recorded time.Time
	late         bool
	score, money int64
}

// plainValue is an amount in euros, half a ten-thousandth rounded up; dollars have no rate.
func plainValue(total int64, currency string) int64 {
	switch currency {
	case "USD":
		return 0
	case "HUF":
		return (total*25 + 5000) / 10000
	}
	return total
}

// journal reads what a customer's events did, with nothing but SQL: money from
// what is left of each purchase, lateness and currency from what was submitted.
func (s *shop) journal(t require.TestingT, id loyalty.ID) (all []plainEntry) {
	rows, err := s.Raw.Query(`SELECT e.customer_id, e.id, e.parent, e.at, e.recorded_at, e.transaction_id, e.data, e.effects,
 (SELECT sum(CASE WHEN from_account = 1 THEN points WHEN to_account = 1 THEN -points ELSE 0 END)
  FROM postings p WHERE p.customer_id = e.customer_id AND p.event_id = e.id) FROM events e ORDER BY e.id`)
	require.NoError(t, err)
	defer rows.Close()
	type purchase struct {
		accepted bool
		counted  int64
		currency string
	}

	purchases, late := map[string]*purchase{}, map[loyalty.ID]bool{}
	for rows.Next() {
		var owner, event loyalty.ID
		var parent loyalty.ID
		var parentRaw any
		var at, recorded int64
		var transaction, data, effects sql.NullString
		var score sql.NullInt64
		require.NoError(t, rows.Scan(&owner, &event, &parentRaw, &at, &recorded, &transaction, &data, &effects, &score))
		if owner != id {
			continue
		}
		if parentRaw != nil {
			require.NoError(t, parent.Scan(parentRaw))
		}
		if late[event] = late[parent]; parent == (loyalty.ID{}) {
			late[event] = strings.Contains(data.String, "effective_timestamp")
		}

		e := plainEntry{at: time.UnixMilli(at), recorded: time.UnixMilli(recorded), late: late[event], score: score.Int64}
		var told struct {
			Transaction *struct {
				State string
				Total int64
			}
		}

		if effects.Valid {
			require.NoError(t, json.Unmarshal([]byte(effects.String), &told))
		}

		if now := told.Transaction; now != nil {
			p := purchases[transaction.String]
			if p == nil {
				var sent struct{ Currency string }
				require.NoError(t, json.Unmarshal([]byte(data.String), &sent))
				p = &purchase{currency: sent.Currency}
				purchases[transaction.String] = p
			}
			if p.accepted = p.accepted || now.State == "accepted"; p.accepted {
				value := plainValue(now.Total, p.currency)
				e.money, p.counted = value-p.counted, value
			}
		}

		all = append(all, e)
	}

	require.NoError(t, rows.Err())
	return all
}

// plainFigure adds a journal up for one of the ladders.
func plainFigure(name string, journal []plainEntry, now, enrolled time.Time, loc *time.Location) (sum int64) {
	base, window, _ := strings.Cut(name, "-")
	midnight := func(t time.Time) time.Time {
		y, m, d := t.In(loc).Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}

	begins := func(t time.Time) time.Time { // of the window that holds it
		d, first := midnight(t), 1
		if window == "anniversary" {
			first = midnight(enrolled).Day()
		}
		if d.Day() < first {
			d = d.AddDate(0, 0, -d.Day()) // into the month before
		}
		return time.Date(d.Year(), d.Month(), first, 0, 0, 0, 0, time.UTC)
	}

	for _, e := range journal {
		n := e.score
		if base == "spend" {
			n = e.money
		}

		counts := true
		switch {
		case name == "points-rolling":
			counts = midnight(e.at).After(midnight(now).AddDate(0, 0, -5))
		case name == "spend-rolling":
			before := midnight(now).AddDate(0, -1, 0)
			if before.Day() != midnight(now).Day() { // the month before was too short
				before = before.AddDate(0, 0, -before.Day())
			}
			counts = midnight(e.at).After(before)
		case window != "none":
			counts = begins(e.at).Equal(begins(now)) && (!e.late || begins(e.recorded).Equal(begins(e.at)))
		}

		if counts {
			sum += n
		}
	}

	return sum
}

// TestTierFiguresOfHistories: whatever happens, in whatever order and batches, the
// figures that are kept are what the journal adds up to, also where a structure
// was created after it all (I10).
func TestTierFiguresOfHistories(t *testing.T) {
	n := histories(t)
	before := flag.Lookup("rapid.checks").Value.String()
	require.NoError(t, flag.Set("rapid.checks", strconv.Itoa(n)))
	t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", before)) })

	eachShop(t, modules{}, func(t *testing.T, s *shop) {
		next := 0
		rapid.Check(t, func(r *rapid.T) {
			next++
			c := &climb{shop: s, name: fmt.Sprint("member-", 1000+next)}
			c.history(r)
		})
		t.Logf("figures: R8: %d histories of tiers", n)
		s.Verify()
	})
}

// climb is the history of one customer.
type climb struct {
	*shop
	name      string
	zone      string
	accept    string
	purchases int
}

func (c *climb) history(t *rapid.T) {
	c.zone = pick(t, "zone", []string{"UTC", "Europe/Budapest", "America/New_York"})
	c.accept = pick(t, "accept", []string{"", `{"type":"accept","pending_days":2}`, `{"type":"manual"}`})
	c.Use(climbing(t, c.zone, c.name, c.accept))
	for c.Clock().Day() > 28 { // a day that every month has
		c.Wait(24 * time.Hour)
	}

	_, err := c.Send(c.name, "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, c.name))
	require.NoError(t, err)
	for range rapid.IntRange(1, 20).Draw(t, "steps") {
		switch dice(t, "step", 4) {
		case 0:
			c.Wait(time.Duration(1+dice(t, "hours", 150)) * time.Hour)
		case 1:
			require.NoError(t, c.Settle(context.Background(), c.Customer(c.name).ID))
		default:
			c.submit(t)
		}
		c.compare(t, c.name)
	}

	// The same structures under other names: no customer has figures of them.
	c.Use(climbing(t, c.zone, "again-"+c.name, c.accept))
	c.submit(t)
	c.Must(c.name, "visit", `{"url":"https://shop.test/"}`)
	c.compare(t, "again-"+c.name)
}

// submit sends one event, or several in one transaction.
func (c *climb) submit(t *rapid.T) {
	var subs []loyalty.Submission
	for range pick(t, "events", []int{1, 1, 1, 3}) {
		subs = append(subs, c.draw(t))
	}
	for i, r := range c.SubmitAll(context.Background(), subs) {
		var known *loyalty.Error
		if r.Err != nil {
			require.True(t, errors.As(r.Err, &known) && known.Kind != loyalty.Internal && known.Kind != loyalty.Unavailable, "%s %s: %v", subs[i].Action, subs[i].Data, r.Err)
		}
	}
}

func (c *climb) draw(t *rapid.T) loyalty.Submission {
	data := map[string]any{}
	if chance(t, "late", 30) {
		data["effective_timestamp"] = c.Clock().Add(-time.Duration(dice(t, "hours late", 24*15)) * time.Hour).Truncate(time.Second).Format(time.RFC3339)
	}

	action := pick(t, "action", []string{"point_add", "point_sub", "checkout", "checkout", "partial_refund", "refund", "refund_item", "checkout_accept", "checkout_reject"})
	amount := json.Number(fmt.Sprintf("%d.%02d", dice(t, "units", 90), dice(t, "cents", 100)))
	purchase := func() string { return fmt.Sprint(c.name, "-T", dice(t, "purchase", c.purchases+1)) }
	switch action {
	case "point_add", "point_sub":
		data["points"] = 1 + dice(t, "points", 60)
	case "checkout":
		c.purchases++
		data["transaction_id"], data["total"] = fmt.Sprint(c.name, "-T", c.purchases), amount
		if currency := pick(t, "currency", []string{"", "EUR", "HUF", "HUF", "USD"}); currency != "" {
			data["currency"] = currency
		}
		data["items"] = []map[string]any{{"product_id": "p", "product_name": "n", "product_url": "https://shop.test/p", "quantity": 2, "subtotal": amount}}
		if c.accept != "" && chance(t, "own date", 50) {
			data["auto_accept"] = c.Clock().Add(time.Duration(1+dice(t, "hours", 200)) * time.Hour).Format(time.RFC3339)
		}

	case "refund_item":
		data["transaction_id"], data["product_id"], data["quantity"] = purchase(), "p", 1
	case "partial_refund":
		data["transaction_id"], data["amount"] = purchase(), amount
	default:
		data["transaction_id"] = purchase()
	}

	return loyaltytest.Event(c.name, action, TextOf(t, data))
}

// compare holds what is kept of every ladder against the journal.
func (c *climb) compare(t *rapid.T, prefix string) {
	customer := c.Customer(c.name)
	journal := c.journal(t, customer.ID)
	loc, err := time.LoadLocation(c.zone)
	require.NoError(t, err)
	kept := c.Progress(customer.ID)
	for name := range ladders {
		s := tier.Structures.Of(c.Programme())[prefix+name]
		var st tier.TierState
		row, known := kept[loyalty.ProgressKey{Kind: loyalty.ProgressTier, Key: s.ID}]
		require.True(t, known || name == "points-none", "%s: an event makes the figures", s.ID)
		if known {
			require.NoError(t, json.Unmarshal(row.Data, &st))
		}

		instants := []time.Time{c.Clock()}
		if strings.HasSuffix(name, "calendar") || strings.HasSuffix(name, "anniversary") {
			instants = append(instants, c.Clock().AddDate(0, -1, 0)) // the window before decides too
		}

		for _, at := range instants {
			v := tier.TierView{At: at, Score: customer.Figures.Score, Enrolled: customer.CreatedAt, Location: loc}
			want := plainFigure(name, journal, at, customer.CreatedAt, loc)
			require.Equal(t, want, s.Figure(&st, v), "%s: %s at %s in %s", c.name, name, at, c.zone)
		}
	}
}

// passing gives one programme after the other, the last one from then on.
type passing struct{ all []*programme.Programme }

func (p *passing) Programme() *programme.Programme {
	first := p.all[0]
	if len(p.all) > 1 {
		p.all = p.all[1:]
	}
	return first
}

// TestTierFiguresInABatch: a structure that the first events of a batch do not
// know yet counts them none the less, and none of them twice.
func TestTierFiguresInABatch(t *testing.T) {
	eachShop(t, modules{}, func(t *testing.T, s *shop) {
		s.Must("member-1", "opt_in", `{"email":"member-1@shop.test"}`)
		s.Must("member-1", "point_add", `{"points":1}`)
		add := func(n int) loyalty.Submission {
			return loyaltytest.Event("member-1", "point_add", fmt.Sprintf(`{"points":%d}`, n))
		}
		known := climbing(t, "UTC", "", "")
		programmes := &passing{[]*programme.Programme{s.Programme(), s.Programme(), known}}
		engine := s.Node(func(o *engine.EngineOptions) { o.Programmes = programmes })
		results := engine.SubmitAll(context.Background(), []loyalty.Submission{add(2), add(4), add(8), add(16)})
		for _, r := range results {
			require.NoError(t, r.Err)
		}

		var rises []int
		for _, r := range results {
			rises = append(rises, len(r.Outcome.Events)-1)
		}

		require.Equal(t, []int{0, 0, 0, 4}, rises, "31 points reach the first tier of every ladder of points")
		customer := s.Customer("member-1")
		for key, row := range s.Progress(customer.ID) {
			var st tier.TierState
			require.NoError(t, json.Unmarshal(row.Data, &st))
			v := tier.TierView{At: s.Clock(), Score: customer.Figures.Score, Enrolled: customer.CreatedAt, Location: time.UTC}
			if strings.HasPrefix(key.Key, "points") {
				require.EqualValues(t, 31, tier.Structures.Of(known)[key.Key].Figure(&st, v), key.Key)
			}
		}
	})
}
