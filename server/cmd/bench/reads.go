package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// readConnections is the number of concurrent readers, over HTTP and in SQL: one, so that latencies show the cost of a
// read and not the length of a queue.
const readConnections = 1

// read is a query over HTTP, and a statement that reads the same rows in SQL. The statement may use the customer as $1.
type read struct {
	name, title string
	path        string // {customer} is one of the regulars, {deep} the cursor of a page far down
	sql         string
	list        string // the path of properties to the rows of the answer; empty: the answer is one row
}

// whose finds the customer in SQL by the public name.
const whose = "(SELECT owner FROM names WHERE kind = 1 AND value = $1)"

// shown adds the customer of an event.
const shown = "SELECT e.*, c.name, c.handler FROM (SELECT * FROM events %s ORDER BY recorded_at DESC, id DESC LIMIT 100) e JOIN customers c ON c.id = e.customer_id"

// readList are the measured reads: representative ones of a member area, a till and a back office.
var readList = []read{
	{"customer", "GET C", "/customers/{customer}",
		"SELECT c.*, b.* FROM names n JOIN customers c ON c.id = n.owner JOIN balances b ON b.customer_id = c.id WHERE n.kind = 1 AND n.value = $1", ""},
	{"points", "GET C/points", "/customers/{customer}/points",
		"SELECT l.*, b.* FROM lots l JOIN balances b USING (customer_id) WHERE l.customer_id = " + whose +
			" AND l.open ORDER BY l.expires_at, l.id", "data.lots"},
	{"customer-events", "GET C/events", "/customers/{customer}/events",
		"SELECT * FROM events WHERE customer_id = " + whose + " ORDER BY id DESC LIMIT 100", "data"},
	{"events", "GET /customers/-/events, the first page", "/customers/-/events?limit=100", fmt.Sprintf(shown, ""), "data"},
	{"events-deep", "GET /customers/-/events, a page far down",
		"{deep}", fmt.Sprintf(shown, "WHERE (recorded_at, id) < ({deep})"), "data"},
	{"events-action", "GET /customers/-/events?action=coupon_redeem", "/customers/-/events?action=coupon_redeem",
		fmt.Sprintf(shown, "WHERE action = 'coupon_redeem'"), "data"},
	{"transactions", "GET C/transactions", "/customers/{customer}/transactions",
		`SELECT t.*, (SELECT array_agg(e.points ORDER BY e.id) FROM events e WHERE e.customer_id = t.customer_id AND e.transaction_id = t.transaction_id AND e.points IS NOT NULL)
FROM transactions t WHERE t.customer_id = ` + whose + ` ORDER BY t.created_at DESC, t.checkout DESC LIMIT 100`, "data"},
	{"rewards", "GET C/activities/rewards", "/customers/{customer}/activities/rewards",
		`SELECT r.*, p.data, b.* FROM balances b JOIN entities r ON r.type = 'rewards/reward' AND r.archived_at IS NULL
LEFT JOIN progress p ON p.customer_id = b.customer_id AND p.kind = 3 AND p.key = r.id WHERE b.customer_id = ` + whose, "data"},
	{"coupons", "GET C/coupons", "/customers/{customer}/coupons",
		"SELECT * FROM coupons WHERE customer_id = " + whose + " ORDER BY claimed_at DESC, id DESC LIMIT 100", "data"},
	{"leaderboard", "GET /customers/leaderboard, the top 100", "/customers/leaderboard",
		`SELECT r.*, c.name, c.handler FROM (SELECT customer_id, score FROM rankings WHERE kind = 0 AND start = 0 AND shown ORDER BY score DESC, customer_id DESC LIMIT 100) r
JOIN customers c ON c.id = r.customer_id`, "data"},
	{"coupon-list", "GET /coupons?status=claimed", "/coupons?status=claimed",
		`SELECT p.*, c.name FROM (SELECT * FROM coupons WHERE state = 'claimed' AND expires_at > extract(epoch FROM now()) * 1000 ORDER BY created_at DESC, id DESC LIMIT 100) p
LEFT JOIN customers c ON c.id = p.customer_id`, "data"},
	{"v1-events", "GET /v1/C/events with filter and sort",
		"/v1/customers/{customer}/events?filter[points][gte]=50&sort[0][field]=points",
		"SELECT * FROM events WHERE customer_id = " + whose + " AND points >= 50 ORDER BY points, id DESC LIMIT 100", "data"},
}

