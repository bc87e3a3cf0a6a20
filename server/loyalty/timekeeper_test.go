package loyalty_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// sameClock is a database without a clock of its own.
type sameClock func() time.Time

func (c sameClock) DatabaseTime(context.Context) (time.Time, error) { return c(), nil }

// TestClockSteps: a clock that is more than a day ahead of what is known to be right is not believed,
// whether the program was running meanwhile or not, until it is right again or accepted.
func TestClockSteps(t *testing.T) {
	right := time.Now()
	for name, row := range map[string]struct {
		known, accepted time.Time
		steps           []time.Duration // of the clock, from one look to the next
		trusted         []bool
	}{
		"nothing known":            {steps: []time.Duration{400 * 24 * time.Hour}, trusted: []bool{true}},
		"within a day":             {known: right, steps: []time.Duration{23 * time.Hour}, trusted: []bool{true}},
		"ahead at the start":       {known: right, steps: []time.Duration{25 * time.Hour, 25 * time.Hour}, trusted: []bool{false, false}},
		"stepped while it ran":     {steps: []time.Duration{0, 48 * time.Hour, 0}, trusted: []bool{true, false, true}},
		"accepted":                 {known: right, accepted: right.Add(50 * time.Hour), steps: []time.Duration{48 * time.Hour, 51 * time.Hour}, trusted: []bool{true, true}},
		"beyond what was accepted": {known: right, accepted: right.Add(50 * time.Hour), steps: []time.Duration{51 * time.Hour}, trusted: []bool{false}},
		"set back":                 {known: right, steps: []time.Duration{-90 * 24 * time.Hour}, trusted: []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			step := time.Duration(0)
			clock := func() time.Time { return time.Now().Add(step) }
			var kept []bool // whether each call kept an instant
			keeper := loyalty.NewTimekeeper(loyalty.TimekeeperOptions{
				Database: sameClock(clock), Clock: clock, Right: row.known, Accepted: row.accepted,
				Stepped: func(right time.Time) { kept = append(kept, !right.IsZero()) },
			})

			believed := true
			for i := range row.steps {
				step = row.steps[i]
				err := keeper.Check(t.Context())
				require.Equal(t, row.trusted[i], err == nil, "%v", err)
				if err != nil {
					require.ErrorIs(t, err, loyalty.ErrClockOff)
				}
				if believed != row.trusted[i] {
					believed = row.trusted[i]
					require.Equal(t, !believed, kept[len(kept)-1])
				}
			}
		})
	}
}
