package storetest

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// guardsHold writes each kind of change once as it was loaded, and once from an outdated state with an event beside
// it.
func guardsHold(t *testing.T, b *bench) {
	c, w := b.full(t, "c-1")
	lot, tx, hold := w.NewLots[0], w.NewTransactions[0], w.NewReservations[0]
	newLot, newTx, newHold, profile, figures := lot, tx, hold, c, c
	newLot.Remaining, newLot.Spent = 0, 60
	newTx.State, newTx.UpdatedAt, newTx.Detail.Personal = loyalty.Accepted, b.now.Add(time.Second), []byte{2}
	newHold.Hold = []points.Portion{{Lot: lot.ID, Points: 15}}
	profile.Status, profile.Profile.FirstName, profile.Profile.Labels = loyalty.Suspended, "Éva", nil
	figures.Figures.Score, figures.DueAt = 101, b.now.Add(time.Hour)
	cases := map[string]struct {
		change loyalty.Writes
		check  func(*loyalty.Loading)
	}{
		"lot": {loyalty.Writes{Lots: []changedLot{{Before: lot, After: newLot}}},
			func(l *loyalty.Loading) { require.Equal(t, newLot.Lot, l.Lots[0]) }},
		"transaction": {loyalty.Writes{Transactions: []loyalty.Changed[loyalty.Transaction]{{Before: tx, After: newTx}}},
			func(l *loyalty.Loading) { require.Equal(t, newTx, l.Transactions["t-1"]) }},
		"reservation": {loyalty.Writes{Reservations: []loyalty.Changed[loyalty.Reservation]{{Before: hold, After: newHold}}},
			func(l *loyalty.Loading) { require.Equal(t, newHold, l.Reservations["t-1"]) }},
		"released reservation": {loyalty.Writes{Reservations: []loyalty.Changed[loyalty.Reservation]{{Before: newHold, After: loyalty.Reservation{Customer: c.ID, Transaction: "t-1"}}}},
			func(l *loyalty.Loading) { require.Empty(t, l.Reservations) }},
		"figures": {loyalty.Writes{Customers: []changedCustomer{{Before: c, After: figures}}},
			func(l *loyalty.Loading) {
				want := figures
				want.Version = 2
				require.Equal(t, want, unchained(l.Customer))
			}},
		"freed name": {loyalty.Writes{Freed: w.Claims[2:]},
			func(*loyalty.Loading) { require.Equal(t, 2, b.count(t, "names")) }},
	}

	for _, kind := range []string{"lot", "transaction", "reservation", "released reservation", "figures", "freed name"} {
		change := cases[kind].change
		change.Events = []loyalty.Event{b.event(c)}
		for i := range change.Customers {
			change.Customers[i].Before.Chain = loyalty.Chain{Head: []byte("of another history")}
			require.ErrorIs(t, b.put(change), loyalty.ErrBatchConflict, "a version says nothing of where it comes from")
			change.Customers[i].Before = b.chained(t, c)
		}

		require.NoError(t, b.put(change), kind)
		cases[kind].check(b.reload(t, c.ID))
		before := b.count(t, "events")
		change.Events = []loyalty.Event{b.event(c)}
		require.ErrorIs(t, b.put(change), loyalty.ErrBatchConflict, kind)
		require.Equal(t, before, b.count(t, "events"), "%s: a refused batch leaves nothing", kind)
		cases[kind].check(b.reload(t, c.ID))
	}

	statusGuard(t, b, figures, profile)
	versionGuard(t, b, c.ID)
}

// versionGuard writes figures twice from one state, without an event. The chain does not grow then, so only the
// version shows that the second batch came too late.
func versionGuard(t *testing.T, b *bench, id loyalty.ID) {
	loaded := b.reload(t, id).Customer
	later := loaded
	later.DueAt = b.now.Add(3 * time.Hour)
	change := loyalty.Writes{Customers: []changedCustomer{{Before: loaded, After: later}}}
	require.NoError(t, b.put(change))
	written := b.reload(t, id).Customer
	require.Equal(t, loaded.Chain, written.Chain, "no event, no link")
	require.ErrorIs(t, b.put(change), loyalty.ErrBatchConflict)
	require.Equal(t, written, b.reload(t, id).Customer)
}

