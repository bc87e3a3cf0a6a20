//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
)

// keyReused is the code of a request under a key that belongs to another one.
const keyReused = 190031

// TestFaultImpatientClients sends every request one to five times under its
// Idempotency-Key, giving up at random points of most attempts (R7): while the
// request is on its way, before the answer, within it. Each has one effect, all
// answers to it are the same, and the same key with another body is refused.
func TestFaultImpatientClients(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		s := g.start(t)
		l := newLoad(t, g)
		l.open(s.address)
		hasty := &impatience{base: http.DefaultTransport}
		var left, reused atomic.Int64
		left.Store(int64(rounds(t, 1) * 400)) // 20,000 at full length
		var wait sync.WaitGroup
		for _, patient := range l.callers {
			c := newCaller(t, g.key)
			c.http.Transport.(*signing.Transport).Base = hasty
			wait.Go(func() {
				for left.Add(-1) >= 0 {
					r := l.book.add(l.retried())
					for range 1 + dice.IntN(5) {
						l.book.send(c, s.address, r)
					}

					l.book.send(patient, s.address, r)
					if dice.IntN(4) > 0 {
						continue
					}

					a := patient.post(s.address, "/events", changed(r), r.key)
					if a.err != nil || a.status != http.StatusConflict || a.code() != keyReused {
						t.Errorf("another body under the same key: %v %d %s", a.err, a.status, a.body)
					}

					reused.Add(1)
					l.book.send(patient, s.address, r)
				}
			})
		}

		wait.Wait()
		require.Empty(t, l.book.strange)
		require.Empty(t, l.book.find(func(r *request) bool { return r.fate == unanswered }), "every request is decided in the end")
		require.NotEmpty(t, l.book.find(func(r *request) bool { return r.fate == refused }))
		require.Positive(t, reused.Load())
		require.Positive(t, l.book.repeated)
		for at, n := range hasty.gaveUp() {
			require.Positive(t, n, "nobody gave up %s", at)
		}

		mustHold(t, l.check(s.address, 1))
		require.Equal(t, 0, s.stop(terminate), s.log())
		t.Logf("figures: R7: %s; %d times another body under a used key; gave up %v", l.book, reused.Load(), hasty.gaveUp())
	})
}

// retried is a request that may be repeated.
func (l *load) retried() request {
	actions := []string{"point_add", "point_add", "point_spend", "checkout", "reserve_points"}
	r := request{
		customer: l.customers[dice.IntN(len(l.customers))], action: actions[dice.IntN(len(actions))],
		points: 1 + dice.Int64N(9), key: "yes",
	}
	if r.action == "point_spend" && r.points > 6 {
		r.points = 1_000_000_000 // more than any member has: refusals are kept as well
	}
	return r
}

// changed is the same request with more points.
func changed(r *request) string {
	more := *r
	more.points += 100
	return more.event()
}

// impatience is a connection whose user gives up at random.
type impatience struct {
	base                   http.RoundTripper
	sending, waiting, read atomic.Int64
}

// errGaveUp is what a client that gave up has instead of an answer.
var errGaveUp = errors.New("the client gave up")

func (i *impatience) gaveUp() map[string]int64 {
	return map[string]int64{"sending": i.sending.Load(), "waiting": i.waiting.Load(), "reading": i.read.Load()}
}

// RoundTrip sends the request, or a part of it, and may lose the answer.
func (i *impatience) RoundTrip(r *http.Request) (*http.Response, error) {
	switch dice.IntN(5) {
	case 0:
		return i.cut(r)
	case 1:
		return i.leave(r)
	case 2, 3:
		return i.lose(r)
	}
	return i.base.RoundTrip(r)
}

// cut sends a part of the body.
func (i *impatience) cut(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}

	part := bytes.NewReader(body[:dice.IntN(len(body))])
	broken := r.Clone(r.Context())
	broken.GetBody = nil
	broken.Body = io.NopCloser(io.MultiReader(part, failing{}))
	i.sending.Add(1)
	response, err := i.base.RoundTrip(broken)
	if err == nil {
		err = errors.Join(errGaveUp, response.Body.Close())
	}

	return nil, err
}

// failing is where a body breaks off.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errGaveUp }

// leave does not wait for the answer.
func (i *impatience) leave(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(dice.IntN(4000))*time.Microsecond)
	response, err := i.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		i.waiting.Add(1)
		return nil, err
	}
	body, err := io.ReadAll(response.Body) // it was faster
	err = errors.Join(err, response.Body.Close())
	cancel()
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

