package points_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

func id(n byte) points.ID { return points.ID{15: n} }

func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

// bookOf opens a book over free lots; the figures follow from them.
func bookOf(lots ...points.Lot) *points.Book {
	var f points.Figures
	all := make([]*points.Lot, len(lots))
	for i := range lots {
		l := &lots[i]
		all[i] = l
		f.Score += l.Points - l.Gone()
		f.Spent += l.Spent
		f.Reserved += l.Reserved
		f.Expired += l.Expired
	}
	return points.NewBook(f, day(1), time.UTC, all)
}

func free(n byte, earned int, expires time.Time, left int64) points.Lot {
	return points.Lot{ID: id(n), Points: left, Remaining: left, EarnedAt: day(earned), ExpiresAt: expires}
}

func TestSpendingOrder(t *testing.T) {
	idle := free(5, 1, time.Time{}, 10)
	idle.Idle = points.Period{Days: 10} // last activity on day 1: expires on day 11
	b := bookOf(
		free(1, 1, time.Time{}, 10), // never expires: last
		free(2, 9, day(20), 10),
		free(3, 3, day(20), 10), // same expiry, earned first
		free(4, 3, day(20), 10), // and the same instant: the event id decides
		idle,
		free(6, 28, day(10), 10), // expires first although earned last
		free(7, 2, day(5), 0),    // empty
	)

	drawn, err := b.Spend(id(99), 60)
	require.NoError(t, err)
	require.Equal(t, []points.Portion{
		{Lot: id(6), Points: 10}, {Lot: id(5), Points: 10}, {Lot: id(3), Points: 10}, {Lot: id(4), Points: 10},
		{Lot: id(2), Points: 10}, {Lot: id(1), Points: 10},
	}, drawn)

	require.Equal(t, points.Figures{Score: 60, Spent: 60}, b.Figures)
	require.NoError(t, b.Unspend(id(100), 15), "the last in spending order comes back first")
	require.EqualValues(t, 10, b.Lot(id(1)).Remaining)
	require.EqualValues(t, 5, b.Lot(id(2)).Remaining)
}

// A day without activity ends where the programme is. In Budapest the first of March had begun:
// a month later is the end of March, not the 28th.
func TestInactivityIsCountedInTheZone(t *testing.T) {
	budapest, err := time.LoadLocation("Europe/Budapest")
	require.NoError(t, err)
	active := time.Date(2026, 2, 28, 23, 30, 0, 0, time.UTC)
	idle, dated := free(1, 1, time.Time{}, 10), free(2, 2, time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC), 10)
	idle.Idle = points.Period{Months: 1}
	ends := time.Date(2026, 3, 31, 22, 30, 0, 0, time.UTC)
	require.Equal(t, ends, idle.Expiry(active, budapest))
	require.Positive(t, points.SpendingOrder(&idle, &dated, active, budapest), "the other one expires first")
	require.Negative(t, points.SpendingOrder(&idle, &dated, active, time.UTC))
	b := points.NewBook(points.Figures{Score: 10}, active, budapest, []*points.Lot{&idle})
	require.Equal(t, ends, b.NextExpiry())
	require.Empty(t, b.Due(ends.Add(-time.Second)))
	require.Len(t, b.Due(ends), 1)
}

func TestCredit(t *testing.T) {
	b := bookOf()
	lot, err := b.Credit(id(1), 100, points.Lot{Transaction: "T", EarnedAt: day(1), ExpiresAt: day(9), Points: 7})
	require.NoError(t, err)
	require.Equal(t, points.Lot{ID: id(1), Transaction: "T", Points: 100, Remaining: 100, EarnedAt: day(1), ExpiresAt: day(9)}, *lot)
	require.Equal(t, []points.Posting{{Event: id(1), From: points.Issued, To: points.Available, Lot: id(1), Points: 100}}, b.Postings)
	require.Same(t, lot, b.Lot(id(1)))
	require.Nil(t, b.Lot(id(2)))
	_, err = b.Credit(id(2), points.Max-100, points.Lot{})
	require.NoError(t, err, "the last point that fits")
	for _, n := range []int64{1, points.Max, -1, -points.Max} {
		_, err = b.Credit(id(3), n, points.Lot{})
		require.ErrorIs(t, err, points.ErrOverflow)
	}

	require.Len(t, b.Lots(), 2)
}