// reads is the program over a large journal, and the same database in SQL.
type reads struct {
	*server
	pool *pgxpool.Pool
	// The customers with long histories, and a page far down the journal, as a link and as its position in SQL.
	regulars        int
	deep, deepPlace string
}

// readWindow is how long a read is measured: one reader asks hundreds of times in half a second, with little variation.
func (s *reads) readWindow() time.Duration { return s.window / 2 }

// inSQL runs the statement of r for the window.
func (s *reads) inSQL(ctx context.Context, r read) (sample, error) {
	latencies, failures := make([][]time.Duration, readConnections), make([]error, readConnections)
	var all sync.WaitGroup
	s.machine.rest(ctx, s.window)
	watch := s.machine.watch()
	for i := range readConnections {
		all.Go(func() {
			for sent := time.Now(); (len(latencies[i]) == 0 || sent.Sub(watch.began) < s.readWindow()) && failures[i] == nil; {
				_, failures[i] = s.rows(ctx, r, s.regular())
				answered := time.Now()
				latencies[i] = append(latencies[i], answered.Sub(sent))
				sent = answered
			}
		})
	}

	all.Wait()
	watch.stop()
	return watch.sample(slices.Concat(latencies...), 1), errors.Join(failures...)
}

// rows reads all rows of r and counts them.
func (s *reads) rows(ctx context.Context, r read, customer string) (n int, err error) {
	var args []any
	if strings.Contains(r.sql, "$1") {
		args = []any{customer}
	}
	rows, err := s.pool.Query(ctx, strings.ReplaceAll(r.sql, "{deep}", s.deepPlace), args...)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		_ = rows.RawValues()
		n++
	}
	return n, rows.Err()
}

// regular is a customer with a long history.
func (s *reads) regular() string { return strconv.Itoa(1 + rand.IntN(s.regulars)) }

func (s *reads) target(r read, customer string) string {
	return strings.NewReplacer("{customer}", customer, "{deep}", s.deep).Replace(r.path)
}

// inHTTP sends r as a signed request for the window.
func (s *reads) inHTTP(ctx context.Context, r read) (sample, error) {
	n := int(6000 * s.readWindow().Seconds())
	if before := s.answered[r.name]; before > 0 { // the first one may be slow: it updates what a fill left
		n = max(before+before/2, n/4)
	}

	requests := make([][]byte, n)
	failures := make([]error, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for worker := range failures {
		all.Go(func() {
			for i := worker; i < n && failures[worker] == nil; i += len(failures) {
				requests[i], failures[worker] = s.get(s.target(r, s.regular()), i)
			}
		})
	}

	all.Wait()
	if err := errors.Join(failures...); err != nil {
		return sample{}, err
	}

	s.machine.rest(ctx, s.window)
	latencies, watch, err := load{s.access, readConnections, s.readWindow(), nil, s.machine,
		[]*process{s.process}}.run(ctx, requests)
	if err != nil {
		return sample{}, fmt.Errorf("%w\nthe end of the server's log:\n%s", err, s.tail())
	}

	s.answered[r.name] = len(latencies)
	return watch.sample(latencies, 1), nil
}

// get makes one signed GET, ready to send.
func (a access) get(target string, key int) ([]byte, error) {
	r, err := http.NewRequest(http.MethodGet, "http://"+a.address+target, nil)
	if err != nil {
		return nil, err
	}
	if err := a.scheme.Sign(r, nil, a.keys[key%len(a.keys)]); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n%s: %s\r\n\r\n", target, a.address,
		a.scheme.DateHeader, r.Header.Get(a.scheme.DateHeader), a.scheme.AuthHeader, r.Header.Get(a.scheme.AuthHeader)), nil
}

// answer reads one answer as JSON.
func (a access) answer(ctx context.Context, target string) (map[string]any, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+target, nil)
	if err != nil {
		return nil, err
	}
	if err := a.scheme.Sign(r, nil, a.keys[0]); err != nil {
		return nil, err
	}

	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()

	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.500s", target, resp.Status, body)
	}
	if err != nil {
		return nil, err
	}

	var v map[string]any
	return v, json.Unmarshal(body, &v)
}
