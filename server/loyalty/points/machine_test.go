package points_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// plainLot and plainBook are the model: every operation moves one point at a
// time, choosing its lot anew for each.
type plainLot struct {
	id                                        points.ID
	transaction                               string
	expires, earned                           time.Time
	idle                                      int // days
	points, free, held, spent, expired, taken int64
}

type plainBook struct {
	active         time.Time
	lots           []*plainLot
	score, promise int64
	debt           int64
}

func (m *plainBook) expiry(l *plainLot) time.Time {
	if l.idle > 0 {
		return m.active.AddDate(0, 0, l.idle)
	}
	return l.expires
}

// less is the spending order of decisions.md, section 4.
func (m *plainBook) less(x, y *plainLot) bool {
	ex, ey := m.expiry(x), m.expiry(y)
	switch {
	case ex.IsZero() && !ey.IsZero():
		return false
	case !ex.IsZero() && ey.IsZero():
		return true
	case !ex.Equal(ey):
		return ex.Before(ey)
	case !x.earned.Equal(y.earned):
		return x.earned.Before(y.earned)
	}
	return bytes.Compare(x.id[:], y.id[:]) < 0
}

// best is the first lot in spending order that has what is asked for.
func (m *plainBook) best(has func(*plainLot) bool) *plainLot {
	var best *plainLot
	for _, l := range m.lots {
		if has(l) && (best == nil || m.less(l, best)) {
			best = l
		}
	}
	return best
}

func hasFree(l *plainLot) bool { return l.free > 0 }

func (m *plainBook) sum(of func(*plainLot) int64) int64 {
	var n int64
	for _, l := range m.lots {
		n += of(l)
	}
	return n
}

func (m *plainBook) figures() points.Figures {
	return points.Figures{
		Score: m.score, Debt: m.debt, Pending: m.promise,
		Spent:    m.sum(func(l *plainLot) int64 { return l.spent }),
		Reserved: m.sum(func(l *plainLot) int64 { return l.held }),
		Expired:  m.sum(func(l *plainLot) int64 { return l.expired }),
	}
}

func (m *plainBook) spendable() int64 {
	return m.sum(func(l *plainLot) int64 { return l.free }) - m.debt
}

func (m *plainBook) draw(n int64, into func(*plainLot)) (drawn []points.Portion, ok bool) {
	if n > m.spendable() {
		return nil, false
	}

	for range n {
		l := m.best(hasFree)
		l.free--
		into(l)
		if k := len(drawn); k > 0 && drawn[k-1].Lot == l.id {
			drawn[k-1].Points++
		} else {
			drawn = append(drawn, points.Portion{Lot: l.id, Points: 1})
		}
	}

	return drawn, true
}

func (m *plainBook) takeBack(transaction string, first []points.ID, n int64) {
	own := func(has func(*plainLot) bool) *plainLot {
		for _, id := range first {
			if l := m.best(func(l *plainLot) bool { return l.id == id && has(l) }); l != nil {
				return l
			}
		}
		return m.best(func(l *plainLot) bool { return transaction != "" && l.transaction == transaction && has(l) })
	}

	for range n {
		m.score--
		if l := own(hasFree); l != nil {
			l.free--
			l.taken++
		} else if l := own(func(l *plainLot) bool { return l.expired > 0 }); l != nil {
			l.expired--
			l.taken++
		} else if l := m.best(hasFree); l != nil {
			l.free--
			l.taken++
		} else {
			m.debt++
		}
	}
}

func (m *plainBook) settle() {
	for m.debt > 0 {
		l := m.best(hasFree)
		if l == nil {
			return
		}
		l.free--
		l.taken++
		m.debt--
	}
}

func (m *plainBook) lot(id points.ID) *plainLot {
	return m.lots[slices.IndexFunc(m.lots, func(l *plainLot) bool { return l.id == id })]
}

// bookMachine drives a Book and its model side by side.
type bookMachine struct {
	book   *points.Book
	model  plainBook
	holds  [][]points.Portion
	burns  [][]points.Portion
	now    time.Time
	events uint16
}

func (m *bookMachine) event() points.ID {
	m.events++
	return points.ID{13: byte(m.events >> 8), 14: byte(m.events), 15: 7}
}

func amount(t *rapid.T) int64 { return rapid.Int64Range(1, 25).Draw(t, "points") }

func (m *bookMachine) credit(t *rapid.T) {
	event, n := m.event(), amount(t)
	lot := points.Lot{
		Transaction: rapid.SampledFrom([]string{"", "T1", "T2"}).Draw(t, "transaction"),
		EarnedAt:    m.now.AddDate(0, 0, -rapid.IntRange(0, 3).Draw(t, "late")),
	}

	plain := &plainLot{id: event, transaction: lot.Transaction, earned: lot.EarnedAt, points: n, free: n}
	switch rapid.IntRange(0, 2).Draw(t, "expiry") {
	case 0:
		lot.ExpiresAt = lot.EarnedAt.AddDate(0, 0, rapid.IntRange(0, 6).Draw(t, "days"))
	case 1:
		lot.Idle = points.Period{Days: rapid.IntRange(1, 6).Draw(t, "idle")}
	}

	plain.expires, plain.idle = lot.ExpiresAt, lot.Idle.Days
	_, err := m.book.Credit(event, n, lot)
	require.NoError(t, err)
	m.model.lots = append(m.model.lots, plain)
	m.model.score += n
	m.settle(event)
}