func TestSpendAndReserveFail(t *testing.T) {
	b := bookOf(free(1, 1, day(5), 10), free(2, 1, day(6), 10))
	for _, n := range []int64{21, points.Max} {
		_, err := b.Spend(id(9), n)
		require.ErrorIs(t, err, points.ErrInsufficient)
		_, err = b.Reserve(id(9), n)
		require.ErrorIs(t, err, points.ErrInsufficient)
	}

	require.Empty(t, b.Postings)
	hold, err := b.Reserve(id(9), 15)
	require.NoError(t, err)
	require.Equal(t, []points.Portion{{Lot: id(1), Points: 10}, {Lot: id(2), Points: 5}}, hold)
	_, err = b.Spend(id(10), 6)
	require.ErrorIs(t, err, points.ErrInsufficient, "what is reserved cannot be spent")
	require.EqualValues(t, 5, b.Figures.Spendable())
	require.Empty(t, b.Due(day(5)), "what is reserved does not expire")
	require.Len(t, b.Due(day(6)), 1)

	// Figures that say more than the loaded lots hold are not trusted.
	b = points.NewBook(points.Figures{Score: 100}, day(1), time.UTC, nil)
	_, err = b.Spend(id(1), 1)
	require.ErrorIs(t, err, points.ErrInsufficient)
}

func TestHold(t *testing.T) {
	b := bookOf(free(1, 1, day(5), 10), free(2, 1, day(6), 10))
	hold, err := b.Reserve(id(9), 15)
	require.NoError(t, err)
	_, err = b.Release(id(10), hold, 16)
	require.ErrorIs(t, err, points.ErrNotReserved)

	b = bookOf(free(1, 1, day(5), 10), free(2, 1, day(6), 10))
	hold, err = b.Reserve(id(9), 15)
	require.NoError(t, err)
	left, err := b.Release(id(10), hold, 7)
	require.NoError(t, err)
	require.Equal(t, []points.Portion{{Lot: id(1), Points: 8}}, left, "the last in spending order is free first")
	require.Equal(t, points.Figures{Score: 20, Reserved: 8}, b.Figures)
	require.NoError(t, b.Capture(id(11), left))
	require.Equal(t, points.Figures{Score: 20, Spent: 8}, b.Figures)
	require.ErrorIs(t, b.Capture(id(12), left), points.ErrNotReserved, "captured once")
	_, err = b.Release(id(12), left, 8)
	require.ErrorIs(t, err, points.ErrNotReserved, "captured is not reserved")
	require.ErrorIs(t, b.Capture(id(12), []points.Portion{{Lot: id(77), Points: 1}}), points.ErrNotReserved)
	left, err = b.Restore(id(13), left, 3)
	require.NoError(t, err)
	require.Equal(t, []points.Portion{{Lot: id(1), Points: 5}}, left)
	left, err = b.Restore(id(14), left, 5)
	require.NoError(t, err)
	require.Empty(t, left)
	_, err = b.Restore(id(15), left, 1)
	require.ErrorIs(t, err, points.ErrNotSpent)
	_, err = b.Restore(id(15), []points.Portion{{Lot: id(77), Points: 1}}, 1)
	require.ErrorIs(t, err, points.ErrNotSpent)
	require.Equal(t, points.Figures{Score: 20}, b.Figures)
}

