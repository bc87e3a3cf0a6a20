package histories_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// elsewhere is a shop's configuration with another time zone.
type elsewhere struct {
	*shop
	zone string
}

func (e *elsewhere) Programme() *programme.Programme {
	loc, err := time.LoadLocation(e.zone)
	require.NoError(e.T, err)
	p := *e.shop.Programme()
	p.Location = loc
	return &p
}

// leaderboard is one node's.
func (s *shop) leaderboard(p engine.Programmes) *leaderboard.Leaderboard {
	return leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{Store: s.DB, Programmes: p, Clock: s.Clock})
}

// plainPeriod names the period that holds a day, in a way that nothing of the platform
// has a part in.
func plainPeriod(period string, day time.Time) string {
	switch period {
	case "year":
		return day.Format("2006")
	case "month":
		return day.Format("2006-01")
	case "week":
		year, week := day.ISOWeek()
		return fmt.Sprint(year, " ", week)
	case "day":
		return day.Format(time.DateOnly)
	}
	return "ever"
}

// plainBefore is a day of the period before the one that holds a day.
func plainBefore(period string, day time.Time) time.Time {
	noon := time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, time.UTC)
	switch period {
	case "year":
		return noon.AddDate(0, 0, -noon.YearDay())
	case "month":
		return noon.AddDate(0, 0, -noon.Day())
	case "week":
		return noon.AddDate(0, 0, -7)
	}
	return noon.AddDate(0, 0, -1)
}

// scored is a change of a customer's score.
type scored struct {
	by    loyalty.ID
	at    time.Time
	score int64
}

// scores reads from plain rows the target of each customer's merges, which customers are active, and all scores. A
// merge moves points and scores nothing.
func (s *shop) scores() (answers map[loyalty.ID]loyalty.ID, active map[loyalty.ID]bool, all []scored) {
	s.T.Helper()
	answers, active = map[loyalty.ID]loyalty.ID{}, map[loyalty.ID]bool{}
	s.Query(`SELECT id, coalesce(merged_into, id), status FROM customers`, func(rows *sql.Rows) error {
		var id, into loyalty.ID
		var status string
		err := rows.Scan(&id, &into, &status)
		answers[id], active[id] = into, status == "active"
		return err
	})

	sums, at := map[[2]loyalty.ID]int64{}, map[[2]loyalty.ID]int64{}
	s.Query(`SELECT customer_id, id, at FROM events WHERE action <> 'merge'`, func(rows *sql.Rows) error {
		var key [2]loyalty.ID
		var millis int64
		err := rows.Scan(&key[0], &key[1], &millis)
		at[key] = millis
		return err
	})

	s.Query(`SELECT customer_id, event_id, from_account, to_account, points FROM postings`, func(rows *sql.Rows) error {
		var key [2]loyalty.ID
		var p points.Posting
		err := rows.Scan(&key[0], &key[1], &p.From, &p.To, &p.Points)
		sums[key] += points.Fold([]points.Posting{p}).Score
		return err
	})

	for key, millis := range at {
		if n := sums[key]; n != 0 {
			all = append(all, scored{key[0], time.UnixMilli(millis), n})
		}
	}

	return answers, active, all
}

// recounts compares every board that a node shows with a plain recount of the journal, each customer's own rank with
// these boards, and for all time the score with the customer's figures.
func (s *shop) recounts(l *leaderboard.Leaderboard, zone string) {
	s.T.Helper()
	loc, err := time.LoadLocation(zone)
	require.NoError(s.T, err)
	now := s.Clock()
	answers, active, all := s.scores()
	for _, period := range []string{"all", "year", "month", "week", "day"} {
		for _, previous := range []bool{false, true} {
			if previous && period == "all" {
				continue
			}

			day := now.In(loc)
			if previous {
				day = plainBefore(period, day)
			}

			want := map[loyalty.ID]int64{}
			for _, e := range all {
				if by := answers[e.by]; active[by] && plainPeriod(period, e.at.In(loc)) == plainPeriod(period, day) {
					want[by] += e.score
				}
			}

			what := fmt.Sprint(period, " ", previous, " at ", now.In(loc))
			s.sameBoard(l, loyalty.BoardPeriods[period], previous, want, what)
		}
	}
}

