package game

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// TestPickOption draws every number once: each option comes up exactly as often
// as its weight says, and one without weight never.
func TestPickOption(t *testing.T) {
	for name, weights := range map[string][]int64{
		"one": {1}, "alike": {1, 1, 1}, "different": {5, 0, 30, 65}, "none in the end": {3, 0}, "none in front": {0, 0, 7},
	} {
		t.Run(name, func(t *testing.T) {
			var all int64
			options := make([]WheelOption, len(weights))
			for i, weight := range weights {
				options[i].Weight = weight
				all += weight
			}

			came := make([]int64, len(weights))
			for n := range all {
				came[pickOption(options, func(most int64) int64 {
					require.Equal(t, all, most)
					return n
				})]++
			}

			require.Equal(t, weights, came)
		})
	}

	never := func(int64) int64 { t.Error("no number is needed"); return 0 }
	require.Equal(t, -1, pickOption(nil, never))
	require.Equal(t, -1, pickOption([]WheelOption{{Weight: 0}}, never))
}

func TestWheelPeriods(t *testing.T) {
	budapest, err := time.LoadLocation("Europe/Budapest")
	require.NoError(t, err)

	for _, c := range []struct {
		period, at, want string
	}{
		{periodDay, "2026-03-01T22:59:59Z", "day 2026-03-01"},
		{periodDay, "2026-03-01T23:00:00Z", "day 2026-03-02"},
		{periodDay, "2026-07-01T22:00:00Z", "day 2026-07-02"}, // summer time
		{periodWeek, "2026-03-01T12:00:00Z", "week 2026-02-23"},
		{periodWeek, "2026-03-01T23:00:00Z", "week 2026-03-02"},
		{periodWeek, "2026-01-01T12:00:00Z", "week 2025-12-29"},
		{periodMonth, "2026-03-31T21:59:59Z", "month 2026-03-01"},
		{periodMonth, "2026-03-31T22:00:00Z", "month 2026-04-01"},
		{periodEver, "2026-03-31T22:00:00Z", ""},
		{"", "2026-03-31T22:00:00Z", ""},
	} {
		w := &Wheel{}
		w.Limit.Period = c.period
		at, err := time.Parse(time.RFC3339, c.at)
		require.NoError(t, err)
		require.Equal(t, c.want, w.period(at, budapest), "%s at %s", c.period, c.at)
	}
}

// TestWheelLimits: spins count anew in each period, and all together where the limit is for ever.
func TestWheelLimits(t *testing.T) {
	spin := func(period string) (p WheelProgress, left []int64) {
		w := &Wheel{}
		w.Limit.Count, w.Limit.Period = 2, period
		for _, hour := range []time.Duration{8, 9, 30} { // twice on a day, once on the next
			at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC).Add(hour * time.Hour)
			left = append(left, p.Left(w, at, time.UTC))
			p.Spin(w, at, time.UTC)
		}
		return p, append(left, p.Left(w, time.Date(2026, 3, 3, 8, 0, 0, 0, time.UTC), time.UTC))
	}

	p, left := spin(periodDay)
	require.Equal(t, []int64{2, 1, 2, 1}, left)
	require.Equal(t, WheelProgress{Period: "day 2026-03-03", Spins: 1, Total: 3}, p)
	_, left = spin(periodEver)
	require.Equal(t, []int64{2, 1, 0, 0}, left)
}

// TestContestProgress holds entries against a plain list of what each of them
// cost: the last ones go first, and each gives back its own price.
func TestContestProgress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p ContestProgress
		var model []int64
		var lots byte
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				count, price := rapid.Int64Range(1, 4).Draw(t, "count"), rapid.Int64Range(0, 2).Draw(t, "price")
				var burn []points.Portion
				if price > 0 {
					lots += byte(rapid.IntRange(0, 1).Draw(t, "lot"))
					burn = []points.Portion{{Lot: points.ID{lots}, Points: count * price}}
				}
				p.Enter(count, price, burn)
				for range count {
					model = append(model, price)
				}
			},
			"revoke": func(t *rapid.T) {
				count := rapid.Int64Range(0, int64(len(model))).Draw(t, "count")
				var want, got int64
				for range count {
					want += model[len(model)-1]
					model = model[:len(model)-1]
				}

				refund := func(burn []points.Portion, n int64) ([]points.Portion, error) {
					require.LessOrEqual(t, n, points.Total(burn), "entries are paid by their own lots")
					got += n
					return giveBack(burn, n), nil
				}

				if rapid.Bool().Draw(t, "keep the points") {
					refund, want = nil, 0
				}

				require.NoError(t, p.Revoke(count, refund))
				require.Equal(t, want, got)
			},
			"": func(t *rapid.T) {
				var count, cost int64
				for _, paid := range p.Paid {
					require.Positive(t, paid.Count)
					require.GreaterOrEqual(t, points.Total(paid.Burn), paid.Count*paid.Points)
					count, cost = count+paid.Count, cost+paid.Count*paid.Points
				}
				var all int64
				for _, price := range model {
					all += price
				}
				require.Equal(t, int64(len(model)), p.Entries)
				require.Equal(t, p.Entries, count)
				require.Equal(t, all, cost)
			},
		})
	})
}

