package challenge

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// made compiles a challenge.
func made(t require.TestingT, data string) *Challenge {
	c, err := readChallenge(&programme.Programme{}, loyalty.Entity{Type: "challenges/challenge", ID: "c", Data: json.RawMessage(data)})
	require.NoError(t, err, data)
	return c
}

// TestChallengeCounts holds counting against adding everything up each time: what
// was done since the last completion, within the days into which one must fit.
func TestChallengeCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.SampledFrom([]int{0, 0, 1, 2, 5}).Draw(t, "window days")
		c := made(t, fmt.Sprintf(`{"criteria":[{"action":"visit","threshold":%d},{"action":"checkout","sum":"transaction.total","threshold":%d}],"window_days":%d,"max_completions":1000}`,
			rapid.IntRange(1, 4).Draw(t, "visits"), rapid.IntRange(1, 9).Draw(t, "total"), days))
		loc := challengeZone(t, rapid.SampledFrom([]string{"UTC", "America/New_York"}).Draw(t, "zone"))
		now := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
		type act struct {
			at time.Time
			n  [2]int64
		}

		var all []act // since the last completion
		var st ChallengeState
		var completions int64
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "hours")) * time.Hour)
			a := act{at: now}
			if rapid.IntRange(0, 4).Draw(t, "late") == 0 {
				a.at = now.Add(-time.Duration(rapid.IntRange(0, 90).Draw(t, "hours late")) * time.Hour)
			}

			a.n[0], a.n[1] = rapid.Int64Range(0, 1).Draw(t, "visit"), rapid.Int64Range(0, 50_000).Draw(t, "money")
			all = append(all, a)
			c.take(&st, a.n[:], a.at, tier.TierView{At: now, Location: loc})

			var sums [2]int64
			for _, a := range all {
				if days == 0 || calendar.DayOf(a.at, loc) > calendar.DayOf(now, loc)-calendar.Day(days) {
					sums[0], sums[1] = sums[0]+a.n[0], sums[1]+a.n[1]
				}
			}

			require.Equal(t, sums[:], st.Criteria)
			done := sums[0] >= c.Criteria[0].Threshold && sums[1] >= 10_000*c.Criteria[1].Threshold
			require.Equal(t, done, c.done(&st))
			if done {
				all, completions = nil, completions+1
				c.reset(&st)
				st.Completions++
			}

			require.Equal(t, completions, c.Status(st, now, loc).Completions)
		}
	})
}

func TestChallengeStatus(t *testing.T) {
	at := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
	const two = `{"criteria":[{"action":"visit","threshold":3},{"action":"checkout","sum":"data.total","threshold":10}],"max_completions":2}`

	for name, c := range map[string]struct {
		challenge string
		state     ChallengeState
		percent   int
		left      int64
		criteria  []CriterionStatus
	}{
		"not begun":       {two, ChallengeState{}, 0, 2, []CriterionStatus{{"visit", 0, 3, 0}, {"checkout", 0, 10, 0}}},
		"on the way":      {two, ChallengeState{Criteria: []int64{1, 59_999}}, 41, 2, []CriterionStatus{{"visit", 1, 3, 33}, {"checkout", 5, 10, 50}}},
		"one is met":      {two, ChallengeState{Criteria: []int64{7, 0}}, 50, 2, []CriterionStatus{{"visit", 3, 3, 100}, {"checkout", 0, 10, 0}}},
		"once completed":  {two, ChallengeState{Completions: 1, Criteria: []int64{0, 0}}, 0, 1, []CriterionStatus{{"visit", 0, 3, 0}, {"checkout", 0, 10, 0}}},
		"nothing is left": {two, ChallengeState{Completions: 2, Criteria: []int64{0, 0}}, 100, 0, []CriterionStatus{{"visit", 3, 3, 100}, {"checkout", 10, 10, 100}}},
		"other criteria":  {two, ChallengeState{Of: "older", Criteria: []int64{3, 3}}, 0, 2, []CriterionStatus{{"visit", 0, 3, 0}, {"checkout", 0, 10, 0}}},
		"never quite 100": {
			`{"criteria":[{"action":"visit","threshold":1000}]}`, ChallengeState{Criteria: []int64{999}}, 99, 1, []CriterionStatus{{"visit", 999, 1000, 99}},
		},
		"floored once": {
			`{"criteria":[{"action":"visit","threshold":100}]}`, ChallengeState{Criteria: []int64{58}}, 58, 1, []CriterionStatus{{"visit", 58, 100, 58}},
		},
		"large": {
			`{"criteria":[{"action":"point_add","sum":"points","threshold":9007199254740991}]}`, ChallengeState{Criteria: []int64{1 << 52}}, 50, 1,
			[]CriterionStatus{{"point_add", 1 << 52, 1<<53 - 1, 50}},
		},
		"too old": {
			`{"criteria":[{"action":"visit","threshold":4}],"window_days":3}`,
			ChallengeState{Criteria: []int64{3}, Days: []map[calendar.Day]int64{{challengeDay(t, "2026-03-02"): 2, challengeDay(t, "2026-03-03"): 1}}}, 25, 1, []CriterionStatus{{"visit", 1, 4, 25}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			challenge := made(t, c.challenge)
			if c.state.Of == "" {
				c.state.Of = challenge.of
			}
			before, err := json.Marshal(c.state)
			require.NoError(t, err)
			got := challenge.Status(c.state, at, time.UTC)
			require.Equal(t, ChallengeStatus{Completions: c.state.Completions, Left: c.left, Percent: c.percent, Criteria: c.criteria}, got)
			after, err := json.Marshal(c.state)
			require.NoError(t, err)
			require.JSONEq(t, string(before), string(after), "reading changes nothing")
		})
	}
}