// chained is a customer with the stored head of their chain.
func (b *bench) chained(t *testing.T, c loyalty.Customer) loyalty.Customer {
	t.Helper()
	c.Chain = b.reload(t, c.ID).Customer.Chain
	return c
}

// eachGuard checks that every compared value matters: a row that differs from the loaded one in that value alone is a
// conflict.
func eachGuard(t *testing.T, b *bench) {
	c, w := b.full(t, "c-1")
	refused := func(what string, change loyalty.Writes) {
		t.Helper()
		change.Events = []loyalty.Event{b.event(c)}
		require.ErrorIs(t, b.put(change), loyalty.ErrBatchConflict, what)
	}

	for what, differ := range map[string]func(*loyalty.CustomerLot){
		"remaining": func(l *loyalty.CustomerLot) { l.Remaining++ },
		"reserved":  func(l *loyalty.CustomerLot) { l.Reserved++ },
		"spent":     func(l *loyalty.CustomerLot) { l.Spent++ }, "expired": func(l *loyalty.CustomerLot) { l.Expired++ },
	} {
		before := w.NewLots[0]
		differ(&before)
		refused("a lot's "+what, loyalty.Writes{Lots: []changedLot{{Before: before, After: w.NewLots[0]}}})
	}

	for what, differ := range map[string]func(*loyalty.Transaction){
		"state":   func(t *loyalty.Transaction) { t.State = loyalty.Refunded },
		"refunds": func(t *loyalty.Transaction) { t.Refunded++ },
		"time":    func(t *loyalty.Transaction) { t.UpdatedAt = t.UpdatedAt.Add(time.Second) },
	} {
		before := w.NewTransactions[0]
		differ(&before)
		refused("a purchase's "+what,
			loyalty.Writes{Transactions: []loyalty.Changed[loyalty.Transaction]{{Before: before, After: w.NewTransactions[0]}}})
	}

	freed := w.Claims[2]
	freed.Owner = loyalty.NewID(b.now, loyalty.ID{})
	refused("the owner of a name", loyalty.Writes{Freed: []loyalty.Claim{freed}})
}

// statusGuard checks that the status is compared besides the version.
func statusGuard(t *testing.T, b *bench, loaded, profile loyalty.Customer) {
	t.Helper()
	loaded = b.chained(t, loaded)
	loaded.Version, profile.Version = 2, 2
	profile.Figures, profile.DueAt = loaded.Figures, loaded.DueAt
	require.NoError(t, b.put(loyalty.Writes{Customers: []changedCustomer{{Before: loaded, After: profile}}}))
	profile.Version = 3
	require.Equal(t, profile, unchained(b.reload(t, loaded.ID).Customer))
	stale, active := b.chained(t, profile), profile
	stale.Status, active.Status, active.Name = loyalty.Inactive, loyalty.Active, "c-9"
	require.ErrorIs(t, b.put(loyalty.Writes{Customers: []changedCustomer{{Before: stale, After: active}}}),
		loyalty.ErrBatchConflict)
	require.Equal(t, profile, unchained(b.reload(t, loaded.ID).Customer))
}

func claimsUnique(t *testing.T, b *bench) {
	c, w := b.full(t, "c-1")
	for kind, again := range map[string]loyalty.Writes{
		"name":        {Claims: []loyalty.Claim{{Name: customerName("c-2"), Owner: c.ID}, {Name: t1, Owner: c.ID}}},
		"customer":    {NewCustomers: w.NewCustomers},
		"event":       {Events: w.Events},
		"posting":     {Postings: w.Postings},
		"lot":         {NewLots: w.NewLots},
		"transaction": {NewTransactions: w.NewTransactions},
		"reservation": {NewReservations: w.NewReservations},
	} {
		if kind != "event" {
			again.Events = []loyalty.Event{b.event(c)}
		} else {
			again.Customers = []changedCustomer{{Before: c, After: c}}
		}
		require.ErrorIs(t, b.put(again), loyalty.ErrBatchConflict, kind)
	}

	require.Equal(t, []int{3, 1, 1}, []int{b.count(t, "names"), b.count(t, "customers"), b.count(t, "events")})
	require.Equal(t, int64(1), b.reload(t, c.ID).Customer.Version)
}

