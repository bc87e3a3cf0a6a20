package traffic

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// begun is closed once a batch of the customers has begun.
func (f *inFlight) begun(customers ...string) chan struct{} {
	c := make(chan struct{})
	go func() {
		f.alone(customers)
		close(c)
	}()
	synctest.Wait()
	return c
}

func is(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestBulkBesideLane: a customer of a bulk is in no batch of a lane, and the other way round; others do not wait.
func TestBulkBesideLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overlapping(MaxBatch)
		arrive(l, "ann", "bob")
		first := l.take()
		other, bulk := l.inFlight.begun("cid", "dan"), l.inFlight.begun("eve", "bob")
		assert.True(t, is(other))
		assert.False(t, is(bulk), "bob is in the lane's batch")
		arrive(l, "eve", "dan", "fay")
		second := l.take()
		assert.Equal(t, []string{"eve", "fay"}, second.names(), "a bulk that waits holds no customer")
		l.lands(first)
		synctest.Wait()
		assert.False(t, is(bulk), "eve is in the lane's next batch")
		l.lands(second)
		synctest.Wait()
		assert.True(t, is(bulk))

		third := taken(l)
		assert.Empty(t, third, "dan is in a bulk")
		arrive(l, "bob")
		synctest.Wait()
		assert.Empty(t, third, "and so is bob")
		l.inFlight.end([]string{"cid", "dan"})
		assert.Equal(t, []string{"dan"}, (<-third).names())
		fourth := taken(l)
		l.inFlight.end([]string{"eve", "bob"})
		assert.Equal(t, []string{"bob"}, (<-fourth).names())
	})
}

// TestPatience: a bulk does not wait for ever for a customer who is in every batch, and that it began
// all the same is not forgotten when one of the others ends.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overlapping(MaxBatch)
		arrive(l, "ann")
		first := l.take()
		bulk := l.inFlight.begun("ann", "bob")
		time.Sleep(patience - time.Millisecond)
		synctest.Wait()
		assert.False(t, is(bulk))
		time.Sleep(time.Millisecond)
		synctest.Wait()
		assert.True(t, is(bulk))
		l.lands(first)
		arrive(l, "ann")
		second := taken(l)
		assert.Empty(t, second, "the bulk is under way")
		l.inFlight.end([]string{"ann", "bob"})
		assert.Equal(t, []string{"ann"}, (<-second).names())
	})
}

// TestLeaversHoldNoCustomer: the customer of a caller who has left is free.
func TestLeaversHoldNoCustomer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overlapping(MaxBatch)
		gone, leave := context.WithCancel(t.Context())
		leave()
		l.queue <- submitted(gone, "ann")
		arrive(l, "bob")
		assert.Equal(t, []string{"bob"}, l.take().names())
		assert.True(t, is(l.inFlight.begun("ann")))
	})
}