func TestNumber(t *testing.T) {
	data := map[string]json.RawMessage{}
	for name, text := range map[string]string{
		"whole": `7`, "exact": `0.0001`, "more": `1.00019`, "negative": `-2.5`, "large": `1e30`, "text": `"7"`, "null": `null`, "list": `[1]`,
		"deep": `{"a":{"b":1.5}}`,
	} {
		data[name] = json.RawMessage(text)
	}

	for path, want := range map[string]int64{
		"whole": 70_000, "exact": 1, "more": 10_001, "negative": -25_000, "large": maxSum, "text": 0, "null": 0, "list": 0, "absent": 0,
		"deep.a.b": 15_000, "deep.a": 0, "deep.a.c": 0, "whole.a": 0,
	} {
		require.Equal(t, want, number(data, path), path)
	}

	require.EqualValues(t, maxSum, scaled(math.MaxInt64))
}

// TestProgrammeRefuses: what means nothing is refused when it is saved, with the
// field at fault.
func TestProgrammeRefusesTiersAndChallenges(t *testing.T) {
	structure := func(more string) []loyalty.Entity {
		return []loyalty.Entity{{Type: "tiers/structure", ID: "s", Data: json.RawMessage(`{"name":"S","base":"points"` + more + `}`)}}
	}
	tiers := func(base string, thresholds ...string) []loyalty.Entity {
		all := []loyalty.Entity{{Type: "tiers/structure", ID: "s", Data: json.RawMessage(`{"name":"S","base":"` + base + `"}`)}}
		for i, n := range thresholds {
			all = append(all, loyalty.Entity{Type: "tiers/tier", ID: fmt.Sprint("t", i), Data: json.RawMessage(`{"structure":"s","name":{"en":"T"},"threshold":` + n + `}`)})
		}
		return all
	}

	challenge := func(criterion string) []loyalty.Entity {
		return []loyalty.Entity{{Type: "challenges/challenge", ID: "c", Data: json.RawMessage(`{"title":{"en":"C"},"criteria":[{"action":"visit","threshold":1},` + criterion + `]}`)}}
	}
	for name, c := range map[string]struct {
		entities []loyalty.Entity
		field    string // empty: it is accepted
	}{
		"no window":                     {structure(``), ""},
		"window none":                   {structure(`,"window":{"kind":"none"}`), ""},
		"rolling days":                  {structure(`,"window":{"kind":"rolling","days":30},"downgrade":"automatic","grace_days":3`), ""},
		"rolling months":                {structure(`,"window":{"kind":"rolling","months":12}`), ""},
		"rolling both":                  {structure(`,"window":{"kind":"rolling","days":3,"months":12}`), "window"},
		"rolling neither":               {structure(`,"window":{"kind":"rolling"}`), "window"},
		"rolling anchor":                {structure(`,"window":{"kind":"rolling","days":3,"anchor":"01-01"}`), "window.anchor"},
		"calendar":                      {structure(`,"window":{"kind":"calendar"}`), ""},
		"calendar on a leap day":        {structure(`,"window":{"kind":"calendar","anchor":"02-29","months":6}`), ""},
		"calendar on no day":            {structure(`,"window":{"kind":"calendar","anchor":"02-30"}`), "window.anchor"},
		"calendar days":                 {structure(`,"window":{"kind":"calendar","days":30}`), "window.days"},
		"anniversary":                   {structure(`,"window":{"kind":"anniversary","months":24}`), ""},
		"anniversary anchor":            {structure(`,"window":{"kind":"anniversary","anchor":"01-01"}`), "window.anchor"},
		"days without a window":         {structure(`,"window":{"kind":"none","days":3}`), "window.days"},
		"months without a window":       {structure(`,"window":{"kind":"none","months":3}`), "window.months"},
		"grace without a fall":          {structure(`,"grace_days":3`), "grace_days"},
		"grace where nobody falls":      {structure(`,"grace_days":3,"downgrade":"none"`), "grace_days"},
		"manual":                        {tiers(tier.BaseManual, "1", "2"), ""},
		"manual with a window":          {[]loyalty.Entity{{Type: "tiers/structure", ID: "s", Data: json.RawMessage(`{"name":"S","base":"manual","window":{"kind":"rolling","days":3}}`)}}, "window"},
		"thresholds":                    {tiers(tier.BasePoints, "0", "10"), ""},
		"the same threshold":            {tiers(tier.BasePoints, "10", "10.0"), "threshold"},
		"half a point":                  {tiers(tier.BasePoints, "10.5"), "threshold"},
		"money in parts":                {tiers(tier.BaseSpend, "10.5", "10.55"), ""},
		"a tier of no structure":        {tiers(tier.BasePoints, "1")[1:], "structure"},
		"a criterion":                   {challenge(`{"action":"checkout","threshold":1,"sum":"transaction.total","condition":"transaction.total > 3"}`), ""},
		"a sum of an attribute":         {challenge(`{"action":"checkout","threshold":1,"sum":"data.a.b"}`), ""},
		"a sum of an event's attribute": {challenge(`{"action":"checkout","threshold":1,"sum":"event.data.total"}`), ""},
		"a condition that cannot work":  {challenge(`{"action":"checkout","threshold":1,"condition":"transaction.totl > 3"}`), "criteria[1].condition"},
		"a sum of a text":               {challenge(`{"action":"checkout","threshold":1,"sum":"transaction.currency"}`), "criteria[1].sum"},
		"a sum of the customer":         {challenge(`{"action":"checkout","threshold":1,"sum":"customer.score"}`), "criteria[1].sum"},
		"a sum of nothing":              {challenge(`{"action":"checkout","threshold":1,"sum":"data"}`), "criteria[1].sum"},
		"a sum of something inside":     {challenge(`{"action":"checkout","threshold":1,"sum":"item.subtotal.cents"}`), "criteria[1].sum"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := programme.NewRegistry(nil, tier.Structures, tier.Tiers, Challenges).Compile(loyalty.Snapshot{Entities: c.entities})
			if c.field == "" {
				require.NoError(t, err)
				return
			}

			var known *loyalty.Error
			require.ErrorAs(t, err, &known)
			kind := loyalty.Invalid
			if name == "the same threshold" {
				kind = loyalty.Conflict // a value that is taken
			}

			require.Equal(t, kind, known.Kind)
			require.Len(t, known.Details, 1)
			require.Equal(t, c.field, known.Details[0].Field)
		})
	}
}

func challengeZone(t require.TestingT, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

func challengeDay(t require.TestingT, text string) (d calendar.Day) {
	require.NoError(t, d.UnmarshalText([]byte(text)))
	return d
}
