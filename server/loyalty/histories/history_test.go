package histories_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// histories is how often a random test is run where its own number does not say
// more; the variable LOYALTY_TORTURE raises it.
func histories(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("LOYALTY_TORTURE"), "12"))
	require.NoError(t, err, "LOYALTY_TORTURE")
	return n
}

// shares are how many histories of all actions each database is given: in the
// quick suite, and for each one of LOYALTY_TORTURE, of which 500 make 200,000.
var shares = map[string]struct{ quick, torture int }{"sqlite": {280, 396}, "postgres": {16, 4}}

// TestHistories submits random histories of all actions to the engine and holds
// it against the plain model after every step (R8). Where the limit of time ended the
// drawing early, so that an action was never recorded, more are drawn.
func TestHistories(t *testing.T) {
	const workers, rounds = 2, 20
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	reached := newTally(everyAction)
	for round := range rounds {
		if round > 0 && len(reached.missing()) == 0 {
			break
		}

		for _, d := range storetest.All {
			n := shares[d.Name].quick
			if os.Getenv("LOYALTY_TORTURE") != "" {
				n = shares[d.Name].torture * histories(t)
			}

			t.Run(d.Name, func(t *testing.T) {
				d.Migrated(t) // skips where there is no server
				loyaltytest.SetFlag(t, "rapid.checks", strconv.Itoa(n/workers))
				loyaltytest.SetFlag(t, "rapid.steps", "18")
				for i := range workers {
					t.Run(strconv.Itoa(i), func(t *testing.T) {
						t.Parallel()
						tellHistories(t, newRooms(t, d), workers*round+i, reached)
					})
				}
			})
		}
	}

	reached.report(t)
}

// TestCouponHistories does so with fewer and longer histories in which most is about
// coupons, and purchases wait, so that uses are given back (R8).
func TestCouponHistories(t *testing.T) {
	reached := newTally(mostlyCoupons)
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			d.Migrated(t) // skips where there is no server
			loyaltytest.SetFlag(t, "rapid.checks", strconv.Itoa(histories(t)))
			loyaltytest.SetFlag(t, "rapid.steps", "60")
			tellHistories(t, newRooms(t, d), 0, reached)
		})
	}
	reached.report(t)
}

// tellHistories is the work of one worker, who is given the same seed as the others
// where one was chosen, and tells different histories all the same.
func tellHistories(t *testing.T, rooms *rooms, worker int, reached *tally) {
	rapid.Check(t, func(r *rapid.T) {
		for range worker {
			rapid.Uint64().Draw(r, "worker")
		}
		history(r, rooms, reached)
	})
}

// chronicle is a history being written: engine, store and model.
type chronicle struct {
	engine    *engine.Engine // that decides now
	nodes     []*engine.Engine
	room      *room
	world     *plainWorld
	now       time.Time
	programme *programme.Programme
	things    things // of the programme
	zone      string

	ids      []loyalty.ID       // of customers, by the model's index
	recorded map[int]loyalty.ID // the events of claims and held events, by the model's number
	made     map[string]string  // what the platform made up, by the model's name for it
	seen     map[int]*seen
	keys     int
	answered []loyalty.Submission // under a key, accepted or refused
	reached  *tally
}

func (h *chronicle) Programme() *programme.Programme { return h.programme }

// own is a name as this history uses it: histories that share a database differ in
// all their names.
func (h *chronicle) own(name string) string {
	if made, ok := h.made[name]; ok {
		return made
	}
	return h.room.prefix + name
}

func (h *chronicle) ownOr(name string) string {
	if name == "" {
		return ""
	}
	return h.own(name)
}

