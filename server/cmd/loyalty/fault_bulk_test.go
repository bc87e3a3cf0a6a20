//go:build unix

package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestFaultBulk kills the program again and again while it claims a reward for many customers (R9): a customer who can
// pay has exactly one claim in the end, one who cannot is refused once, and the counts say so.
func TestFaultBulk(t *testing.T) {
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		b := newBulkClaim(t, g, full(t, 400, 100_000))
		began := time.Now()
		kills := g.untilDone(t, b.members, b.members/full(t, 4, 50), b.begin, func(string) { time.Sleep(time.Millisecond) }, 10*time.Millisecond)
		b.check()
		verified := command(t, g.dir, g.env, "ledger", "verify")
		require.Equal(t, 0, verified.code, verified.out)
		require.Positive(t, kills, "the program was never killed at work")
		t.Logf("figures: R9: a reward for %d customers in %s, the program killed %d times at it", b.members, time.Since(began).Round(time.Millisecond), kills)
	})
}

// bulkClaim is a bulk claim over members; every tenth member cannot pay.
type bulkClaim struct {
	*testing.T
	g       *ground
	raw     *sql.DB
	members int
	body    string
	batch   string
}

func newBulkClaim(t *testing.T, g *ground, members int) *bulkClaim {
	t.Helper()
	b := &bulkClaim{T: t, g: g, raw: storetest.Raw(t, g.url), members: members}
	var all []loyalty.Submission
	names := make([]string, members)
	for i := range members {
		names[i] = fmt.Sprintf("member-%d", i)
		all = append(all, loyalty.Submission{Customer: names[i], Action: "opt_in", Data: json.RawMessage(`{"email":"` + names[i] + `@example.com"}`)})
		if i%10 != 0 {
			all = append(all, loyalty.Submission{Customer: names[i], Action: "point_add", Data: json.RawMessage(`{"points":100}`)})
		}
	}

	g.past(t, nil, func(p *past) {
		p.entity("rewards/reward", "mug", `{"title":{"en":"Mug"},"type":"coupon","points":5,"coupon":{"type":"percentage","value":10}}`)
		p.submit(all)
	})

	body, err := json.Marshal(map[string]any{"customers": names})
	require.NoError(t, err)
	b.body = string(body)
	return b
}

// begin asks for the operation: once, however often it is asked for.
func (b *bulkClaim) begin(address string) {
	b.Helper()
	a := newCaller(b.T, b.g.key).post(address, "/v1/bulk-operation/reward/claim/mug", b.body, "mugs")
	require.NoError(b, a.err)
	require.Equal(b, http.StatusAccepted, a.status, string(a.body))
	var answer struct {
		Data struct {
			BatchID string `json:"batch_id"`
		}
	}
	require.NoError(b, json.Unmarshal(a.body, &answer))
	require.True(b, b.batch == "" || b.batch == answer.Data.BatchID, "it was begun twice")
	b.batch = answer.Data.BatchID
}

// untilDone starts the program, begins the operation, lets it get on by a step, and kills
// the program, until all of it is done; it counts the times when there was something left.
// meanwhile is done while the program works.
func (g *ground) untilDone(t *testing.T, all, step int, begin, meanwhile func(address string), slack time.Duration) (kills int) {
	t.Helper()
	raw := storetest.Raw(t, g.url)
	done := func() (n int) {
		require.NoError(t, raw.QueryRow(`SELECT COALESCE(SUM(done), 0) FROM bulk_operations`).Scan(&n))
		return n
	}

	for before := 0; before < all; {
		s := g.start(t)
		begin(s.address)
		enough := min(all, before+max(1, step))
		for until := time.Now().Add(patience); done() < enough && time.Now().Before(until); {
			meanwhile(s.address)
		}

		time.Sleep(dice.within(slack))
		require.Equal(t, -1, s.stop(os.Kill), s.log())
		now := done()
		require.Greater(t, now, before, "the operation does not get on: %s", s.log())
		if before = now; now < all {
			kills++
		}

		_, err := raw.Exec(`UPDATE jobs SET lease_until = 0`) // of the dead, as time would
		require.NoError(t, err)
	}

	return kills
}