// lose closes the connection while the answer arrives.
func (i *impatience) lose(r *http.Request) (*http.Response, error) {
	response, err := i.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	_, err = io.CopyN(io.Discard, response.Body, dice.Int64N(20))
	i.read.Add(1)
	return nil, errors.Join(errGaveUp, err, response.Body.Close())
}

// TestFaultLimitedThings lets 16 clients at once reach for what there is only so
// much of (R6): a coupon code, one coupon, the last ten of a stock, the codes of a
// pool, a campaign's total. Exactly that much is given, to all of them together.
func TestFaultLimitedThings(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		s := g.start(t)
		addresses := []string{s.address}
		limitedThings(t, g, addresses)
		require.Equal(t, 0, s.stop(terminate), s.log())
		require.NotContains(t, s.log(), "level=ERROR")
	})
}

// TestFaultLimitedThingsOnTwoNodes is the same with two programs on one database.
func TestFaultLimitedThingsOnTwoNodes(t *testing.T) {
	t.Parallel()
	g := newGround(t, anyPostgres(t))
	a, b := g.start(t), g.start(t)
	limitedThings(t, g, []string{a.address, b.address})
	require.Equal(t, 0, a.stop(terminate), a.log())
	require.Equal(t, 0, b.stop(terminate), b.log())
	require.NotContains(t, a.log()+b.log(), "level=ERROR")
}

func limitedThings(t *testing.T, g *ground, addresses []string) {
	r := &rush{t: t, callers: crowd(t, g), addresses: addresses}
	r.prepare()
	t.Run("code", r.oneCode)
	t.Run("coupon", r.oneCoupon)
	t.Run("stock", r.lastOfStock)
	t.Run("pool", r.poolCodes)
	t.Run("generated", r.generatedCodes)
	t.Run("campaign", r.campaignTotal)
	mustHold(t, []finding{verifyLedger(t, g)})
}

// rush is many clients at the same things.
type rush struct {
	t         *testing.T
	callers   []*caller
	addresses []string
}

const (
	lastTen   = 10
	poolSize  = 40
	mostGifts = 25
)

// prepare makes a customer for each client, with points, and what they want.
func (r *rush) prepare() {
	codes := make([]string, poolSize)
	for i := range codes {
		codes[i] = fmt.Sprintf("ONE-%d", i)
	}

	upload, err := json.Marshal(map[string]any{"codes": codes})
	require.NoError(r.t, err)
	for _, piece := range [][2]string{
		{"/entities/rewards/reward", fmt.Sprintf(`{"id":"mug","title":{"en":"Mug"},"type":"physical","points":1,"stock":%d}`, lastTen)},
		{"/entities/coupons/pool", `{"id":"codes","name":"Codes","source":"uploaded","coupon":{"type":"amount","value":1}}`},
		{"/coupon-pools/codes/codes", string(upload)},
		{"/entities/rewards/reward", `{"id":"code","title":{"en":"Code"},"type":"coupon","points":1,"pool":"codes"}`},
		{"/entities/coupons/pool", `{"id":"made","name":"Made","source":"generated","pattern":"NEW-######","coupon":{"type":"amount","value":1}}`},
		{"/entities/rewards/reward", `{"id":"made","title":{"en":"Made"},"type":"coupon","points":1,"pool":"made"}`},
		{"/entities/automation/campaign", fmt.Sprintf(`{"id":"gift","name":"Gift","trigger":"visit","effects":[{"type":"points","points":7}],"limit":{"total":%d},"status":"active"}`, mostGifts)},
	} {
		a := r.callers[0].post(r.addresses[0], piece[0], piece[1], "")
		require.NoError(r.t, a.err)
		require.Equal(r.t, http.StatusCreated, a.status, string(a.body))
	}

	for i := range r.callers {
		enrol(r.t, r.callers[0], r.addresses[0], r.customer(i))
		a := r.callers[0].post(r.addresses[0], "/events", fmt.Sprintf(`{"customer":%q,"action":"point_add","data":{"points":1000}}`, r.customer(i)), "")
		require.Equal(r.t, http.StatusOK, a.status, string(a.body))
	}

	for _, address := range r.addresses { // every node knows of the last change
		require.Eventually(r.t, func() bool {
			a := r.callers[0].post(address, "/events/preview", `{"customer":"rush-0","action":"visit","data":{"url":"https://shop.example.com/"}}`, "")
			return bytes.Contains(a.body, []byte(`"campaign":"gift"`))
		}, patience, 10*time.Millisecond)
	}
}

func (r *rush) customer(i int) string { return fmt.Sprint("rush-", i) }