// Points that point_unspend gave back cannot come back a second time by a
// refund of the purchase that burned them.
func TestRestoreAfterUnspend(t *testing.T) {
	b := bookOf(free(1, 1, time.Time{}, 100))
	burn, err := b.Spend(id(9), 30)
	require.NoError(t, err)
	require.EqualValues(t, 30, b.Restorable(burn))
	require.NoError(t, b.Unspend(id(10), 20))
	require.EqualValues(t, 10, b.Restorable(burn))
	require.EqualValues(t, 10, b.Restorable([]points.Portion{{Lot: id(1), Points: 8}, {Lot: id(1), Points: 8}, {Lot: id(7), Points: 1}}))
	_, err = b.Restore(id(11), burn, 11)
	require.ErrorIs(t, err, points.ErrNotSpent)
	require.EqualValues(t, 0, b.Lot(id(1)).Spent)
	require.EqualValues(t, 100, b.Lot(id(1)).Remaining, "never more than was earned")
}

// Unspend frees the lot that is spent last; where a burn had taken that one, the burn comes back to
// the lot that was meant.
func TestRestoreToOtherLots(t *testing.T) {
	b := bookOf(free(1, 1, time.Time{}, 10), free(2, 2, time.Time{}, 100))
	_, err := b.Spend(id(8), 10)
	require.NoError(t, err)
	burn, err := b.Spend(id(9), 51)
	require.NoError(t, err)
	require.NoError(t, b.Unspend(id(10), 10))
	require.EqualValues(t, 51, b.Restorable(burn))
	left, err := b.Restore(id(11), burn, 50)
	require.NoError(t, err)
	require.Equal(t, []points.Portion{{Lot: id(2), Points: 1}}, left)
	left, err = b.Restore(id(12), left, 1)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, points.Figures{Score: 110}, b.Figures)
	require.EqualValues(t, 10, b.Lot(id(1)).Remaining)

	require.EqualValues(t, 100, b.Lot(id(2)).Remaining)
}

func TestUnspendFails(t *testing.T) {
	b := bookOf(free(1, 1, time.Time{}, 100))
	_, err := b.Spend(id(9), 30)
	require.NoError(t, err)
	require.ErrorIs(t, b.Unspend(id(10), 31), points.ErrNotSpent)
	require.NoError(t, b.Unspend(id(10), 30))
	require.ErrorIs(t, b.Unspend(id(11), 1), points.ErrNotSpent)
	b = points.NewBook(points.Figures{Score: 10, Spent: 10}, day(1), time.UTC, nil)
	require.ErrorIs(t, b.Unspend(id(1), 1), points.ErrNotSpent, "the lots that were spent are not there")
}

func TestDebt(t *testing.T) {
	b := bookOf(free(1, 1, day(5), 10), free(2, 1, day(6), 10))
	require.NoError(t, b.Take(id(9), 25))
	require.Equal(t, points.Figures{Score: -5, Debt: 5}, b.Figures)
	require.EqualValues(t, -5, b.Figures.Spendable())
	require.EqualValues(t, 10, b.Lot(id(1)).Gone())
	_, err := b.Spend(id(10), 1)
	require.ErrorIs(t, err, points.ErrInsufficient)
	require.Empty(t, b.Due(day(9)), "nothing is left to expire")

	_, err = b.Credit(id(11), 3, points.Lot{})
	require.NoError(t, err)
	b.Settle(id(11))
	require.Equal(t, points.Figures{Score: -2, Debt: 2}, b.Figures)
	_, err = b.Credit(id(12), 8, points.Lot{})
	require.NoError(t, err)
	b.Settle(id(12))
	b.Settle(id(12))
	require.Equal(t, points.Figures{Score: 6}, b.Figures)
	require.EqualValues(t, 6, b.Lot(id(12)).Remaining)
	require.EqualValues(t, 2, b.Lot(id(12)).Gone())
	require.Equal(t, points.Fold(b.Postings), points.Figures{Score: 6 - 20}, "of what was posted here")
}