// check compares each member's claims with what the member could pay, and with the operation's own figures.
func (b *bulkClaim) check() {
	b.Helper()
	rows, err := b.raw.Query(`WITH p AS MATERIALIZED (SELECT customer_id, count(*) AS n FROM coupons WHERE customer_id IS NOT NULL GROUP BY customer_id)
 SELECT c.name, (SELECT count(*) FROM events e WHERE e.customer_id = c.id AND e.action = 'reward_claim'),
 (SELECT count(*) FROM claims k WHERE k.customer_id = c.id), COALESCE(p.n, 0) FROM customers c LEFT JOIN p ON p.customer_id = c.id`)
	require.NoError(b, err)
	defer rows.Close()
	seen := 0
	for rows.Next() {
		var name string
		var i, events, claims, coupons int
		require.NoError(b, rows.Scan(&name, &events, &claims, &coupons))
		_, err := fmt.Sscanf(name, "member-%d", &i)
		require.NoError(b, err)
		want := []int{1, 1, 1}
		if i%10 == 0 {
			want = []int{0, 0, 0}
		}
		require.Equal(b, want, []int{events, claims, coupons}, name)
		seen++
	}

	require.NoError(b, rows.Err())
	require.Equal(b, b.members, seen)

	s := b.g.start(b.T)
	require.Equal(b, []any{"done", b.members, b.members, (b.members + 9) / 10}, bulkStands(b.T, newCaller(b.T, b.g.key), s.address+"/v1/bulk-operation/reward/claim/"+b.batch+"/status"))
	require.Equal(b, 0, s.stop(terminate), s.log())
}

// TestFaultPoolFill kills the program again and again while it fills two pools, one
// with codes of a list of which every hundredth is taken, one with codes of a pattern,
// and while events are sent (R9): every code is there once, in the order of the list,
// the taken ones are told, and every event that was acknowledged is there.
func TestFaultPoolFill(t *testing.T) {
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		f := &poolFill{T: t, g: g, raw: storetest.Raw(t, g.url), codes: full(t, 4000, 150_000)}
		began := time.Now()
		kills := f.killWhileWorking()
		f.check()
		verified := command(t, g.dir, g.env, "ledger", "verify")
		require.Equal(t, 0, verified.code, verified.out)
		require.Positive(t, kills, "the program was never killed at work")
		t.Logf("figures: R9: two pools filled with %d codes each in %s, the program killed %d times at it, %d events meanwhile",
			f.codes, time.Since(began).Round(time.Millisecond), kills, f.events)
	})
}

// poolFill is two fills of so many codes each, and events that are sent meanwhile.
type poolFill struct {
	*testing.T
	g       *ground
	raw     *sql.DB
	codes   int
	batches [2]string
	events  int
}

func (f *poolFill) code(i int) string { return fmt.Sprintf("%c-%06d", 'A'+(i*7)%26, i) }

// begin asks for pools and fills: once, however often they are asked for.
func (f *poolFill) begin(address string) {
	f.Helper()
	c := newCaller(f.T, f.g.key)
	list, some := make([]string, f.codes), []string{}
	for i := range list {
		if list[i] = f.code(i); i%100 == 0 {
			some = append(some, list[i])
		}
	}

	upload, err := json.Marshal(map[string]any{"codes": list})
	require.NoError(f, err)
	taken, err := json.Marshal(map[string]any{"codes": some})
	require.NoError(f, err)
	for i, piece := range [][2]string{
		{"/coupon-pools", `{"id":"other","name":"Other","source":"uploaded","coupon":{"type":"amount","value":1}}`},
		{"/coupon-pools", `{"id":"listed","name":"Listed","source":"uploaded","coupon":{"type":"amount","value":1}}`},
		{"/coupon-pools", `{"id":"made","name":"Made","source":"generated","pattern":"*****-*****","coupon":{"type":"amount","value":1}}`},
		{"/coupon-pools/other/codes", string(taken)},
		{"/coupon-pools/listed/codes", string(upload)},
		{"/coupon-pools/made/codes", fmt.Sprintf(`{"generate":%d}`, min(f.codes, admin.MaxGenerated))},
	} {
		a := c.post(address, piece[0], piece[1], fmt.Sprint("piece ", i))
		require.NoError(f, a.err)
		if i < 4 {
			require.Equal(f, http.StatusCreated, a.status, string(a.body))
			continue
		}

		require.Equal(f, http.StatusAccepted, a.status, string(a.body))
		var answer struct {
			Data struct {
				BatchID string `json:"batch_id"`
			}
		}

		require.NoError(f, json.Unmarshal(a.body, &answer))
		require.True(f, f.batches[i-4] == "" || f.batches[i-4] == answer.Data.BatchID, "it was begun twice")
		f.batches[i-4] = answer.Data.BatchID
	}
}