// giveBack takes points off the end of a burn.
func giveBack(burn []points.Portion, n int64) (left []points.Portion) {
	for i := len(burn) - 1; i >= 0; i-- {
		k := min(n, burn[i].Points)
		n -= k
		if burn[i].Points -= k; burn[i].Points > 0 {
			left = append([]points.Portion{burn[i]}, left...)
		}
	}
	return left
}

// TestGamesAreChecked saves what could not be played: the field is named.
func TestGamesAreChecked(t *testing.T) {
	quiz := `"title":{"en":"Q"},"question":{"en":"?"},"answers":[{"id":"a","text":{}},{"id":"b","text":{}}]`

	for name, c := range map[string]struct{ kind, data, field string }{
		"a wheel that cannot stop":        {"prize-wheels/wheel", `{"options":[{"type":"empty","weight":0}]}`, "options"},
		"a wheel without options":         {"prize-wheels/wheel", `{"options":[]}`, "options"},
		"a prize that does not exist":     {"prize-wheels/wheel", `{"options":[{"type":"empty","weight":1},{"type":"reward","weight":1,"reward":"mug"}]}`, "options[1].reward"},
		"a wheel that ends first":         {"prize-wheels/wheel", `{"options":[{"type":"empty","weight":1}],"starts_at":"2026-03-02","ends_at":"2026-03-01"}`, "ends_at"},
		"a contest that ends first":       {"contests/contest", `{"starts_at":"2026-03-02","ends_at":"2026-03-01"}`, "ends_at"},
		"an answer nobody can give":       {"quizzes/quiz", `{` + quiz + `,"correct_answer":"c"}`, "correct_answer"},
		"no right answer":                 {"quizzes/quiz", `{` + quiz + `}`, "correct_answer"},
		"two answers alike":               {"quizzes/quiz", `{"answers":[{"id":"a"},{"id":"a"}],"correct_answer":"a"}`, "answers"},
		"a quiz that ends first":          {"quizzes/quiz", `{` + quiz + `,"correct_answer":"a","starts_at":"2026-03-02","ends_at":"2026-03-01"}`, "ends_at"},
		"a code that is never asked":      {"treasure-hunt/treasure", `{"kind":"online","code":"JAR"}`, "code"},
		"a treasure that ends first":      {"treasure-hunt/treasure", `{"kind":"online","starts_at":"2026-03-02","ends_at":"2026-03-01"}`, "ends_at"},
		"two questions alike":             {"profiling/flow", `{"questions":[{"id":"q","field":"gender"},{"id":"q","field":"email"}]}`, "questions[1].id"},
		"a field no profile has":          {"profiling/flow", `{"questions":[{"id":"q","field":"score"}]}`, "questions[0].field"},
		"an attribute without a name":     {"profiling/flow", `{"questions":[{"id":"q","field":"cf_"}]}`, "questions[0].field"},
		"two answers of a question alike": {"profiling/flow", `{"questions":[{"id":"q","field":"gender","answers":[{"id":"a"},{"id":"a"}]}]}`, "questions[0].answers"},
		"a flow that ends first":          {"profiling/flow", `{"questions":[],"starts_at":"2026-03-02","ends_at":"2026-03-01"}`, "ends_at"},
		"eligible items of a cart offer":  {"offers/offer", `{"type":"cart","eligible_items":[{"type":"product","id":"p"}]}`, "eligible_items"},
		"an item offer without items":     {"offers/offer", `{"type":"item"}`, "eligible_items"},
		"required items of an item offer": {"offers/offer", `{"type":"item","eligible_items":[{"type":"product","id":"p"}],"required_items":[{"type":"product","id":"p"}]}`, "required_items"},
		"a combined offer of one part":    {"offers/offer", `{"type":"combined","eligible_items":[{"type":"product","id":"p"}]}`, "required_items"},
		"more than the whole":             {"offers/offer", `{"type":"cart","discount":{"type":"percent_discount","value":100.01}}`, "discount.value"},
		"an offer that ends first":        {"offers/offer", `{"type":"cart","discount":{"type":"percent_discount","value":100},"starts_at":"2026-03-02","ends_at":"2026-03-01"}`, "ends_at"},
		"points that are no number":       {"contests/contest", `{"points":"ten"}`, "points"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := programme.NewRegistry(nil, programme.Segments, coupon.Pools, reward.Rewards, offer.Offers, Contests, Wheels, Quizzes, Treasures, Flows).Compile(loyalty.Snapshot{Entities: []loyalty.Entity{{Type: c.kind, ID: "x", Data: json.RawMessage(c.data)}}})
			var e *loyalty.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, loyalty.Invalid, e.Kind)
			require.Equal(t, c.field, e.Details[0].Field)
		})
	}
}

// TestTreasureCodes: people type codes from posters.
func TestTreasureCodes(t *testing.T) {
	jar := &Treasure{Kind: TreasureOffline, Code: "Jar-77"}
	for code, opens := range map[string]bool{"Jar-77": true, "JAR-77": true, " jar-77\t": true, "Jar-7": false, "Jar 77": false, "": false} {
		require.Equal(t, opens, jar.Opens(code), "%q", code)
	}
}