// A balance is a JSON number that every client reads exactly, so debt and score
// are bounded below as well.
func TestTakeIsBounded(t *testing.T) {
	b := bookOf()
	_, err := b.Credit(id(1), points.Max, points.Lot{})
	require.NoError(t, err)
	_, err = b.Spend(id(2), points.Max)
	require.NoError(t, err)
	require.NoError(t, b.Take(id(3), points.Max))
	require.Equal(t, points.Figures{Spent: points.Max, Debt: points.Max}, b.Figures)
	require.Equal(t, -points.Max, b.Figures.Spendable())
	require.ErrorIs(t, b.Take(id(4), 1), points.ErrOverflow, "score would allow it, the balance does not")
	require.ErrorIs(t, b.TakeBack(id(4), "T", 1), points.ErrOverflow)
	require.ErrorIs(t, b.Take(id(4), -1), points.ErrOverflow)
	require.ErrorIs(t, b.TakeBack(id(4), "T", -1), points.ErrOverflow)
	require.Len(t, b.Postings, 3)
}

func TestTakeBack(t *testing.T) {
	own := func(n byte, expires int, left, expired int64) points.Lot {
		l := free(n, 1, day(expires), left)
		l.Transaction, l.Points, l.Expired = "T", left+expired, expired
		return l
	}

	fresh := func() *points.Book {
		return bookOf(free(1, 1, day(2), 10), own(2, 20, 10, 0), own(3, 10, 0, 10), own(4, 15, 5, 5), free(5, 1, time.Time{}, 10))
	}
	left := func(b *points.Book) [5]int64 {
		var all [5]int64
		for i := range all {
			all[i] = b.Lot(id(byte(i + 1))).Remaining
		}
		return all
	}

	for _, c := range []struct {
		name    string
		first   []points.ID
		n       int64
		left    [5]int64
		figures points.Figures
	}{
		{"own lots in spending order, not what the customer would spend first", nil, 7, [5]int64{10, 8, 0, 0, 10}, points.Figures{Score: 43, Expired: 15}},
		{"the line's lot first", []points.ID{id(2)}, 7, [5]int64{10, 3, 0, 5, 10}, points.Figures{Score: 43, Expired: 15}},
		{"the lots of several lines in their order", []points.ID{id(2), id(4)}, 12, [5]int64{10, 0, 0, 3, 10}, points.Figures{Score: 38, Expired: 15}},
		{"then what of them expired, which lowers expired", nil, 20, [5]int64{10, 0, 0, 0, 10}, points.Figures{Score: 30, Expired: 10}},
		{"then other lots", nil, 35, [5]int64{5, 0, 0, 0, 10}, points.Figures{Score: 15}},
		{"then debt", nil, 53, [5]int64{}, points.Figures{Score: -3, Debt: 3}},
		{"nothing", nil, 0, [5]int64{10, 10, 0, 5, 10}, points.Figures{Score: 50, Expired: 15}},
	} {
		b := fresh()
		require.NoError(t, b.TakeBack(id(9), "T", c.n, c.first...), c.name)
		require.Equal(t, c.left, left(b), c.name)
		require.Equal(t, c.figures, b.Figures, c.name)
	}

	b := fresh()
	require.NoError(t, b.TakeBack(id(9), "", 5))
	require.Equal(t, [5]int64{5, 10, 0, 5, 10}, left(b), "no purchase owns the lots of no purchase")
}

func TestPromise(t *testing.T) {
	b := bookOf()
	require.NoError(t, b.Promise(id(1), 99))
	require.Equal(t, points.Figures{Pending: 99}, b.Figures)
	require.Zero(t, b.Figures.Spendable(), "promised is not earned")
	require.ErrorIs(t, b.Promise(id(2), points.Max-98), points.ErrOverflow)
	require.ErrorIs(t, b.Promise(id(2), -1), points.ErrOverflow)
	_, err := b.Credit(id(2), points.Max-98, points.Lot{})
	require.ErrorIs(t, err, points.ErrOverflow, "there must be room for what was promised")
	b.Withdraw(id(2), 99)
	require.Equal(t, points.Figures{}, b.Figures)

	require.Equal(t, []points.Posting{
		{Event: id(1), From: points.Promised, To: points.Pending, Points: 99},
		{Event: id(2), From: points.Pending, To: points.Promised, Points: 99},
	}, b.Postings)
}