func history(t *rapid.T, rooms *rooms, reached *tally) {
	h := &chronicle{
		room: rooms.enter(t), reached: reached, now: loyaltytest.ShopOpens.AddDate(0, 0, dice(t, "opens", 33)-3),
		recorded: map[int]loyalty.ID{}, made: map[string]string{}, seen: map[int]*seen{},
	}

	rules, zone := drawRules(t, h.now)
	h.zone, h.world, h.things = zone, newPlainWorld(rules, h.now), rules.things(h.own)
	t.Logf("in %s: %s", zone, marshaled(h.things))
	h.upload(t)
	h.configure(t)
	h.begin(t, pick(t, "nodes", [][]int{{0}, {-1}, {0, 0}})...)
	defer h.close()
	for _, name := range customers[:2+dice(t, "members", 3)] { // most events are about members
		h.single(t, said{customer: name, action: "opt_in", email: name + "@shop.test"})
	}

	t.Repeat(map[string]func(*rapid.T){
		"event": h.event, "event 2": h.event, "event 3": h.event, "event 4": h.event, "event 5": h.event, "event 6": h.event, "event 7": h.event, "event 8": h.event,
		"bulk": h.bulk, "again": h.again, "pass": h.pass, "pass 2": h.pass, "job": h.job, "configure": h.configure,
	})

	h.end(t)
	if h.room.proves {
		h.room.prove(t)
	}
}

// begin starts an engine for each of kept, the memory it has for customers (see EngineOptions). One without any loads for
// each event what it needs, as one does that has just started or whose customers are too many; one with some decides by
// what it wrote before. Two of them decide in turn, and each finds what it kept out of date.
func (h *chronicle) begin(t require.TestingT, kept ...int) {
	v, err := loyaltytest.Vocabulary()
	require.NoError(t, err)
	for _, bytes := range kept {
		e, err := engine.NewEngine(engine.EngineOptions{
			Store: h.room.DB, Contract: v, Programmes: h, Rules: action.All(), Features: action.Features(), Clock: func() time.Time { return h.now }, Kept: bytes,
		})
		require.NoError(t, err)
		h.nodes = append(h.nodes, e)
	}
	h.engine = h.nodes[0]
}

func (h *chronicle) close() {
	for _, e := range h.nodes {
		e.Close()
	}
}

// upload fills the pool.
func (h *chronicle) upload(t require.TestingT) {
	var coupons []loyalty.Coupon
	last := loyalty.ID{}
	for _, code := range h.world.rules.codes {
		last = loyalty.NewID(h.now, last)
		coupons = append(coupons, loyalty.Coupon{
			ID: last, Code: h.own(code), State: loyalty.CouponCreated, Pool: h.own("few"), CreatedAt: h.now, Type: loyalty.CouponAmount, Value: 50_000, Currency: "EUR",
		})
	}
	require.NoError(t, h.room.DB.Change(context.Background(), func(tx loyalty.AdminTx) error {
		taken, err := tx.AddCoupons(coupons)
		require.Empty(t, taken)
		return err
	}))
}

func (h *chronicle) configure(t *rapid.T) {
	m := h.world.rules.configure(t)
	if h.reached.about.pending {
		h.world.rules.pending, h.world.rules.heldActions = programme.AcceptManual, nil
		m = h.world.rules.modules()
	}
	t.Logf("configured %s", marshaled(m))
	h.programmed(t, m)
}

func (h *chronicle) programmed(t require.TestingT, m modules) {
	p, err := loyaltytest.CompileZoned(m, h.things, h.zone)
	require.NoError(t, err)
	h.programme = p
}

// end lets everything come due, and looks at all customers.
func (h *chronicle) end(t require.TestingT) {
	h.now = h.now.AddDate(3, 0, 0)
	h.settle(t)
	h.compareAll(t)
	for i, id := range h.ids {
		if h.world.all[i].status != loyalty.Merged {
			storetest.AddUp(t, h.room.DB, id)
		}
	}
}

func (h *chronicle) event(t *rapid.T) { h.single(t, h.draw(t)) }

// tick moves the clock on, so that the ids of events tell their order.
func (h *chronicle) tick() {
	h.now = h.now.Add(time.Millisecond)
	h.world.now = h.now
	h.engine = h.nodes[h.now.UnixMilli()/2%int64(len(h.nodes))] // two for each, so that it could decide by what it kept
}

// logging is a test that can say what it does.
type logging interface {
	require.TestingT
	Logf(format string, args ...any)
}

