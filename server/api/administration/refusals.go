package administration

import (
	"context"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// refusedWithin is the resolution of the instants of counted refusals: the days of all time zones begin at multiples of
// a quarter of an hour.
const refusedWithin = 15 * time.Minute

// Refuse counts a refused event, alone or in a bulk. It never waits: the count is written to the database with the next
// batch of failed requests.
func (l *FailureLog) Refuse(err error) {
	status, fault := api.AsFault(err)
	if !isRefusal(status) {
		return
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.refused == nil {
		l.refused = map[loyalty.RefusedAs]int64{}
	}
	l.refused[loyalty.RefusedAs{At: l.Clock().UTC().Truncate(refusedWithin), Code: int64(fault.Code)}]++
	l.schedule(failuresEvery)
}

// isRefusal reports whether a status is about the event itself, and not about its sender, the rate limit, or this
// server's state.
func isRefusal(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	}
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError
}

// flushRefused writes the waiting counts to the database. Counts that cannot be written wait; they need at most one
// entry for each code and quarter of an hour.
func (l *FailureLog) flushRefused(ctx context.Context) {
	l.lock.Lock()
	all := l.refused
	l.refused = nil
	l.lock.Unlock()
	if len(all) == 0 {
		return
	}

	if err := l.Admin.KeepRefusals(ctx, all); err != nil {
		l.Logger.Error("counting refused events", "error", err)
		l.lock.Lock()
		defer l.lock.Unlock()
		for r, n := range l.refused {
			all[r] += n
		}
		l.refused = all
		l.schedule(failuresAgain)
	}
}
