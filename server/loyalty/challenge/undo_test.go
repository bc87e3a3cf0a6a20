package challenge

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// TestFillCompletion: what a completion that lost a part gets of what was counted
// since, and what is left of both.
func TestFillCompletion(t *testing.T) {
	const counts, sums, both = `[{"action":"checkout","threshold":3}]`, `[{"action":"checkout","sum":"transaction.total","threshold":1}]`,
		`[{"action":"checkout","threshold":2},{"action":"visit","threshold":1}]`
	a, b := loyalty.ID{1}, loyalty.ID{2}
	d := func(text string) calendar.Day { return challengeDay(t, text) }
	for name, c := range map[string]struct {
		criteria string
		window   int
		gone     bool // the challenge is archived
		done     loyalty.Completion
		now      ChallengeState
		filled   bool
		has      []int64 // the completion where it is filled
		left     []int64 // the progress
	}{
		"as much as it needs":   {counts, 0, false, loyalty.Completion{Criteria: []int64{2}, Needs: []int64{3}}, ChallengeState{Criteria: []int64{2}}, true, []int64{3}, []int64{1}},
		"not enough":            {counts, 0, false, loyalty.Completion{Criteria: []int64{1}, Needs: []int64{3}}, ChallengeState{Criteria: []int64{1}}, false, nil, []int64{2}},
		"all of a sum":          {sums, 0, false, loyalty.Completion{Criteria: []int64{4000}, Needs: []int64{10_000}}, ChallengeState{Criteria: []int64{9000}}, true, []int64{13_000}, []int64{0}},
		"all, if it is no more": {counts, 0, true, loyalty.Completion{Criteria: []int64{2}, Needs: []int64{3}}, ChallengeState{Criteria: []int64{2}}, true, []int64{4}, []int64{0}},
		"by its own threshold":  {counts, 0, false, loyalty.Completion{Criteria: []int64{0}, Needs: []int64{1}}, ChallengeState{Criteria: []int64{2}}, true, []int64{1}, []int64{1}},
		"one of two criteria":   {both, 0, false, loyalty.Completion{Criteria: []int64{1, 1}, Needs: []int64{2, 1}}, ChallengeState{Criteria: []int64{1, 0}}, true, []int64{2, 1}, []int64{0, 0}},
		"the other criterion":   {both, 0, false, loyalty.Completion{Criteria: []int64{1, 1}, Needs: []int64{2, 1}}, ChallengeState{Criteria: []int64{0, 1}}, false, nil, []int64{1, 2}},
		"within its days": {
			counts, 7, false, loyalty.Completion{Criteria: []int64{2}, Needs: []int64{3}, Days: []map[calendar.Day]int64{{d("2026-03-01"): 2}}},
			ChallengeState{Criteria: []int64{2}, Days: []map[calendar.Day]int64{{d("2026-03-07"): 1, d("2026-04-01"): 1}}}, true, []int64{3}, []int64{1},
		},
		"too late": {
			counts, 7, false, loyalty.Completion{Criteria: []int64{2}, Needs: []int64{3}, Days: []map[calendar.Day]int64{{d("2026-03-01"): 2}}},
			ChallengeState{Criteria: []int64{1}, Days: []map[calendar.Day]int64{{d("2026-03-08"): 1}}}, false, nil, []int64{3},
		},
		"of later days alone": {
			counts, 7, false, loyalty.Completion{Criteria: []int64{2}, Needs: []int64{3}, Days: []map[calendar.Day]int64{{d("2026-03-01"): 2}}},
			ChallengeState{Criteria: []int64{4}, Days: []map[calendar.Day]int64{{d("2026-03-08"): 3, d("2026-03-09"): 1}}}, true, []int64{3}, []int64{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			challenge := made(t, `{"criteria":`+c.criteria+`}`)
			done, st := c.done, c.now
			done.Of, done.For, done.Window = challenge.of, []loyalty.ID{a}, c.window
			st.Of, st.Parts, st.Sole = challenge.of, []loyalty.ID{b}, loyalty.ID{9}
			before := string(loyalty.JSON(done))
			if c.gone {
				challenge = nil
			}

			require.Equal(t, c.filled, st.fill(&done, challenge))
			require.Equal(t, c.left, st.Criteria)
			if c.filled {
				require.Equal(t, c.has, done.Criteria)
				require.Equal(t, []loyalty.ID{a, b}, done.For)
				require.True(t, holds(&done))
			} else {
				require.Equal(t, before, string(loyalty.JSON(done)), "it stays what it was")
				require.Equal(t, []loyalty.ID{b, a}, st.Parts)
			}

			require.Zero(t, st.Sole, "two may take from it")
		})
	}

	challenge := made(t, `{"criteria":`+counts+`}`)
	other := ChallengeState{Of: "other", Criteria: []int64{5}, Parts: []loyalty.ID{b}}
	require.False(t, other.fill(&loyalty.Completion{Of: challenge.of, For: []loyalty.ID{a}, Criteria: []int64{2}, Needs: []int64{3}}, challenge))
	require.Equal(t, []int64{2}, other.Criteria, "what was counted for other criteria is void")
	other = ChallengeState{Of: challenge.of, Criteria: []int64{5}}
	require.False(t, other.fill(&loyalty.Completion{Of: "older", For: []loyalty.ID{a}, Criteria: []int64{2}, Needs: []int64{3}}, challenge))
	require.Equal(t, []int64{5}, other.Criteria, "what a completion counted for other criteria is void")
}

// TestUncomplete: the last completion that is left is known after any of them goes.
func TestUncomplete(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	all := []loyalty.Completion{{At: at(1)}, {At: at(2), Before: at(1)}, {At: at(3), Before: at(2)}}
	for _, c := range []struct {
		order []int
		last  []time.Time
	}{
		{[]int{2, 1, 0}, []time.Time{at(2), at(1), {}}},
		{[]int{0, 1, 2}, []time.Time{at(3), at(3), {}}},
		{[]int{1, 2, 0}, []time.Time{at(3), at(1), {}}},
		{[]int{0, 2, 1}, []time.Time{at(3), at(2), {}}},
	} {
		st := ChallengeState{Completions: 3, Completed: at(3)}
		for i, k := range c.order {
			st.uncomplete(&all[k])
			require.Equal(t, c.last[i], st.Completed, "%v, step %d", c.order, i)
		}
		require.Zero(t, st.Completions)
		require.Empty(t, st.Passed)
	}

	merged := ChallengeState{Completions: 2, Completed: at(3)}
	merged.uncomplete(&loyalty.Completion{At: at(3)})
	require.Equal(t, at(3), merged.Completed, "of one that an account brought which was merged nobody knows when")
}

func TestChallengeRefusesRefunds(t *testing.T) {
	_, err := readChallenge(&programme.Programme{}, loyalty.Entity{Type: "challenges/challenge", ID: "c", Data: json.RawMessage(`{"criteria":[],"refunds":"never"}`)})
	require.Equal(t, "refunds", loyalty.AsError(err).Details[0].Field)
}