func (f *poolFill) total() int { return f.codes + min(f.codes, admin.MaxGenerated) }

// killWhileWorking kills the program while events are sent.
func (f *poolFill) killWhileWorking() (kills int) {
	f.Helper()
	begin := func(address string) {
		if f.batches[1] == "" {
			enrol(f.T, newCaller(f.T, f.g.key), address, "member-1")
		}
		f.begin(address)
	}

	// In the quick suite events come at a pace: as many as the machine can take would only make the fills slower.
	shop, pause := newCaller(f.T, f.g.key), time.Duration(max(0, 20-full(f.T, 0, 20)))*time.Millisecond
	return f.g.untilDone(f.T, f.total(), f.total()/full(f.T, 4, 10), begin, func(address string) {
		time.Sleep(pause)
		a := shop.post(address, "/events", `{"customer":"member-1","action":"point_add","data":{"points":1}}`, "")
		require.NoError(f, a.err)
		require.Equal(f, http.StatusOK, a.status, string(a.body))
		f.events++
	}, 30*time.Millisecond)
}

// check holds the codes against the list, and what the operations say of themselves.
func (f *poolFill) check() {
	f.Helper()
	rows, err := f.raw.Query(`SELECT code FROM coupons WHERE pool = 'listed' ORDER BY id`)
	require.NoError(f, err)
	defer rows.Close()
	var want, found []string
	for rows.Next() {
		var code string
		require.NoError(f, rows.Scan(&code))
		found = append(found, code)
	}

	require.NoError(f, rows.Err())
	for i := range f.codes {
		if i%100 != 0 {
			want = append(want, f.code(i))
		}
	}

	require.Equal(f, want, found)
	for query, want := range map[string]int{
		`SELECT count(DISTINCT code) FROM coupons WHERE pool = 'made'`:                                  f.total() - f.codes,
		`SELECT count(*) FROM coupons`:                                                                  f.total(),
		`SELECT count(*) FROM names n JOIN coupons c ON n.kind = 3 AND n.owner = c.id`:                  f.total(),
		`SELECT count(*) FROM bulk_items WHERE error IS NOT NULL`:                                       f.codes / 100,
		`SELECT count(*) FROM kept_codes`:                                                               0,
		`SELECT count(*) FROM audit WHERE action = 'coupon_pool.add_codes' AND after LIKE '%batch_id%'`: 2,
		`SELECT count(*) FROM events WHERE action = 'point_add'`:                                        f.events,
	} {
		var n int
		require.NoError(f, f.raw.QueryRow(query).Scan(&n), query)
		require.Equal(f, want, n, query)
	}

	s := f.g.start(f.T)
	for i, want := range [][]any{{"done", f.codes, f.codes, f.codes / 100}, {"done", f.total() - f.codes, f.total() - f.codes, 0}} {
		require.Equal(f, want, bulkStands(f.T, newCaller(f.T, f.g.key), s.address+"/coupon-pools/codes/"+f.batches[i]+"/status"))
	}

	require.Equal(f, 0, s.stop(terminate), s.log())
}

// bulkStands reads how a bulk operation stands: its status, what is done, of how much, and the errors.
func bulkStands(t *testing.T, c *caller, address string) []any {
	t.Helper()
	a := c.get(address)
	require.Equal(t, http.StatusOK, a.status, string(a.body))
	var answer struct {
		Data struct {
			Status              string
			Done, Total, Errors int
		}
	}
	require.NoError(t, json.Unmarshal(a.body, &answer))
	return []any{answer.Data.Status, answer.Data.Done, answer.Data.Total, answer.Data.Errors}
}
