package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestChainSeesEveryChange: whatever is changed in the journal while its guards are
// away, so well that all sums still hold, leads to another head.
func TestChainSeesEveryChange(t *testing.T) {
	for _, c := range []struct{ name, damage, broken string }{
		{"an event's text", `UPDATE events SET data = '{"reason":"x"}' WHERE id = {ada gift}`, "I12"},
		{"an event's date", `UPDATE events SET at = at + 1 WHERE id = {ada gift}`, "I12"},
		{"an event's points", `UPDATE events SET points = 7 WHERE id = {ada gift}`, "I12"},
		{"an event's parent", `UPDATE events SET parent = {ada gift} WHERE id = {ada spent}`, "I12"},
		{"an event's action", `UPDATE events SET action = 'visit' WHERE id = {ada joined}`, "I12"},
		{"an event's effects", `UPDATE events SET effects = '{"x":1}' WHERE id = {ada joined}`, "I12"},
		{"an event's sender", `UPDATE events SET sent_by = 'LKOTHER' WHERE id = {ada gift}`, "I12"},
		{"an event's sender gone", `UPDATE events SET sent_by = NULL WHERE id = {ada gift}`, "I12"},
		{"an event gone", `DELETE FROM events WHERE id = {ada joined}`, "I12"},
		{"the order of an event's postings", `UPDATE postings SET seq = seq + 5 WHERE event_id = {ada spent}`, "I12"},
		{"the head", `UPDATE balances SET chain = {bytes} WHERE customer_id = {ada}`, "I12"},
		{"nothing", `UPDATE balances SET version = version WHERE customer_id = {ada}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			storetest.EachURL(t, func(t *testing.T, url string) {
				l := newLedger(t, url)
				l.raw.SetMaxOpenConns(1) // the pragma of damage is the connection's
				l.damage(t, c.damage)
				checks := verify(t, l.store)
				require.Equal(t, c.broken, withVerdict(checks, store.LedgerBroken), "%+v", checks)
				if c.broken != "" {
					require.True(t, names(checks, "ada", "the journal is not the one that was written"), "%+v", checks["I12"])
				}
			})
		})
	}
}

// TestChainGoesOn: a chain that begins behind events of the past, as in a database
// from before there were chains, holds from there on.
func TestChainGoesOn(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		l := newLedger(t, url)
		l.exec(t, `UPDATE balances SET chain = NULL, chain_from = NULL`)
		require.Empty(t, withVerdict(verify(t, l.store), store.LedgerBroken))
		l.ada.earnLater(l.store, 5)
		require.Empty(t, withVerdict(verify(t, l.store), store.LedgerBroken))
		l.raw.SetMaxOpenConns(1)
		l.damage(t, `UPDATE events SET points = 7 WHERE id = {ada gift}`)
		require.Empty(t, withVerdict(verify(t, l.store), store.LedgerBroken), "before the chain")
		l.damage(t, `UPDATE events SET points = 7 WHERE id = {ada later}`)
		require.Equal(t, "I12", withVerdict(verify(t, l.store), store.LedgerBroken))
	})
}

// TestAnchors: an attacker that changes the journal and every hash in the database is revealed by the digest kept
// elsewhere.
func TestAnchors(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		l := newLedger(t, url)
		first, err := l.store.Anchor(t.Context(), ledgerStart)
		require.NoError(t, err)
		require.EqualValues(t, 1, first.Number)
		require.EqualValues(t, 3, first.Customers)
		l.ada.earnLater(l.store, 5)
		require.Empty(t, withVerdict(verify(t, l.store), store.LedgerBroken), "events after an anchor are no damage")
		second, err := l.store.Anchor(t.Context(), ledgerStart.Add(time.Hour))
		require.NoError(t, err)
		require.EqualValues(t, 2, second.Number)
		require.NotEqual(t, first.Digest, second.Digest)
		listed, err := l.store.Anchors(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, second.Digest, listed[0].Digest)

		l.exec(t, `UPDATE anchored SET head = {bytes} WHERE customer_id = {ada}`)
		checks := verify(t, l.store)
		require.Equal(t, "I12", withVerdict(checks, store.LedgerBroken))
		require.Len(t, checks["I12"].Findings, 2, "the customer, and the anchor: %+v", checks["I12"])
	})
}

// TestAnchorInTheMiddle: whatever becomes of a run in the middle of an anchor, the last anchor
// and its heads are as they were, and the next one is made.
func TestAnchorInTheMiddle(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		l := newLedger(t, url)
		var meanwhile func()
		slow := storetest.OpenWith(t, store.Options{URL: url, At: func(p store.Point) {
			if p == store.HeadsNoted {
				meanwhile()
			}
		}})

		holds := func() {
			t.Helper()
			checks := verify(t, l.store)
			require.Empty(t, withVerdict(checks, store.LedgerBroken), "%+v", checks["I12"])
		}

		anchors := func(n int) {
			t.Helper()
			list, err := l.store.Anchors(t.Context(), 10)
			require.NoError(t, err)
			require.Len(t, list, n)
			holds()
		}

		// ends has a run end with its context when it has noted the heads.
		ends := func() {
			t.Helper()
			ctx, end := context.WithCancel(t.Context())
			meanwhile = func() { holds(); end() }
			_, err := slow.Anchor(ctx, ledgerStart)
			require.ErrorIs(t, err, context.Canceled)
		}

		ends()
		anchors(0) // not even the first one
		_, err := l.store.Anchor(t.Context(), ledgerStart)
		require.NoError(t, err)
		anchors(1)
		for range 2 { // the heads of the second run are written over those of the first
			l.ada.earnLater(l.store, 5)
			ends()
			anchors(1)
		}

		// A run that sleeps while another one makes the anchor comes too late.
		meanwhile = func() {
			l.cili.earnLater(l.store, 5)
			_, err := l.store.Anchor(t.Context(), ledgerStart)
			require.NoError(t, err)
			anchors(2)
		}

		_, err = slow.Anchor(t.Context(), ledgerStart)
		require.Error(t, err)
		anchors(2)
		_, err = l.store.Anchor(t.Context(), ledgerStart)
		require.NoError(t, err)
		anchors(3)
		l.exec(t, `UPDATE anchored SET kept_head = {bytes}, number = 9 WHERE customer_id = {ada}`)
		require.Equal(t, "I12", withVerdict(verify(t, l.store), store.LedgerBroken), "what the last anchor found is looked at wherever it stands")
	})
}

// earnLater adds an event called later to a stored customer.
func (m *member) earnLater(s *store.Store, n int64) {
	m.t.Helper()
	needs := loyalty.Needs{Customers: []loyalty.CustomerNeeds{{ID: m.c.ID}}, Now: m.now}
	require.NoError(m.t, s.Within(m.t.Context(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		before := l.Customers[m.c.ID].Customer
		book := points.NewBook(before.Figures, time.Time{}, time.UTC, nil)
		id := m.event("later", "point_add", "")
		_, err := book.Credit(id, n, points.Lot{EarnedAt: m.now})
		require.NoError(m.t, err)
		after := before
		after.Figures, after.LastEvent = book.Figures, id
		w := &loyalty.Writes{
			Customers: []loyalty.Changed[loyalty.Customer]{{Before: before, After: after}},
			Events:    m.writes.Events[len(m.writes.Events)-1:],
			NewLots:   []loyalty.CustomerLot{{Customer: m.c.ID, Lot: *book.Lots()[0]}},
		}

		for _, p := range book.Postings {
			w.Postings = append(w.Postings, loyalty.CustomerPosting{Customer: m.c.ID, Posting: p})
		}

		return w, nil
	}))
}