func workFails(t *testing.T, b *bench) {
	c, _ := b.full(t, "c-1")
	for _, locked := range []bool{false, true} {
		needs := loyalty.Needs{Now: b.now, Locked: locked, Customers: []loyalty.CustomerNeeds{{ID: c.ID}}}
		err := b.s.Within(context.Background(), needs, func(*loyalty.Loaded) (*loyalty.Writes, error) {
			return &loyalty.Writes{Events: []loyalty.Event{b.event(c)}}, errWork
		})
		require.Equal(t, errWork, err, "as it is")
		ctx, cancel := context.WithCancel(context.Background())
		err = b.s.Within(ctx, needs, func(*loyalty.Loaded) (*loyalty.Writes, error) {
			cancel()
			return &loyalty.Writes{Events: []loyalty.Event{b.event(c)}}, nil
		})

		require.ErrorIs(t, err, context.Canceled)
		require.Panics(t, func() {
			_ = b.s.Within(context.Background(), needs, func(*loyalty.Loaded) (*loyalty.Writes, error) { panic(errWork) })
		})
	}

	require.Equal(t, 1, b.count(t, "events"))
	require.NoError(t, b.put(loyalty.Writes{Events: []loyalty.Event{b.event(c)}}), "no lock is left behind")
}

func answersLive(t *testing.T, b *bench) {
	key := func(k string) loyalty.AnswerKey { return loyalty.AnswerKey{AccessKey: "ak", Key: k} }
	c := b.enrol(t, b.customer("c-1"))
	ours := loyalty.Answer{AnswerKey: key("ours"), Hash: [32]byte{1}, Status: 200, Body: []byte("in clear"), At: b.now}
	theirs := loyalty.Answer{AnswerKey: key("theirs"), Hash: [32]byte{2}, Status: 422, Body: []byte("sealed by the rules"),
		Customer: c.ID, At: b.now}
	load := func(now time.Time) map[loyalty.AnswerKey]loyalty.Answer {
		var out map[loyalty.AnswerKey]loyalty.Answer
		require.NoError(t, b.s.Within(context.Background(),
			loyalty.Needs{Now: now, Answers: []loyalty.AnswerKey{key("ours"), key("theirs"), key("none")}},
			func(l *loyalty.Loaded) (*loyalty.Writes, error) {
				out = l.Answers
				return &loyalty.Writes{}, nil
			}))
		return out
	}

	answers := []loyalty.Answer{theirs, ours}
	require.NoError(t, b.put(loyalty.Writes{Answers: answers}))
	require.Equal(t, []loyalty.Answer{theirs, ours}, answers, "what the caller still has to send is untouched")
	require.Equal(t, map[loyalty.AnswerKey]loyalty.Answer{ours.AnswerKey: ours, theirs.AnswerKey: theirs}, load(b.now))
	require.ErrorIs(t, b.put(loyalty.Writes{Answers: answers[:1]}), loyalty.ErrBatchConflict)
	var body []byte
	require.NoError(t, Raw(t, b.url).QueryRow(`SELECT body FROM answers WHERE status = 200`).Scan(&body))
	require.NotContains(t, string(body), "clear")

	later := b.now.Add(24 * time.Hour)
	require.Len(t, load(later.Add(-time.Millisecond)), 2)
	require.Empty(t, load(later), "after a day the key is free")
	ours.At, ours.Status = later, 201
	require.NoError(t, b.put(loyalty.Writes{Answers: []loyalty.Answer{ours}}))
	require.Equal(t, map[loyalty.AnswerKey]loyalty.Answer{ours.AnswerKey: ours}, load(later))
}

