package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// shift is one run of a job, which is this node's as long as it renews its lease.
type shift struct {
	jobs *Jobs
	name string
	// asked says that an operator or a request asked for the run; failed says that the previous run failed.
	asked, failed bool

	lock sync.Mutex
	row  loyalty.JobRow // as it is stored
	done int64
	bad  int64
	why  []string // of the first failures
	lost bool
}

// maxWhy is how many failures a result describes.
const maxWhy = 3

// count adds to what the run did. The result describes failures.
func (s *shift) count(done int, failures ...error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.done += int64(done)
	s.bad += int64(len(failures))
	for _, err := range failures {
		if len(s.why) < maxWhy {
			s.why = append(s.why, err.Error())
		}
	}
}

// once counts a run that is one piece of work.
func (s *shift) once(err error) error {
	if err == nil {
		s.count(1)
	}
	return err
}

// work does the job under its lease and gives the job back. Renewal ends before the result is written, because both
// compare with the last state of the row.
func (s *shift) work(ctx context.Context, d job) error {
	working, stop := context.WithCancel(ctx)
	var renewal sync.WaitGroup
	renewal.Go(func() { s.renew(working, stop) })
	err := s.run(working, d)
	stop()
	renewal.Wait()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if stopped := ctx.Err(); stopped != nil { // not a failure: another node continues at once
		return errors.Join(stopped, s.swap(ending, func(row *loyalty.JobRow) { row.Owner, row.LeaseUntil = "", time.Time{} }))
	}
	if err != nil {
		s.count(0, err)
	}

	return s.end(ending, d.every)
}

// run does the work. A panic ends the run, which reports it as its failure, but never the process.
func (s *shift) run(ctx context.Context, d job) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			s.jobs.report(s.name, loyalty.Panicked(fault, false)) // with the stack
			err = fmt.Errorf("panic: %v", fault)
		}
	}()
	return d.work(ctx, s.jobs, s)
}

// renew keeps the lease until ctx ends, and stops the work if the lease is lost. It renews three times as often as
// necessary, so that one failed renewal does not lose the lease.
func (s *shift) renew(ctx context.Context, stop func()) {
	for {
		if s.jobs.sleep(ctx, leaseRenew); ctx.Err() != nil {
			return
		}
		err := s.save(ctx, nil)
		if err != nil && ctx.Err() == nil {
			s.jobs.report(s.name, err)
		}
		if errors.Is(err, errLeaseLost) {
			stop()
			return
		}
	}
}

// errLeaseLost ends a run whose job another run has taken.
var errLeaseLost = errors.New("the lease ended and somebody else does the job")

// save writes how far the run came, and renews the lease. A nil state leaves the stored one as it is.
func (s *shift) save(ctx context.Context, state []byte) error {
	return s.swap(ctx, func(row *loyalty.JobRow) {
		row.LeaseUntil = s.jobs.engine.Now().Add(leaseTime)
		if state != nil {
			row.State = state
		}
	})
}

// end gives the job back until it is due again.
func (s *shift) end(ctx context.Context, interval time.Duration) error {
	var told []loyalty.Notice
	if done, failed, failing := s.came(); failing && !s.failed { // reported once, until the job works again
		told = append(told, loyalty.NewNotice(loyalty.JobFailed, s.jobs.engine.Now(),
			map[string]any{"job": s.name, "done": done, "failed": failed}))
	}
	err := s.swap(ctx, func(row *loyalty.JobRow) {
		now := s.jobs.engine.Now()
		row.Owner, row.LeaseUntil = "", time.Time{}
		row.FinishedAt, row.NextAt, row.Runs = now, now.Add(interval), row.Runs+1
	}, told...)
	if err == nil {
		s.jobs.ended(s.row)
	}
	return err
}

// came returns how far the run came; failing: it has a failure.
func (s *shift) came() (done, failed int64, failing bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.done, s.bad, len(s.why) > 0
}

// swap changes the row while it still belongs to this run. The run and the renewal of its lease call it side by side;
// each writes the whole row, so they take turns.
func (s *shift) swap(ctx context.Context, change func(*loyalty.JobRow), told ...loyalty.Notice) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.lost {
		return errLeaseLost
	}

	after := s.row
	after.Done, after.Failed, after.Result = s.done, s.bad, strings.Join(s.why, "; ")
	change(&after)
	ok, err := s.jobs.store.SwapJob(ctx, &s.row, after, told...)
	switch {
	case err != nil:
		return fmt.Errorf("the job table: %w", err)
	case !ok:
		// lost stays set: after another node's run the row may look the same again, but it is not this run's
		s.lost = true
		return errLeaseLost
	}

	s.row = after
	return nil
}