// expected is what the model says of a submission.
type expected struct {
	customer *plainCustomer
	told     []*told
	err      error
}

func (h *chronicle) expect(e said) expected {
	c, err := h.world.submit(e)
	return expected{c, h.world.told, err}
}

// single plays one event and compares all customers that it could concern.
func (h *chronicle) single(t logging, e said) {
	h.tick()
	sub := h.submission(t, e)
	if h.keys++; h.keys%3 == 0 {
		sub = loyaltytest.Keyed(sub, fmt.Sprint(h.room.prefix, "k", h.keys))
		h.answered = append(h.answered, sub)
	}

	t.Logf("%s %s %s %s", h.now.Format(time.RFC3339Nano), sub.Customer, sub.Action, sub.Data)
	want := h.expect(e)
	known := len(h.ids)
	tried, refused := h.engine.Preview(context.Background(), sub)
	o, err := h.engine.Submit(context.Background(), sub)
	h.judge(t, sub, want, loyalty.Result{Outcome: o, Err: err})
	h.foretold(t, sub, loyalty.Result{Outcome: tried, Err: refused}, loyalty.Result{Outcome: o, Err: err}, known)
	h.compare(t)
}

// foretold holds that a preview told what then happened. Customers that the event began, except a given number, have
// other ids in it.
func (h *chronicle) foretold(t require.TestingT, sub loyalty.Submission, tried, got loyalty.Result, known int) {
	told := func(r loyalty.Result) (list []string) {
		for i, line := range h.read(r.Outcome.Events) {
			if at := slices.Index(h.ids, r.Outcome.Events[i].Customer); at < 0 || at >= known {
				_, line, _ = strings.Cut(line, " ")
			}
			list = append(list, line)
		}
		return list
	}

	if got.Err != nil {
		require.EqualError(t, tried.Err, got.Err.Error(), "the preview of %s %s %s", sub.Customer, sub.Action, sub.Data)
		return
	}

	require.NoError(t, tried.Err, "the preview of %s %s %s", sub.Customer, sub.Action, sub.Data)
	require.Equal(t, told(got), told(tried), "the preview of %s %s %s", sub.Customer, sub.Action, sub.Data)
	require.Equal(t, got.Outcome.Customer.Figures, tried.Outcome.Customer.Figures, "the preview of %s %s %s", sub.Customer, sub.Action, sub.Data)
	require.Equal(t, got.Outcome.Customer.Status, tried.Outcome.Customer.Status)
}

// judge holds one result against the model's.
func (h *chronicle) judge(t require.TestingT, sub loyalty.Submission, want expected, got loyalty.Result) {
	h.reached.count(sub.Action, want.err)
	if want.err != nil {
		require.ErrorIs(t, got.Err, want.err, "%s %s %s", sub.Customer, sub.Action, sub.Data)
		return
	}
	require.NoError(t, got.Err, "%s %s %s", sub.Customer, sub.Action, sub.Data)
	h.learn(want, got.Outcome)
	require.Equal(t, h.written(want.told), h.read(got.Outcome.Events), "%s %s %s", sub.Customer, sub.Action, sub.Data)
	require.Equal(t, h.ids[want.customer.index], got.Outcome.Customer.ID)
	require.Equal(t, want.customer.figures(), got.Outcome.Customer.Figures, "%s %s %s", sub.Customer, sub.Action, sub.Data)
	require.Equal(t, want.customer.status, got.Outcome.Customer.Status)
}

// learn notes what the platform made up: ids and codes.
func (h *chronicle) learn(want expected, got loyalty.Outcome) {
	for i, t := range want.told {
		if i == len(got.Events) {
			return
		}

		e := got.Events[i]
		if t.customer == len(h.ids) {
			h.ids = append(h.ids, e.Customer)
		}

		for _, c := range h.world.all {
			if l := c.lot(t.lot); t.lot > 0 && l.serial > 0 {
				l.id = e.ID
			}
			for k := range c.waiting {
				if c.waiting[k].serial == t.waiting {
					c.waiting[k].id = e.ID
				}
			}
		}

		if t.claim > 0 {
			h.recorded[t.claim] = e.ID
		}
		if t.waiting > 0 {
			h.recorded[t.waiting] = e.ID
		}

		if t.made != "" && t.action == "coupon_receive" {
			h.made[t.made] = "" // its name is not in the events: compare reads it
		} else if t.made != "" && e.Effects != nil && len(e.Effects.Coupons) == 1 {
			h.made[t.made] = e.Effects.Coupons[0].Code
		}
	}
}