func (s *shop) sameBoard(l *leaderboard.Leaderboard, p loyalty.BoardPeriod, previous bool, want map[loyalty.ID]int64, what string) {
	s.T.Helper()
	q := loyalty.BoardQuery{Board: loyalty.Board{Period: p}, Limit: 1000}
	part, err := l.Page(ctx, q, previous)
	require.NoError(s.T, err, what)
	order := slices.SortedFunc(maps.Keys(want), func(a, b loyalty.ID) int {
		return cmp.Or(cmp.Compare(want[b], want[a]), loyalty.CompareID(b, a))
	})
	require.Len(s.T, part.Entries, len(order), "%s: %v, want %v", what, part.Entries, want)
	for i, e := range part.Entries {
		higher := slices.IndexFunc(order, func(id loyalty.ID) bool { return want[id] == want[order[i]] })
		require.Equal(s.T, loyalty.BoardPlace{Score: want[order[i]], Customer: order[i]}, e.BoardPlace, what)
		require.Equal(s.T, int64(1+higher), e.Rank, what)
	}

	for id := range want {
		standing, err := l.Around(ctx, loyalty.BoardQuery{Board: q.Board, Limit: 1}, id, previous)
		require.NoError(s.T, err)
		i := slices.Index(order, id)
		require.Equal(s.T, part.Entries[max(0, i-1):min(len(order), i+2)], standing.Entries, what)
		require.Equal(s.T, []int64{part.Entries[i].Rank, want[id]}, []int64{standing.Rank, standing.Score}, what)
		if p == loyalty.BoardAll {
			c := s.Loaded(id).Customer
			require.Equal(s.T, c.Figures.Score, standing.Score, "a score is everything ever scored")
		}
	}
}

// agree holds the counts of the stretches against the rows that they count.
func (s *shop) agree() {
	s.T.Helper()
	var counts, rows int64
	require.NoError(s.T, s.Raw.QueryRow(`SELECT coalesce(sum(customers), 0) FROM ranking_counts`).Scan(&counts))
	require.NoError(s.T, s.Raw.QueryRow(`SELECT count(*) FROM rankings WHERE shown`).Scan(&rows))
	require.Equal(s.T, rows, counts)
	var below int
	require.NoError(s.T, s.Raw.QueryRow(`SELECT count(*) FROM ranking_counts WHERE customers < 0`).Scan(&below))
	require.Zero(s.T, below)
}

// TestLeaderboardOfHistories: whatever happens, and whichever node counted before, every board is what a plain recount
// of the journal gives (I10).
func TestLeaderboardOfHistories(t *testing.T) {
	eachFew(t, 6, 3, 1000, func(_ *testing.T, c *town) {
		zone := oneOf(c, zones...)
		nodes := []*leaderboard.Leaderboard{c.leaderboard(&elsewhere{c.shop, zone}), c.leaderboard(&elsewhere{c.shop, zone})}
		c.followed(40, "leaderboard", func() { c.recounts(oneOf(c, nodes...), zone) })
		zone = oneOf(c, zones...)
		c.recounts(c.leaderboard(&elsewhere{c.shop, zone}), zone)
		c.agree()
	})
}

