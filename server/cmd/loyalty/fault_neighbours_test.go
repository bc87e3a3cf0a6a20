//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
)

// TestFaultNeighbours measures how long other callers wait while one caller sends the largest possible requests (R19):
// purchases of 5,000 lines, their updates and decisions, and codes for a pool; and while a hundred callers ask for
// proofs of the ledger. The others have another key. Every request of all callers has to be accepted.
func TestFaultNeighbours(t *testing.T) {
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		key := g.newKey(t)
		s := g.start(t)
		n := &neighbours{T: t, address: s.address, heavy: newCaller(t, key), length: time.Duration(full(t, 1, 20)) * time.Second}
		n.post("/admin/modules/checkout_accept", `{"enabled":true,"config":{"type":"accept","pending_days":10}}`, http.StatusOK)
		n.post("/coupon-pools", `{"id":"made","name":"Made","source":"generated","pattern":"*****-*****","coupon":{"type":"amount","value":1}}`, http.StatusCreated)
		enrol(t, n.heavy, s.address, "giant")
		n.others = writeSteadily(t, g, s.address, 100)
		n.beside("nothing", func(time.Time) int { time.Sleep(n.length); return 0 })
		n.beside("purchases of 5,000 lines", func(until time.Time) (sent int) {
			for ; sent == 0 || time.Now().Before(until); sent++ {
				n.purchase(fmt.Sprint("sent-", sent))
			}
			return sent
		})

		n.purchase("changed")
		n.beside("updates of one of 5,000 lines", func(until time.Time) (sent int) {
			for ; sent == 0 || time.Now().Before(until); sent++ {
				n.event(`{"customer":"giant","action":"checkout_update","data":{"transaction_id":"changed","total":%d}}`, 5000+sent)
			}
			return sent
		})

		n.beside("acceptances of 5,000 lines", func(until time.Time) (sent int) {
			for ; sent == 0 || sent < 3; sent++ {
				n.purchase(fmt.Sprint("accepted-", sent))
				n.event(`{"customer":"giant","action":"checkout_accept","data":{"transaction_id":"accepted-%d"}}`, sent)
			}
			return sent
		})

		n.beside("a pool that is filled", func(until time.Time) (filled int) {
			for round := 0; filled == 0 || time.Now().Before(until); round++ {
				filled += n.fill(min(100_000, full(t, 4000, 100_000)))
			}
			return filled
		})

		pile(t, n.heavy, s.address, 250, full(t, 500, 180_000), 500)
		n.beside("nothing, with a longer journal", func(time.Time) int { time.Sleep(n.length); return 0 })
		n.beside("proofs of the ledger", func(until time.Time) int { return n.proofs(key, 100, until) })
		n.others.end()
		require.Empty(t, append(n.others.odd, n.others.away...))
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// neighbours are one caller of large things and many of small ones.
type neighbours struct {
	*testing.T
	address string
	heavy   *caller
	others  *writing
	length  time.Duration
	sent    int // requests of the heavy caller, each with a key of its own
}

// beside does something for a while and tells what the others waited meanwhile.
func (n *neighbours) beside(what string, do func(until time.Time) int) {
	n.Helper()
	began := time.Now()
	times := do(began.Add(n.length))
	acks := n.others.between(began, time.Now())
	require.NotEmpty(n, acks, "nobody else was served beside %s", what)
	n.Logf("figures: R19: %s: beside %s (%d in %s) others wait p50 %s, p99 %s, %s at most (%d events)", strings.TrimPrefix(n.Name(), "TestFaultNeighbours/"), what, times,
		time.Since(began).Round(time.Millisecond), tenths(percentile(acks, 0.5)), tenths(percentile(acks, 0.99)), tenths(percentile(acks, 1)), len(acks))
}

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

func (n *neighbours) post(path, body string, status int) []byte {
	n.Helper()
	n.sent++
	key := fmt.Sprint("neighbour-", n.sent)
	var a answer
	require.Eventually(n, func() bool { // a slow machine may not answer in time; then the same request is repeated
		a = n.heavy.post(n.address, path, body, key)
		return a.err != nil || a.status != http.StatusServiceUnavailable
	}, 5*time.Minute, time.Second, "%.500s", a.body)
	require.NoError(n, a.err)
	require.Equal(n, status, a.status, "%.500s", a.body)
	return a.body
}

func (n *neighbours) event(format string, values ...any) {
	n.Helper()
	n.post("/events", fmt.Sprintf(format, values...), http.StatusOK)
}

// purchase sends as many lines as one may have.
func (n *neighbours) purchase(id string) {
	n.Helper()
	lines := make([]string, 5000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"product_id":"sku-%d","product_name":"Article %d","product_url":"https://shop.test/p/%d","quantity":1,"subtotal":1.5}`, i, i, i)
	}
	n.event(`{"customer":"giant","action":"checkout","data":{"transaction_id":"%s","total":7500,"items":[%s]}}`, id, strings.Join(lines, ","))
}

// proofs has so many clients ask for proofs of the ledger, each again as soon as it has one, and
// says how many were given. Whoever is told to come back does so. A proof reads the whole ledger,
// and the server lets its callers wait far longer than others for it.
func (n *neighbours) proofs(key signing.Credential, clients int, until time.Time) int {
	n.Helper()
	var given atomic.Int64
	var wait sync.WaitGroup
	for range clients {
		c := newCaller(n.T, key)
		c.http.Timeout = 2 * time.Minute
		wait.Go(func() {
			for time.Now().Before(until) {
				a := c.get(n.address + "/admin/ledger?verify=true")
				switch {
				case a.err != nil:
					n.Error(a.err)
					return
				case a.status == http.StatusOK:
					given.Add(1)
				case a.status == http.StatusServiceUnavailable:
					time.Sleep(time.Second)
				default:
					n.Errorf("%d: %s", a.status, a.body)
					return
				}
			}
		})
	}

	wait.Wait()
	require.Positive(n, given.Load(), "nobody was given a proof")
	return int(given.Load())
}

// fill adds codes to the pool and waits until they are there.
func (n *neighbours) fill(codes int) int {
	n.Helper()
	var begun struct {
		Data struct {
			BatchID string `json:"batch_id"`
		}
	}

	require.NoError(n, json.Unmarshal(n.post("/coupon-pools/made/codes", fmt.Sprintf(`{"generate":%d}`, codes), http.StatusAccepted), &begun))
	status := "queued"
	for until := time.Now().Add(10 * patience); status != "done"; time.Sleep(20 * time.Millisecond) {
		require.True(n, time.Now().Before(until), "the pool is never filled: %s", status)
		a := n.heavy.get(n.address + "/coupon-pools/codes/" + begun.Data.BatchID + "/status")
		require.Equal(n, http.StatusOK, a.status, string(a.body))
		var answer struct{ Data struct{ Status string } }
		require.NoError(n, json.Unmarshal(a.body, &answer))
		status = answer.Data.Status
	}

	return codes
}
