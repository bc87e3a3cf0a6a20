package traffic

import (
	"context"
	"time"
)

// Limits of background work while a crowd of callers is served. It takes at most fewAtOnce customers at a time, because
// a caller that needs one of them waits for all of them, and on SQLite every caller waits. Then it rests restFor times
// as long as that took, but at most longestRest.
const (
	fewAtOnce   = 16
	restFor     = 3
	longestRest = 500 * time.Millisecond
)

// InBackground runs one piece of work that no caller waits for, such as settling what is due or the items of a bulk
// operation. piece gets the number of customers that it may take and returns how many it took. While a crowd submits
// events, pieces are small, and each piece but the last is followed by a rest. A customer's own event still applies
// what is due for that customer at once.
func (d *Dispatcher) InBackground(ctx context.Context, piece func(most int) (took int, err error)) error {
	crowded, most, began := d.Crowded(), MaxBatch, time.Now()
	if crowded {
		most = fewAtOnce
	}

	took, err := piece(most)
	if !crowded || took < most || err != nil {
		return err
	}

	rest := time.NewTimer(min(restFor*time.Since(began), longestRest))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
	}

	return nil
}