// Pending has the bound of every figure, also below a score that is negative.
func TestPromiseIsBounded(t *testing.T) {
	b := bookOf()
	require.NoError(t, b.Take(id(1), 10))
	require.NoError(t, b.Promise(id(2), points.Max))
	require.ErrorIs(t, b.Promise(id(3), 1), points.ErrOverflow)
	b.Withdraw(id(4), points.Max)
	_, err := b.Credit(id(4), points.Max, points.Lot{})
	require.NoError(t, err, "what was promised is given")

	b = bookOf()
	require.NoError(t, b.Promise(id(5), points.Max-5))
	_, err = b.Credit(id(6), 6, points.Lot{})
	require.ErrorIs(t, err, points.ErrOverflow, "what was promised keeps its room")
	_, err = b.Credit(id(6), 5, points.Lot{})
	require.NoError(t, err)
	require.ErrorIs(t, b.Promise(id(7), 1), points.ErrOverflow, "beside what was given, too")
}

func TestDue(t *testing.T) {
	idle := free(4, 1, time.Time{}, 5)
	idle.Idle = points.Period{Days: 2}
	b := bookOf(free(1, 1, day(5), 10), free(2, 1, day(4), 0), free(3, 1, time.Time{}, 5), idle)
	require.Equal(t, day(3), b.NextExpiry(), "by inactivity")
	require.Empty(t, b.Due(day(3).Add(-1)))
	require.Len(t, b.Due(day(3)), 1, "the instant itself is due")
	b.LastActivity = day(4)
	require.Equal(t, day(5), b.NextExpiry())
	due := b.Due(day(5))
	require.Len(t, due, 1)
	require.EqualValues(t, 10, b.Expire(id(9), due[0].Lot))
	require.Zero(t, b.Expire(id(10), due[0].Lot), "once")
	require.Equal(t, points.Figures{Score: 20, Expired: 10}, b.Figures)
	require.Equal(t, day(6), b.NextExpiry())

	require.True(t, bookOf(free(3, 1, time.Time{}, 5)).NextExpiry().IsZero())
}

func TestDueOfIdle(t *testing.T) {
	idle := func(n byte, expired int64) points.Lot {
		l := free(n, int(n), time.Time{}, 10)
		l.Idle, l.Expired = points.Period{Days: 2}, expired
		return l
	}

	b := bookOf(idle(1, 0), idle(2, 0), free(9, 9, day(6), 10))
	b.LastActivity = day(1)
	hold, err := b.Reserve(id(20), 20)
	require.NoError(t, err)
	require.Empty(t, b.Due(day(4)), "what is reserved does not expire")

	b.Lapse(day(4))
	_, err = b.Release(id(21), hold, 20)
	require.NoError(t, err)
	b.LastActivity = day(4)
	lots := b.Lots()
	require.Equal(t, []points.Expiring{{lots[0], day(3)}, {lots[1], day(3)}, {lots[2], day(6)}}, b.Due(day(6)), "the release did not bring them back")

	b = bookOf(idle(1, 0), idle(2, 3))
	b.LastActivity = day(4)
	b.Lapse(day(5))
	require.Equal(t, []points.Expiring{{b.Lot(id(2)), day(5)}}, b.Due(day(5)), "an activity keeps what has not expired, and no other")
}

func TestPortionOnTheWire(t *testing.T) {
	p := points.Portion{Lot: points.ID{0: 0x01, 6: 0x7f, 15: 0xff}, Points: 3}
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, `{"lot":"01000000-0000-7f00-0000-0000000000ff","points":3}`, string(raw))
	var back points.Portion
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, p, back)
	for _, bad := range []string{`{"lot":"","points":1}`, `{"lot":"zz","points":1}`, `{"lot":"01","points":1}`, `{"lot":1}`, `[]`} {
		require.Error(t, json.Unmarshal([]byte(bad), &back), bad)
	}
	require.EqualValues(t, 5, points.Total([]points.Portion{{Points: 2}, {Points: 3}}))
	require.Zero(t, points.Total(nil))
}

func TestAccountNames(t *testing.T) {
	require.Equal(t, "issued", points.Issued.String())
	require.Equal(t, "pending", points.Pending.String())
	require.Equal(t, "unknown", points.Account(9).String())
}