func (m *bookMachine) settle(event points.ID) {
	m.book.Settle(event)
	m.model.settle()
}

func (m *bookMachine) take(t *rapid.T) {
	event, n := m.event(), amount(t)
	require.NoError(t, m.book.Take(event, n))
	m.model.takeBack("", nil, n)
	m.settle(event)
}

func (m *bookMachine) takeBack(t *rapid.T) {
	event, n := m.event(), amount(t)
	transaction := rapid.SampledFrom([]string{"", "T1", "T2"}).Draw(t, "transaction")
	var first []points.ID
	for range min(len(m.model.lots), rapid.IntRange(0, 3).Draw(t, "first")) {
		if l := rapid.SampledFrom(m.model.lots).Draw(t, "lot").id; !slices.Contains(first, l) {
			first = append(first, l)
		}
	}
	require.NoError(t, m.book.TakeBack(event, transaction, n, first...))
	m.model.takeBack(transaction, first, n)
	m.settle(event)
}

func (m *bookMachine) spend(t *rapid.T) {
	n := amount(t)
	want, ok := m.model.draw(n, func(l *plainLot) { l.spent++ })
	got, err := m.book.Spend(m.event(), n)
	if !ok {
		require.ErrorIs(t, err, points.ErrInsufficient)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, got)
	m.burns = append(m.burns, got)
}

func (m *bookMachine) reserve(t *rapid.T) {
	n := amount(t)
	want, ok := m.model.draw(n, func(l *plainLot) { l.held++ })
	got, err := m.book.Reserve(m.event(), n)
	if !ok {
		require.ErrorIs(t, err, points.ErrInsufficient)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, got)
	m.holds = append(m.holds, got)
}

func (m *bookMachine) unspend(t *rapid.T) {
	event, n := m.event(), amount(t)
	err := m.book.Unspend(event, n)
	if n > m.model.figures().Spent {
		require.ErrorIs(t, err, points.ErrNotSpent)
		return
	}
	require.NoError(t, err)
	m.free(n)
	m.settle(event)
}

// free gives back n spent points, the last in spending order first.
func (m *bookMachine) free(n int64) {
	for range n {
		var last *plainLot
		for _, l := range m.model.lots {
			if l.spent > 0 && (last == nil || m.model.less(last, l)) {
				last = l
			}
		}
		last.spent--
		last.free++
	}
}

// release frees part of a hold, and then spends, before debt is settled: what a
// checkout does with its own reservation.
func (m *bookMachine) release(t *rapid.T) {
	if len(m.holds) == 0 {
		t.Skip("nothing held")
	}

	event, i := m.event(), rapid.IntRange(0, len(m.holds)-1).Draw(t, "hold")
	hold := m.holds[i]
	n := rapid.Int64Range(0, points.Total(hold)).Draw(t, "points")
	left, err := m.book.Release(event, hold, n)
	require.NoError(t, err)
	require.Equal(t, points.Total(hold)-n, points.Total(left))
	for k := len(hold) - 1; k >= 0; k-- {
		part := min(n, hold[k].Points)
		m.model.lot(hold[k].Lot).held -= part
		m.model.lot(hold[k].Lot).free += part
		n -= part
	}

	m.holds[i] = left
	if rapid.Bool().Draw(t, "then spend") {
		m.spend(t)
	}

	m.settle(event)
}

func (m *bookMachine) capture(t *rapid.T) {
	if len(m.holds) == 0 {
		t.Skip("nothing held")
	}

	i := rapid.IntRange(0, len(m.holds)-1).Draw(t, "hold")
	hold := m.holds[i]
	require.NoError(t, m.book.Capture(m.event(), hold))
	for _, p := range hold {
		m.model.lot(p.Lot).held -= p.Points
		m.model.lot(p.Lot).spent += p.Points
	}

	if len(hold) > 0 && m.model.lot(hold[0].Lot).held < hold[0].Points {
		require.ErrorIs(t, m.book.Capture(m.event(), hold), points.ErrNotReserved, "never captured twice")
	}

	m.holds = slices.Delete(m.holds, i, i+1)
	m.burns = append(m.burns, hold)
}

func (m *bookMachine) restore(t *rapid.T) {
	if len(m.burns) == 0 {
		t.Skip("nothing burned")
	}

	event, i := m.event(), rapid.IntRange(0, len(m.burns)-1).Draw(t, "burn")
	burn := m.burns[i]
	n := rapid.Int64Range(0, m.book.Restorable(burn)).Draw(t, "points")
	left, err := m.book.Restore(event, burn, n)
	require.NoError(t, err)
	require.Equal(t, points.Total(burn)-n, points.Total(left))
	for k := len(burn) - 1; k >= 0; k-- {
		l := m.model.lot(burn[k].Lot)
		part := min(n, burn[k].Points, l.spent)
		l.spent -= part
		l.free += part
		n -= part
	}

	m.free(n) // what Unspend took from these lots in place of others
	m.burns[i] = left
	m.settle(event)
}

