package traffic

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInBackground: beside a crowd, pieces are small and a rest follows each. Without one, they are whole, and none
// follows.
func TestInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Dispatcher{lanes: []*lane{newLane(make(chan waiting, 2*highCallers), MaxBatch, 1, newInFlight())}}
		took := func(some func(most int) int) (offered int, rested time.Duration) {
			began := time.Now()
			require.NoError(t, d.InBackground(t.Context(), func(most int) (int, error) {
				offered = most
				time.Sleep(10 * time.Millisecond)
				return some(most), nil
			}))
			return offered, time.Since(began) - 10*time.Millisecond
		}

		whole := func(most int) int { return most }
		most, rested := took(whole)
		require.Equal(t, MaxBatch, most)
		require.Zero(t, rested, "no caller is there")
		for range highCallers {
			d.lanes[0].queue <- waiting{}
		}

		most, rested = took(whole)
		require.Equal(t, fewAtOnce, most)
		require.Equal(t, restFor*10*time.Millisecond, rested)
		_, rested = took(func(most int) int { return most - 1 })
		require.Zero(t, rested, "it was the last")
	})
}
