package points_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// life is a book with the holds and burns that were made in it.
type life struct {
	*points.Book
	at    time.Time
	last  uint64
	burns [][]points.Portion
	holds [][]points.Portion
}

func (l *life) event() (id points.ID) {
	l.last++
	binary.BigEndian.PutUint64(id[8:], l.last)
	return id
}

// live does a few things in a book, each ended as the engine ends an event.
func (l *life) live(t *rapid.T, label string) {
	n := func(what string) int64 { return rapid.Int64Range(1, 40).Draw(t, label+" "+what) }
	for range rapid.IntRange(0, 12).Draw(t, label+" steps") {
		e := l.event()
		switch rapid.IntRange(0, 7).Draw(t, label+" step") {
		case 0, 1:
			name := rapid.SampledFrom([]string{"", "T-1", "T-2"}).Draw(t, label+" purchase")
			_, err := l.Credit(e, n("credit"), points.Lot{Transaction: name, EarnedAt: l.at, ExpiresAt: l.at.AddDate(0, 0, int(n("days")))})
			require.NoError(t, err)

		case 2:
			if burn, err := l.Spend(e, n("spend")); err == nil {
				l.burns = append(l.burns, burn)
			}

		case 3:
			if hold, err := l.Reserve(e, n("hold")); err == nil {
				l.holds = append(l.holds, hold)
			}

		case 4:
			require.NoError(t, l.Take(e, n("take")))
		case 5:
			require.NoError(t, l.TakeBack(e, "T-1", n("take back")))
		case 6:
			for _, lot := range l.Due(l.at.AddDate(0, 0, int(n("later")))) {
				l.Expire(e, lot.Lot)
			}

		case 7:
			require.NoError(t, l.Promise(e, n("promise")))
		}

		l.Settle(e)
	}
}

func sum(a, b points.Figures) points.Figures {
	return points.Figures{
		Score: a.Score + b.Score, Spent: a.Spent + b.Spent, Reserved: a.Reserved + b.Reserved,
		Expired: a.Expired + b.Expired, Pending: a.Pending + b.Pending, Debt: a.Debt + b.Debt,
	}
}

// whole holds a book's figures against its postings and its lots.
func (l *life) whole(t *rapid.T) {
	require.Equal(t, l.Figures, points.Fold(l.Postings))
	var free int64
	byLot := map[points.ID]points.Lot{}
	for _, p := range l.Postings {
		require.Positive(t, p.Points)
		lot := byLot[p.Lot]
		if p.From == points.Issued && p.To == points.Available {
			lot.Points += p.Points
		}

		for account, sign := range map[points.Account]int64{p.From: -1, p.To: 1} {
			switch account {
			case points.Available:
				lot.Remaining += sign * p.Points
			case points.Reserved:
				lot.Reserved += sign * p.Points
			case points.Spent:
				lot.Spent += sign * p.Points
			case points.Expired:
				lot.Expired += sign * p.Points
			}
		}

		byLot[p.Lot] = lot
	}

	for _, lot := range l.Lots() {
		free += lot.Remaining
		posted := byLot[lot.ID]
		require.Equal(t, [5]int64{lot.Points, lot.Remaining, lot.Reserved, lot.Spent, lot.Expired},
			[5]int64{posted.Points, posted.Remaining, posted.Reserved, posted.Spent, posted.Expired}, "the lot equals its postings")
		require.GreaterOrEqual(t, lot.Gone(), int64(0))
	}

	require.Equal(t, free-l.Figures.Debt, l.Figures.Spendable())
}

// TestInherit: whatever two customers did, a merge leaves nothing in one book and
// the sum of both in the other, as legal postings on either side; and what was
// held and burned in the first can be undone in the second.
func TestInherit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		source := &life{Book: points.NewBook(points.Figures{}, at, time.UTC, nil), at: at}
		target := &life{Book: points.NewBook(points.Figures{}, at, time.UTC, nil), at: at, last: 1 << 32}
		source.live(t, "source")
		target.live(t, "target")
		before, lots := sum(source.Figures, target.Figures), map[points.ID]points.Lot{}
		for _, l := range source.Lots() {
			if l.Gone() < l.Points {
				lots[l.ID] = *l
			}
		}

		merge := target.event()
		estate, err := source.Leave(merge)
		require.NoError(t, err)
		require.NoError(t, target.Inherit(merge, estate))

		require.Equal(t, points.Figures{}, source.Figures, "nothing is left")
		require.Equal(t, before, target.Figures, "figures add up")
		for id, was := range lots {
			require.Equal(t, was, *target.Lot(id), "a lot comes over as it was")
		}

		source.whole(t)
		target.whole(t)

		target.Settle(merge)
		for _, hold := range source.holds {
			_, err := target.Release(target.event(), hold, points.Total(hold))
			require.NoError(t, err, "what was held can be released")
		}

		for _, burn := range source.burns {
			_, err := target.Restore(target.event(), burn, target.Restorable(burn))
			require.NoError(t, err, "what was burned can be given back")
		}

		target.Settle(target.event())
		target.whole(t)
		require.Zero(t, target.Figures.Reserved-points.Total(flat(target.holds)))
		require.Zero(t, target.Figures.Spent-points.Total(flat(target.burns)))
	})
}

func flat(all [][]points.Portion) (one []points.Portion) {
	for _, p := range all {
		one = append(one, p...)
	}
	return one
}

// TestLeaveNeedsEveryLot: a book that was not loaded whole is not handed over in
// part.
func TestLeaveNeedsEveryLot(t *testing.T) {
	b := points.NewBook(points.Figures{Score: 30, Expired: 10}, time.Time{}, time.UTC, []*points.Lot{{ID: points.ID{1}, Points: 20, Remaining: 20}})
	_, err := b.Leave(points.ID{2})
	require.ErrorIs(t, err, points.ErrMissing)
}

// TestInheritTooMuch: two balances that fit do not make one that does not.
func TestInheritTooMuch(t *testing.T) {
	source := points.NewBook(points.Figures{}, time.Time{}, time.UTC, nil)
	_, err := source.Credit(points.ID{1}, points.Max, points.Lot{})
	require.NoError(t, err)
	target := points.NewBook(points.Figures{}, time.Time{}, time.UTC, nil)
	_, err = target.Credit(points.ID{2}, 1, points.Lot{})
	require.NoError(t, err)
	estate, err := source.Leave(points.ID{3})
	require.NoError(t, err)
	require.ErrorIs(t, target.Inherit(points.ID{3}, estate), points.ErrOverflow)
}
