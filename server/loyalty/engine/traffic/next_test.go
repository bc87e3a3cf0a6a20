package traffic

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestAfter: each failure of a transaction leads to one next step. What a fault broke is not decided again.
func TestAfter(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		decided Next
		want    Next
	}{
		"committed":                {nil, Done, Done},
		"more rows":                {errNotDecided, More, More},
		"rows without a guard":     {errNotDecided, load, load},
		"a large purchase":         {fmt.Errorf("rolled back: %w", errNotDecided), heavy, heavy},
		"too much to load":         {loyalty.ErrMuch, Done, split},
		"a conflict while loading": {loyalty.ErrBatchConflict, Done, Again},
		"a conflict while writing": {fmt.Errorf("a guard failed: %w", loyalty.ErrBatchConflict), Done, Again},
		"a fault of the rules":     {loyalty.Panicked("index out of range", false), More, Done},
		"an unknown outcome":       {loyalty.ErrOutcomeUnknown, Done, Done},
		"a database that is away":  {loyalty.ErrDatabaseAway, Done, Done},
		"a time that is over":      {context.DeadlineExceeded, Done, Done},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, after(c.err, c.decided)) })
	}
}

// TestLasting: after a failure that would meet the rest of the batch too, the rest is not tried.
func TestLasting(t *testing.T) {
	now, long := time.Now(), time.Now().Add(-2*submitTime)
	require.False(t, lasting(nil, long))
	require.False(t, lasting(errors.New("a statement failed"), long))
	require.False(t, lasting(loyalty.ErrMachineAway, now))
	require.True(t, lasting(loyalty.ErrMachineAway, long))
	require.True(t, lasting(loyalty.ErrDatabaseAway, now))
	require.True(t, lasting(loyalty.ErrOutcomeUnknown, now))
}

// TestHeavyLeavesItsBatch: a batch goes on without the submissions that moved to the heavy worker, and keeps those for
// which that worker has no place.
func TestHeavyLeavesItsBatch(t *testing.T) {
	d, f := &Dispatcher{heavy: make(chan waiting, 1)}, &flight{}
	for _, large := range []bool{false, true, true} {
		f.tickets = append(f.tickets, &Ticket{large: large})
	}

	require.Equal(t, []*Ticket{f.tickets[0], f.tickets[2]}, d.move(f, f.tickets))
	require.Equal(t, []*Ticket{f.tickets[0], f.tickets[2]}, f.decided())
	require.Same(t, f.tickets[1], (<-d.heavy).Ticket)
}

// outcomes collects how attempts were traced.
type outcomes []string

func (*outcomes) Caller(context.Context) any    { return nil }
func (*outcomes) Decided(any, *loyalty.Outcome) {}
func (o *outcomes) Batch(_ []any, b Traced)     { *o = append(*o, b.Outcome) }

// TestTracedOutcome: an attempt that goes on with other rows or in other batches has not failed.
func TestTracedOutcome(t *testing.T) {
	ticket := []*Ticket{{caller: "a request"}}
	for to, want := range map[Next]string{
		Done: "failed", More: "incomplete", load: "incomplete", split: "incomplete", heavy: "incomplete", Again: "conflict",
	} {
		var told outcomes
		d := &Dispatcher{tracer: &told}
		d.traced(ticket, &watch{}, false, to, errNotDecided)
		require.Equal(t, outcomes{want}, told, "%d", to)
	}
}
