package traffic

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
func (c *callerWait) gathered(queue <-chan int) (size int) {
	gather(c, queue, 0, MaxBatch, func(int) int {
		size++
		return size
	})
	return size
}

// answered is what a lane knows of a finished batch when it gathers the next one: its size, how
// many waited at its end, and how long it took.
func (c *callerWait) answered(size, waiting int, took time.Duration) {
	c.callers = size + waiting
	c.takes += (took - c.takes) / 8
}

// TestCallersWhoComeBack: of sixteen callers half were answered just now. They make one batch with the others, as soon
// as the last one is there.
func TestCallersWhoComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c callerWait
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

// TestCallersWhoStayAway: callers that never come back are waited for less and less, and each time no longer than half
// of what a batch takes.
func TestCallersWhoStayAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c callerWait
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
		var lone, large, closing callerWait
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
