package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// queueOf is a queue in which so many submissions wait.
func queueOf(n int) chan int {
	queue := make(chan int, 4*MaxBatch)
	come(queue, n)
	return queue
}

func come(queue chan int, n int) {
	for i := range n {
		queue <- i
	}
}

// gathered is how many the batch has.
func (c *crowd) gathered(queue <-chan int) (size int) {
	gather(c, queue, 0, MaxBatch, func(int) int {
		size++
		return size
	})
	return size
}

// TestCallersWhoComeBack: of sixteen callers half were answered just now. They make one
// answered is what a lane knows of a finished batch when it gathers the next one: its size, how
// many waited at its end, and how long it took.
func (c *crowd) answered(size, waiting int, took time.Duration) {
	c.callers = size + waiting
	c.takes += (took - c.takes) / 8
}

// batch with the others, as soon as the last one is there.
func TestCallersWhoComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		c.answered(8, 8, 16*time.Millisecond)
		queue := queueOf(8)
		go func() {
			time.Sleep(300 * time.Microsecond)
			come(queue, 5)
			time.Sleep(100 * time.Microsecond)
			come(queue, 3)
		}()
		began := time.Now()
		assert.Equal(t, 16, c.gathered(queue))
		assert.Equal(t, 400*time.Microsecond, time.Since(began))
	})
}

// TestCallersWhoStayAway: who never comes back is waited for less and less, and each time
// no longer than half of what a batch takes.
func TestCallersWhoStayAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		began := time.Now()
		for range 1000 {
			c.answered(8, 8, 800*time.Microsecond)
			assert.Equal(t, 8, c.gathered(queueOf(8)))
		}
		assert.Less(t, time.Since(began), 11*400*time.Microsecond)
		assert.Positive(t, time.Since(began), "it is tried")
	})
}

// TestWhoIsNotWaitedFor: a lone caller waits for no other, a large batch for nothing, and
// an engine that closes for no one.
func TestWhoIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var lone, large, closing crowd
		lone.answered(1, 1, time.Second)
		assert.Equal(t, 1, lone.gathered(queueOf(1)))
		large.answered(MaxBatch, enough, time.Second)
		assert.Equal(t, enough, large.gathered(queueOf(enough)))
		closing.answered(8, 8, time.Second)
		queue := queueOf(8)
		close(queue)
		assert.Equal(t, 8, closing.gathered(queue))
		assert.Zero(t, time.Since(began))
	})
}

// TestCrowdIsSeen: many callers in a batch are a crowd, and so is a worker that has no rest, as
// long as it is so and a moment longer.
func TestCrowdIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Engine{lanes: []*lane{newLane(make(chan waiting, crowdCallers), MaxBatch, 1, newInFlight())}}
		batches := func(n, size int, takes, rests time.Duration) {
			for range n {
				began := time.Now()
				time.Sleep(takes)
				e.load.note(size, 0, began, time.Now())
				time.Sleep(rests)
			}
		}

		assert.False(t, e.Crowded())
		batches(1, crowdCallers, 5*time.Millisecond, 0)
		assert.True(t, e.Crowded(), "many at once")
		batches(1, crowdCallers-1, 5*time.Millisecond, 0)
		assert.False(t, e.Crowded(), "not so many")

		batches(600, 5, time.Millisecond, 0)
		assert.True(t, e.Crowded(), "few at once, and no rest")
		time.Sleep(crowdWhile + time.Millisecond)
		assert.False(t, e.Crowded(), "they are gone")
		batches(600, 5, time.Millisecond, time.Millisecond)
		assert.False(t, e.Crowded(), "half of the time")
		batches(100, 2, 8*time.Millisecond, 0)
		assert.False(t, e.Crowded(), "not many: each commit takes its time")
		time.Sleep(crowdWhile + time.Millisecond)
		batches(100, 5, 8*time.Millisecond, 0)
		assert.True(t, e.Crowded(), "several at a time, and no rest")

		time.Sleep(crowdWhile + time.Millisecond)
		for range crowdCallers {
			assert.False(t, e.Crowded())
			e.lanes[0].queue <- waiting{}
		}

		assert.True(t, e.Crowded(), "many wait for a batch that does not end")
	})
}
