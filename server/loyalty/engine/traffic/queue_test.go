package traffic

import (
	"context"
	"hash/maphash"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestQueueThatIsFull: a caller that finds no place for as long as it waits is told that nothing was done, also if its
// context has no deadline.
func TestQueueThatIsFull(t *testing.T) {
	d := &Dispatcher{lanes: []*lane{newLane(make(chan waiting), MaxBatch, 1, newInFlight())}, seed: maphash.MakeSeed()}
	late := make(chan time.Time, 1)
	late <- time.Now()
	err := d.send(context.Background(), submitted(context.Background(), "ada"), late)
	require.ErrorIs(t, err, loyalty.ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	gone, leave := context.WithCancel(context.Background())
	leave()
	err = d.send(gone, submitted(gone, "ada"), nil)
	require.ErrorIs(t, err, loyalty.ErrUnavailable)
	require.ErrorIs(t, err, context.Canceled)
}

// TestCallersWhoLeave: if a caller leaves, no worker takes its submission, and the caller is told that nothing was
// done; if a worker had taken it, its outcome is unknown.
func TestCallersWhoLeave(t *testing.T) {
	for name, c := range map[string]struct {
		taken bool
		want  error
	}{
		"before it was taken": {false, loyalty.ErrUnavailable},
		"after":               {true, loyalty.ErrUnconfirmed},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Dispatcher{lanes: []*lane{newLane(make(chan waiting), MaxBatch, 1, newInFlight())}, seed: maphash.MakeSeed()}
			ctx, leave := context.WithCancel(context.Background())
			defer leave()
			var came waiting
			go func() {
				came = <-d.lanes[0].queue
				if c.taken {
					came.claimed.Store(true)
				}
				leave()
			}()

			_, err := d.Submit(ctx, &Ticket{})
			require.ErrorIs(t, err, c.want)
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, came.join(nil))
		})
	}
}

// TestNextRoom: batches that were split are followed by smaller ones, and those by larger ones
// until they are as large as ever.
func TestNextRoom(t *testing.T) {
	for name, c := range map[string]struct {
		room, size int
		split      bool
		want       int
	}{
		"a full batch that was not split": {128, 128, false, 128},
		"one that was":                    {128, 128, true, 64},
		"a small one that was":            {128, 10, true, 5},
		"two that were":                   {128, 2, true, 1},
		"a small batch tells nothing":     {32, 5, false, 32},
		"a full one lets more in":         {32, 32, false, 37},
		"even after one":                  {1, 1, false, 2},
		"and never more than usual":       {120, 120, false, 128},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, nextRoom(c.room, c.size, MaxBatch, c.split)) })
	}
}
