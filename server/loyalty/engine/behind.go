package engine

import (
	"context"
	"time"
)

// While a crowd of callers is served, background work takes so few customers at a time, for
// whoever wants one of them waits for all, and on SQLite so does everybody; and for so many
// times as long as that took callers have the database to themselves, but never for longer.
const (
	fewAtOnce    = 16
	restFor      = 3
	longestRests = 500 * time.Millisecond
)

// Behind does a piece of the work that nobody waits for, such as what is due, or the items of a
// bulk operation: most is how many customers it may take, and what it returns is how many it
// took. A crowd that submits events goes first: pieces are small then, with a rest behind each
// but the last. What is due for somebody is applied with their own event all the same.
func (e *Engine) Behind(ctx context.Context, piece func(most int) (took int, err error)) error {
	crowded, most, began := e.Crowded(), MaxBatch, time.Now()
	if crowded {
		most = fewAtOnce
	}
	took, err := piece(most)
	if !crowded || took < most || err != nil {
		return err
	}
	rest := time.NewTimer(min(restFor*time.Since(began), longestRests))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
	}
	return nil
}