func optOut(t *testing.T, b *bench) {
	c, w := b.full(t, "canary-name")
	gone := c
	gone.Status, gone.Name, gone.Profile, gone.Key = loyalty.OptedOut, "hash", loyalty.Profile{Handler: "other hash"}, nil
	require.NoError(t, b.put(loyalty.Writes{
		Customers: []changedCustomer{{Before: b.chained(t, c), After: gone}}, DestroyKeys: []loyalty.ID{c.ID},
		Freed: w.Claims[1:], Claims: []loyalty.Claim{{Name: customerName("hash"), Owner: c.ID}},
		Events: []loyalty.Event{b.event(c)},
	}))

	require.Equal(t, 0, b.count(t, "customer_keys"))
	gone.Version = 2
	require.Equal(t, gone, unchained(b.reload(t, c.ID).Customer))
	l := b.get(t, loyalty.CustomerNeeds{Ref: customerName("canary-name")},
		loyalty.CustomerNeeds{Ref: customerName("hash")})
	require.Equal(t, map[loyalty.Name]loyalty.ID{customerName("hash"): c.ID}, l.Names)
	b.enrol(t, b.customer("canary-other")) // the freed external id can be claimed again too
	require.NoError(t, b.put(loyalty.Writes{Claims: w.Claims[2:]}))
	if path, ok := strings.CutPrefix(b.url, "sqlite:"); ok {
		for _, file := range []string{path, path + "-wal"} {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.False(t, bytes.Contains(data, []byte("canary-name")), "%s still holds the name", file)
		}
	}
}

func changesHands(t *testing.T, b *bench) {
	guest, w := b.full(t, "guest")
	owner := b.enrol(t, b.customer("owner"))
	l := b.get(t, loyalty.CustomerNeeds{ID: owner.ID, Transactions: []string{"t-1"}})
	before := l.Customers[owner.ID].Transactions["t-1"]
	require.Equal(t, w.NewTransactions[0], before, "found by name, whoever owns it")
	after := before
	after.Customer, after.Holder = owner.ID, owner.ID
	require.NoError(t, b.put(loyalty.Writes{Moved: []loyalty.Changed[loyalty.Transaction]{{Before: before, After: after}},
		Freed: []loyalty.Claim{{Name: t1, Owner: guest.ID}}, Claims: []loyalty.Claim{{Name: t1, Owner: owner.ID}}}))
	l = b.get(t, loyalty.CustomerNeeds{ID: owner.ID, Transactions: []string{"t-1"}})
	require.Equal(t, after, l.Customers[owner.ID].Transactions["t-1"])
	require.Equal(t, owner.ID, l.Names[t1])
}

// races lets writers meet on a few customers: without locks each version has exactly one winner, with locks no batch
// loses.
func races(t *testing.T, b *bench) {
	const customers, writers, rounds = 3, 6, 15
	var all []loyalty.CustomerNeeds
	for i := range customers {
		c := b.enrol(t, b.customer(name(i)))
		all = append(all, loyalty.CustomerNeeds{ID: c.ID})
	}

	for _, locked := range []bool{false, true} {
		var won, lost atomic.Int64
		before := b.scores(t, all)
		var wg sync.WaitGroup
		for k := range writers {
			wg.Go(func() {
				for r := range rounds {
					needs := loyalty.Needs{Now: b.now, Locked: locked,
						Customers: []loyalty.CustomerNeeds{all[(k+r)%customers], all[(2*k+r+1)%customers]}}
					switch err := b.s.Within(context.Background(), needs, b.addOne); {
					case err == nil:
						won.Add(1)
					case !locked:
						lost.Add(1)
						require.ErrorIs(t, err, loyalty.ErrBatchConflict)
					default:
						require.NoError(t, err)
					}
				}
			})
		}

		wg.Wait()
		require.Positive(t, won.Load())
		require.Equal(t, int64(writers*rounds), won.Load()+lost.Load())
		require.Equal(t, int64(b.count(t, "events")), b.scores(t, all)-int64(customers)*100,
			"each point has its event, and none is lost")
		require.GreaterOrEqual(t, b.scores(t, all)-before, won.Load())
	}
}

func (b *bench) scores(t testing.TB, all []loyalty.CustomerNeeds) (sum int64) {
	for _, l := range b.get(t, all...).Customers {
		sum += l.Customer.Figures.Score
	}
	return sum
}

// addOne gives every customer of the batch a point.
func (b *bench) addOne(l *loyalty.Loaded) (*loyalty.Writes, error) {
	w := &loyalty.Writes{}
	for _, c := range l.Customers {
		after := c.Customer
		after.Figures.Score++
		w.Customers = append(w.Customers, changedCustomer{Before: c.Customer, After: after})
		w.Events = append(w.Events, b.event(after))
	}
	return w, nil
}