// written and read show events alike: whose they are, the action, and the points.
func (h *chronicle) written(all []*told) (list []string) {
	for _, t := range all {
		list = append(list, fmt.Sprintf("%d %s %d", t.customer, t.action, t.points))
	}
	return list
}

func (h *chronicle) read(all []loyalty.Event) (list []string) {
	for _, e := range all {
		var n int64
		if e.Points != nil {
			n = *e.Points
		}
		list = append(list, fmt.Sprintf("%d %s %d", slices.Index(h.ids, e.Customer), e.Action, n))
	}
	return list
}

// bulk plays some events in one transaction. At most one of them may begin a customer: of two that begin at one instant
// it is undefined which is older.
func (h *chronicle) bulk(t *rapid.T) {
	h.tick()
	begun := false
	var all []said
	for range 2 + dice(t, "events", 5) {
		e := h.draw(t)
		begins := e.guest || e.email != "" || e.action == "subscribe" || e.action == "profile"
		if e.action == "merge" || (begins && begun) {
			continue
		}
		begun = begun || begins
		all = append(all, e)
	}
	h.together(t, all)
}

// together plays events in one transaction.
func (h *chronicle) together(t logging, all []said) {
	var subs []loyalty.Submission
	var wants []expected
	for _, e := range all {
		sub := h.submission(t, e)
		t.Logf("%s bulk %s %s %s", h.now.Format(time.RFC3339Nano), sub.Customer, sub.Action, sub.Data)
		subs, wants = append(subs, sub), append(wants, h.expect(e))
	}
	for i, r := range h.engine.SubmitAll(context.Background(), subs) {
		h.judge(t, subs[i], wants[i], r)
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
	h.now = h.now.Add(time.Duration(1+dice(t, "hours", 40)) * time.Hour)
	h.world.now = h.now
	h.answered = nil
}

func (h *chronicle) job(t *rapid.T) {
	t.Logf("%s job", h.now.Format(time.RFC3339Nano))
	h.settle(t)
}

// settle applies what is due for all customers, until nothing is. What one customer is due may decide what another one
// gets, so where there are several they are settled in a known order. Where the rules trigger each other without end,
// it stays due.
func (h *chronicle) settle(t require.TestingT) {
	h.tick()
	stuck := map[int]bool{}
	for due := h.due(stuck); len(due) > 0; due = h.due(stuck) {
		for _, i := range due {
			err := h.world.comeDue(i)
			switch {
			case err != nil:
				require.ErrorIs(t, h.engine.Settle(context.Background(), h.ids[i]), err)
				stuck[i] = true
			case len(due) > 1 || len(stuck) > 0 || h.world.all[i].referrer >= 0 || h.othersDue(t):
				require.NoError(t, h.engine.Settle(context.Background(), h.ids[i]))
			default:
				require.NoError(t, h.engine.SettleDue(context.Background()))
			}
		}
	}

	h.compare(t)
}

// othersDue says whether something is due for a customer of an earlier history of this database. The job would settle
// that customer by this history's rules, and count it among its own.
func (h *chronicle) othersDue(t require.TestingT) bool {
	due, err := h.room.DB.Due(context.Background(), h.now, 100)
	require.NoError(t, err)
	return slices.ContainsFunc(due, func(id loyalty.ID) bool { return !slices.Contains(h.ids, id) })
}

// due are the customers with due effects that can be applied.
func (h *chronicle) due(stuck map[int]bool) (list []int) {
	for i, c := range h.world.all {
		if d := h.world.due(c); !stuck[i] && !d.at.IsZero() && !d.at.After(h.now) {
			list = append(list, i)
		}
	}
	return list
}
