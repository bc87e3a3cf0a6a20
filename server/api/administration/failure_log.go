package administration

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// Failed requests are collected in memory and written to the database in batches. The number that wait is bounded, so
// that a flood costs only one batch a second. Requests without a good signature, which any caller can send, may use
// half of the room.
const (
	failuresWaiting = 512
	failuresEvery   = time.Second
	failuresAgain   = 10 * time.Second // after the database refused a batch
	failuresTries   = 6
	failuresTime    = 5 * time.Second // for one batch
	forgetEvery     = 10 * time.Minute
	forgetAfter     = 1000 // stored ones
)

// FailureLog collects the failed requests of this node and writes them to the database. It never delays a request.
type FailureLog struct {
	Admin  *admin.Admin
	Logger *slog.Logger
	Clock  func() time.Time
	Names  map[string]bool // names in the documents; see masked

	lock    sync.Mutex
	waiting []loyalty.FailedRequest
	timer   *time.Timer // the timer that is set; nil: none
	ended   bool
	dropped int64                       // since the start
	refused map[loyalty.RefusedAs]int64 // events, not written to the database yet

	flushing  sync.Mutex // guards the fields below
	tries     int        // failed ones since the last success
	told      int64      // dropped ones that were reported
	kept      int        // stored ones since forgotten
	forgotten time.Time
}

// UnknownCode stands for the code of a repeated stored refusal.
const UnknownCode = -1

// Add adds a failed request, or counts it if there is no room.
func (l *FailureLog) Add(f loyalty.FailedRequest) {
	l.lock.Lock()
	defer l.lock.Unlock()
	room := failuresWaiting
	if f.KeyID == "" {
		room /= 2
	}
	if len(l.waiting) >= room {
		l.dropped++
		return
	}
	l.waiting = append(l.waiting, f)
	l.schedule(failuresEvery)
}

// schedule plans the next write. The caller holds the lock.
func (l *FailureLog) schedule(after time.Duration) {
	if l.timer != nil || l.ended {
		return
	}

	l.timer = time.AfterFunc(after, func() {
		l.flushing.Lock()
		defer l.flushing.Unlock()
		l.lock.Lock()
		l.timer = nil
		ended := l.ended
		l.lock.Unlock()
		if !ended {
			l.write(context.Background())
		}
	})
}

// Close writes what waits, once, and waits for a batch under way: nothing is written afterwards.
func (l *FailureLog) Close(ctx context.Context) {
	l.lock.Lock()
	l.ended = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.lock.Unlock()
	l.flush(ctx)
}

// flush writes what waits. A batch that the database refuses is tried again for a minute.
func (l *FailureLog) flush(ctx context.Context) {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.write(ctx)
}

// write is flush for a caller that holds flushing.
func (l *FailureLog) write(ctx context.Context) {
	l.lock.Lock()
	batch, dropped := l.waiting, l.dropped
	l.waiting = nil
	l.lock.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failuresTime)
	defer cancel()
	l.flushRefused(ctx)
	if dropped > l.told {
		l.Logger.Warn("failed requests came faster than they are kept", "not_kept", dropped-l.told)
		l.told = dropped
	}

	if len(batch) == 0 {
		return
	}

	if err := l.Admin.KeepFailures(ctx, batch); err != nil {
		l.again(batch, err)
		return
	}

	l.tries = 0
	l.forget(ctx, len(batch))
}

// again puts a batch back, or drops it if the database has been away for long.
func (l *FailureLog) again(batch []loyalty.FailedRequest, err error) {
	if l.tries == 0 {
		l.Logger.Error("keeping failed requests", "error", err)
	}

	l.tries++
	l.lock.Lock()
	defer l.lock.Unlock()
	all := slices.Concat(batch, l.waiting)
	if l.tries >= failuresTries {
		l.tries, l.waiting, l.dropped = 0, nil, l.dropped+int64(len(all))
		return
	}

	l.waiting = all[:min(len(all), failuresWaiting)]
	l.dropped += int64(len(all) - len(l.waiting))
	l.schedule(failuresAgain)
}

// forget drops old and surplus entries from time to time.
func (l *FailureLog) forget(ctx context.Context, kept int) {
	now := l.Clock()
	if l.kept += kept; l.kept < forgetAfter && now.Sub(l.forgotten) < forgetEvery {
		return
	}
	if err := l.Admin.ForgetFailures(ctx); err != nil {
		l.Logger.Error("forgetting failed requests", "error", err)
		return
	}
	l.kept, l.forgotten = 0, now
}

// notKept is how many failed requests this node has dropped since its start.
func (l *FailureLog) notKept() int64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.dropped
}

// IsFailure reports whether an answer with this status is logged as a failed request.
func IsFailure(status int) bool { return status >= http.StatusBadRequest }
