package loyalty_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
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
	for _, name := range customers { // most events are about members
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