// TestLeaderboardOfAMerge: who becomes part of another brings what they scored, and the
// points that move score nothing, in no period.
func TestLeaderboardOfAMerge(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		l := s.leaderboard(s)
		ada := s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`).Customer.ID
		s.Must("ben", "opt_in", `{"email":"ben@shop.test"}`)
		s.Must("ada", "point_add", `{"points":10}`)
		s.Must("ben", "point_add", `{"points":5}`)
		s.recounts(l, "UTC")
		s.Wait(48 * time.Hour)
		s.Operate("ada", "merge", `{"source":"ben"}`)
		s.recounts(l, "UTC")
		standing, err := l.Around(ctx, loyalty.BoardQuery{}, ada, false)
		require.NoError(t, err)
		require.Equal(t, int64(15), standing.Score)
	})
}

// TestLeaderboardLateCommits: what a node committed is counted at once, whenever its clock
// recorded it. An event of a node that was killed before it gave the number is found by a
// reader, by the job of the tail, or when every customer is compared.
func TestLeaderboardLateCommits(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s, killed := newShop(t, url, nil), newShop(t, url, nil)
		l, score := s.leaderboard(s), int64(0)
		id := s.Must("member-1001", "opt_in", `{"email":"member-1001@shop.test"}`).Customer.ID
		s.Wait(time.Hour)
		shown := func() int64 {
			standing, err := l.Around(ctx, loyalty.BoardQuery{}, id, false)
			require.NoError(t, err)
			return standing.Score
		}

		looked := func() int64 {
			done, err := s.Jobs().Run(ctx, "tail")
			require.NoError(t, err)
			require.Zero(t, done.Failed, done.Result)
			return shown()
		}

		late := func(node *shop, by time.Duration) {
			node.Time.Set(s.Clock().Add(-by))
			node.Must("member-1001", "point_add", `{"points":10}`)
			s.Time.Set(node.Clock().Add(by))
			score += 10
		}

		require.Zero(t, looked())
		late(s, 30*time.Minute)
		require.Equal(t, score, shown())
		late(killed, 3*time.Second)
		require.Equal(t, score, shown())
		late(killed, 90*time.Second)
		require.Equal(t, score-10, shown(), "the job looks further back")
		require.Equal(t, score, looked())
		late(killed, 30*time.Minute)
		require.Equal(t, score-10, looked(), "nobody looks so far back")
		s.Wait(10 * time.Minute)
		require.Equal(t, score, looked(), "everybody was compared")
		s.agree()
	})
}

// TestLeaderboardOfManyNodes: nodes that count at the same time, and that are
// stopped in the middle, while customers score, count everything once.
func TestLeaderboardOfManyNodes(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		dice := rand.New(rand.NewPCG(1, 3)) //nolint:gosec // repeatable, and no secret
		var whole atomic.Bool               // a reader may be told to come again until a board was whole
		s.whileManyCount(20, 6, func(i int) func(int) {
			l := s.leaderboard(s)
			return func(n int) {
				if i == 0 && n%2 == 0 {
					s.interrupted(time.Duration(dice.IntN(6000)) * time.Microsecond)
					return
				}
				once := whole.Load()
				_, err := l.Page(ctx, loyalty.BoardQuery{Limit: 10}, false)
				if !once && errors.Is(err, loyalty.ErrBoardsUnbuilt) {
					return
				}
				assert.NoError(t, err)
				whole.Store(true)
			}
		})

		s.recounts(s.leaderboard(s), "UTC")
		s.agree()
	})
}

// whileManyCount has so many members gain points in so many rounds while three nodes count, each
// again and again until the last point is given. node gives what the ith of them does the nth time.
func (s *shop) whileManyCount(members, rounds int, node func(i int) func(n int)) {
	for i := range members {
		s.Must(loyaltytest.Member(i), "opt_in", fmt.Sprintf(`{"email":"member-%d@shop.test"}`, i))
	}

	done := make(chan struct{})
	var nodes, callers sync.WaitGroup
	for i := range 3 {
		count := node(i)
		nodes.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
					count(n)
				}
			}
		})
	}

	for k := range 3 {
		callers.Go(func() {
			for round := range rounds {
				for i := k; i < members; i += 3 {
					if _, err := s.Send(loyaltytest.Member(i), "point_add", fmt.Sprintf(`{"points":%d}`, 1+(i*round)%7)); err != nil {
						s.T.Error(err)
					}
				}
			}
		})
	}

	callers.Wait()
	close(done)
	nodes.Wait()
}

// interrupted counts until it is stopped in the middle.
func (s *shop) interrupted(after time.Duration) {
	state, err := s.DB.BoardState(ctx)
	require.NoError(s.T, err)
	if state.Generation == 0 {
		return
	}
	stopped, cancel := context.WithTimeout(ctx, after)
	defer cancel()
	_, _, _ = s.DB.Count(stopped, state.Generation, loyalty.NewBoardCalendar(s.Clock(), time.UTC), 100)
}

// TestLeaderboardForgets: boards that can no longer be read are deleted, with what counts them.
func TestLeaderboardForgets(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("member-1001", "opt_in", `{"email":"member-1001@shop.test"}`)
		s.Must("member-1001", "point_add", `{"points":10}`)
		kinds := func() (n int) {
			_, err := s.Jobs().Run(ctx, "leaderboard")
			require.NoError(t, err)
			require.NoError(t, s.Raw.QueryRow(`SELECT count(*) FROM rankings`).Scan(&n))
			s.agree()
			return n
		}

		require.Equal(t, 5, kinds())
		s.Wait(24 * time.Hour)
		require.Equal(t, 5, kinds(), "yesterday is shown")
		s.Wait(24 * time.Hour)
		require.Equal(t, 4, kinds())
		s.Wait(14 * 24 * time.Hour)
		require.Equal(t, 3, kinds())
		s.Wait(50 * 24 * time.Hour)
		require.Equal(t, 2, kinds())
		s.Wait(700 * 24 * time.Hour)
		require.Equal(t, 1, kinds(), "all of time")
	})
}
