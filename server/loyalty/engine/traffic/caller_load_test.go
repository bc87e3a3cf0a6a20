package traffic

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestCrowdIsSeen: many callers in a batch are a crowd, and so is a worker that has no rest, as
// long as it is so and a moment longer.
func TestCrowdIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Dispatcher{lanes: []*lane{newLane(make(chan waiting, highCallers), MaxBatch, 1, newInFlight())}}
		batches := func(n, size int, takes, rests time.Duration) {
			for range n {
				began := time.Now()
				time.Sleep(takes)
				d.load.note(size, 0, began, time.Now())
				time.Sleep(rests)
			}
		}

		assert.False(t, d.Crowded())
		batches(1, highCallers, 5*time.Millisecond, 0)
		assert.True(t, d.Crowded(), "many at once")
		batches(1, highCallers-1, 5*time.Millisecond, 0)
		assert.False(t, d.Crowded(), "not so many")

		batches(600, 5, time.Millisecond, 0)
		assert.True(t, d.Crowded(), "few at once, and no rest")
		time.Sleep(loadWindow + time.Millisecond)
		assert.False(t, d.Crowded(), "they are gone")
		batches(600, 5, time.Millisecond, time.Millisecond)
		assert.False(t, d.Crowded(), "half of the time")
		batches(100, 2, 8*time.Millisecond, 0)
		assert.False(t, d.Crowded(), "not many: each commit takes its time")
		time.Sleep(loadWindow + time.Millisecond)
		batches(100, 5, 8*time.Millisecond, 0)
		assert.True(t, d.Crowded(), "several at a time, and no rest")

		time.Sleep(loadWindow + time.Millisecond)
		for range highCallers {
			assert.False(t, d.Crowded())
			d.lanes[0].queue <- waiting{}
		}

		assert.True(t, d.Crowded(), "many wait for a batch that does not end")
	})
}