func (m *bookMachine) promise(t *rapid.T) {
	n := amount(t)
	require.NoError(t, m.book.Promise(m.event(), n))
	m.model.promise += n
}

func (m *bookMachine) withdraw(t *rapid.T) {
	n := rapid.Int64Range(0, m.model.promise).Draw(t, "points")
	m.book.Withdraw(m.event(), n)
	m.model.promise -= n
}

// pass lets days pass: what is due expires, by and by.
func (m *bookMachine) pass(t *rapid.T) {
	m.now = m.now.AddDate(0, 0, rapid.IntRange(0, 3).Draw(t, "days"))
	if rapid.Bool().Draw(t, "active") {
		m.book.LastActivity, m.model.active = m.now, m.now
	}

	// a lot of which points expired by inactivity has expired, and keeps nothing that it gets back
	ended := func(l *plainLot) bool {
		at := m.model.expiry(l)
		return l.free > 0 && (!at.IsZero() && !at.After(m.now) || l.idle > 0 && l.expired > 0)
	}

	due := m.book.Due(m.now)
	require.Equal(t, slices.ContainsFunc(m.model.lots, ended), len(due) > 0)
	for _, l := range due {
		before := l.Remaining
		require.Equal(t, before, m.book.Expire(m.event(), l.Lot))
	}

	for _, l := range m.model.lots {
		if ended(l) {
			l.expired += l.free
			l.free = 0
		}
	}

	require.True(t, m.book.NextExpiry().IsZero() || m.book.NextExpiry().After(m.now))
}

// check holds the book against the model and the invariants of the ledger.
func (m *bookMachine) check(t *rapid.T) {
	require.Equal(t, m.model.figures(), m.book.Figures)
	require.Equal(t, m.model.spendable(), m.book.Figures.Spendable(), "I3")
	require.Equal(t, m.book.Figures, points.Fold(m.book.Postings), "I1: figures equal the sums of the postings")
	if m.book.Figures.Debt > 0 {
		require.Nil(t, m.model.best(hasFree), "debt stands only while nothing is free")
	}
	m.checkLots(t)
	m.checkPostings(t)
	var held int64
	for _, h := range m.holds {
		held += points.Total(h)
	}
	require.Equal(t, held, m.book.Figures.Reserved, "I9: every hold is open, captured or released")
}

func (m *bookMachine) checkLots(t *rapid.T) {
	require.Len(t, m.book.Lots(), len(m.model.lots))
	for _, want := range m.model.lots {
		l := m.book.Lot(want.id)
		require.Equal(t,
			[]int64{want.points, want.free, want.held, want.spent, want.expired, want.taken},
			[]int64{l.Points, l.Remaining, l.Reserved, l.Spent, l.Expired, l.Gone()})
		for _, n := range []int64{l.Remaining, l.Reserved, l.Spent, l.Expired, l.Gone()} {
			require.GreaterOrEqual(t, n, int64(0), "I8")
		}
	}
}

// ofLots are the accounts whose points lie in lots.
var ofLots = map[points.Account]bool{points.Available: true, points.Reserved: true, points.Spent: true, points.Expired: true}

func (m *bookMachine) checkPostings(t *rapid.T) {
	type account struct {
		lot points.ID
		of  points.Account
	}

	sums := map[account]int64{}
	seq := map[points.ID]int{}
	var all int64
	for _, p := range m.book.Postings {
		require.Positive(t, p.Points)
		require.NotEqual(t, p.From, p.To)
		require.Equal(t, ofLots[p.From] || ofLots[p.To], p.Lot != points.ID{}, "%v", p)
		require.Equal(t, seq[p.Event], p.Seq, "numbered from 0")
		seq[p.Event]++
		sums[account{p.Lot, p.From}] -= p.Points
		sums[account{p.Lot, p.To}] += p.Points
	}

	for a, n := range sums {
		all += n
		if ofLots[a.of] {
			l := m.book.Lot(a.lot)
			require.Equal(t, map[points.Account]int64{
				points.Available: l.Remaining, points.Reserved: l.Reserved, points.Spent: l.Spent, points.Expired: l.Expired,
			}[a.of], n, "per lot and account")
		}
	}

	require.Zero(t, all, "I2")
}

func TestBookAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := day(1)
		m := &bookMachine{book: points.NewBook(points.Figures{}, start, time.UTC, nil), now: start}
		m.model.active = start
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "credit": m.credit, "credit again": m.credit, "take": m.take, "take back": m.takeBack,
			"spend": m.spend, "reserve": m.reserve, "unspend": m.unspend, "release": m.release, "capture": m.capture,
			"restore": m.restore, "promise": m.promise, "withdraw": m.withdraw, "pass": m.pass,
		})
	})
}