// all lets every client send n requests, as fast as it can, all beginning at once.
func (r *rush) all(n int, path func(client, k int) string, body func(client, k int) string) []answer {
	answers, gate := make([]answer, n*len(r.callers)), make(chan struct{})
	var wait sync.WaitGroup
	for i, c := range r.callers {
		wait.Go(func() {
			<-gate
			for k := range n {
				answers[i*n+k] = c.post(r.addresses[i%len(r.addresses)], path(i, k), body(i, k), "")
			}
		})
	}

	close(gate)
	wait.Wait()
	for _, a := range answers {
		require.NoError(r.t, a.err)
	}

	return answers
}

func (r *rush) events(n int, body func(client, k int) string) []answer {
	return r.all(n, func(int, int) string { return "/events" }, body)
}

func (r *rush) claims(t *testing.T, reward string, n int) (won, lost []answer) {
	answers := r.all(n, func(i, _ int) string {
		return "/customers/" + r.customer(i) + "/activities/rewards/" + reward + "/claim"
	},
		func(int, int) string { return "" })
	won, lost = pick(answers, http.StatusOK), pick(answers, http.StatusUnprocessableEntity)
	require.Equal(t, len(answers), len(won)+len(lost), "every client is answered by the rules")
	return won, lost
}

// refusedWith requires a code of all answers.
func refusedWith(t *testing.T, code int, lost []answer) {
	t.Helper()
	for _, a := range lost {
		require.Equal(t, code, a.code(), string(a.body))
	}
}

func (r *rush) oneCode(t *testing.T) {
	for i := range rounds(t, 10) {
		answers := r.events(1, func(client, _ int) string {
			return fmt.Sprintf(`{"customer":%q,"action":"coupon_create","data":{"code":"SAME-%d","value":1}}`, r.customer(client), i)
		})
		require.Len(t, pick(answers, http.StatusOK), 1)
		lost := pick(answers, http.StatusConflict)
		require.Len(t, lost, connections-1)
		refusedWith(t, 190033, lost)
	}
}

// oneCoupon has all clients redeem a coupon without a holder.
func (r *rush) oneCoupon(t *testing.T) {
	for i := range rounds(t, 10) {
		for _, event := range []string{
			`{"customer":"rush-0","action":"coupon_create","data":{"code":"USE-%d","value":1}}`,
			`{"customer":"rush-0","action":"unassign_coupon","data":{"code":"USE-%d"}}`,
		} {
			a := r.callers[0].post(r.addresses[0], "/events", fmt.Sprintf(event, i), "")
			require.Equal(t, http.StatusOK, a.status, string(a.body))
		}

		answers := r.events(1, func(client, _ int) string {
			return fmt.Sprintf(`{"customer":%q,"action":"coupon_redeem","data":{"code":"USE-%d"}}`, r.customer(client), i)
		})
		require.Len(t, pick(answers, http.StatusOK), 1)
		lost := pick(answers, http.StatusNotFound)
		require.Len(t, lost, connections-1)
		refusedWith(t, 1601, lost)
	}
}

func (r *rush) lastOfStock(t *testing.T) {
	won, lost := r.claims(t, "mug", 2)
	require.Len(t, won, lastTen)
	refusedWith(t, 120212, lost)
}

func (r *rush) poolCodes(t *testing.T) {
	won, lost := r.claims(t, "code", 4)
	require.Len(t, codesOf(t, won), poolSize, "each code is handed out, and once")
	require.Len(t, won, poolSize)
	refusedWith(t, 120212, lost)
}

func (r *rush) generatedCodes(t *testing.T) {
	won, lost := r.claims(t, "made", rounds(t, 10))
	require.Empty(t, lost)
	require.Len(t, codesOf(t, won), len(won), "no code twice")
}

// codesOf are the different codes that were given.
func codesOf(t *testing.T, won []answer) map[string]bool {
	t.Helper()
	codes := map[string]bool{}
	for _, a := range won {
		var claim struct{ Coupon struct{ Code string } }
		require.NoError(t, json.Unmarshal(a.body, &claim))
		require.NotEmpty(t, claim.Coupon.Code)
		codes[claim.Coupon.Code] = true
	}
	return codes
}

func (r *rush) campaignTotal(t *testing.T) {
	answers := r.events(4, func(client, _ int) string {
		return fmt.Sprintf(`{"customer":%q,"action":"visit","data":{"url":"https://shop.example.com/"}}`, r.customer(client))
	})
	require.Len(t, pick(answers, http.StatusOK), 4*connections, "whoever comes late has visited too")
	given := 0
	for _, a := range answers {
		var outcome struct {
			Events []struct{ Points int64 }
		}
		require.NoError(t, json.Unmarshal(a.body, &outcome))
		for _, e := range outcome.Events {
			if e.Points == 7 {
				given++
			}
		}
	}

	require.Equal(t, mostGifts, given)
}
