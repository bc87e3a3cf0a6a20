// Package job is the scheduled work, shared by nodes: the table of jobs, their leases, and bulk operations. It stands
// above all other packages of the rules, so the tests that need all of them are here too: histories against a plain
// model, merges, races.
package job

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
	"github.com/loyalty-platform/loyalty/server/loyalty/tail"
)

// Job is one job of the program with its row of the job table.
type Job struct {
	loyalty.JobRow
	Interval time.Duration // from the end of a run until the next one is due
}

// Running reports whether a node does the job at an instant.
func (j *Job) Running(now time.Time) bool { return held(&j.JobRow, now) }

// job is what a job does, and how often.
type job struct {
	every time.Duration
	work  func(context.Context, *Jobs, *shift) error
}

// after is the job with functions that run before its work.
func (d job) after(first []func(context.Context) error) job {
	work := d.work
	d.work = func(ctx context.Context, j *Jobs, s *shift) error {
		for _, f := range first {
			if err := f(ctx); err != nil {
				return err
			}
		}
		return work(ctx, j, s)
	}
	return d
}

// settleEvery is how often the jobs look for what is due. A customer's own event does not wait for them: it applies
// what is due first.
const settleEvery = time.Minute

// bulkEvery is how often the jobs look for bulk operations that another node began and did not continue.
const bulkEvery = 15 * time.Second

// tailEvery is how often the job of the tail looks for events that a node committed and did not number.
const tailEvery = 15 * time.Second

// jobs lists the jobs by name. All due effects share one mechanism, the customer's due instant. The first four jobs
// therefore settle everything that is due, and each finds less than the one before. tiers also recalculates structures
// that were changed. A request can do all that a job does, at its own moment: if no node runs the jobs, due effects
// wait until their customer is touched.
var jobs = map[string]job{
	"auto_accept": {settleEvery, settle},
	"expiry":      {settleEvery, settle},
	"pending":     {settleEvery, settle},
	"tiers": {settleEvery, func(ctx context.Context, j *Jobs, s *shift) error {
		return errors.Join(settle(ctx, j, s), recalculate(ctx, j, s))
	}},
	"anchor": {time.Hour, anchor},
	// often, because each run only checks whether the hour of the proof has come
	"ledger": {15 * time.Minute, func(ctx context.Context, j *Jobs, s *shift) error {
		done, err := j.prove(ctx, s.asked)
		if done {
			s.count(1)
		}
		return err
	}},
	"leaderboard": {settleEvery, func(ctx context.Context, j *Jobs, s *shift) error {
		l := leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{Store: j.store,
			Programmes: j.engine, Clock: j.engine.Now})
		return l.Rank(ctx, func(customers int) { s.count(customers) })
	}},
	"tail": {tailEvery, func(ctx context.Context, j *Jobs, s *shift) error {
		return s.once(tail.New(j.store, j.engine.Now).Keep(ctx))
	}},
	"statistics": {settleEvery, func(ctx context.Context, j *Jobs, s *shift) error {
		return statistics.New(statistics.Options{Store: j.store, Programmes: j.engine, Clock: j.engine.Now}).
			Count(ctx, func(events int) { s.count(events) })
	}},
	"webhooks": {time.Hour, func(ctx context.Context, j *Jobs, s *shift) error {
		rows, err := j.store.ForgetDeliveries(ctx, j.engine.Now())
		s.count(int(rows))
		return err
	}},
	"partitions": {24 * time.Hour,
		func(ctx context.Context, j *Jobs, s *shift) error { return s.once(j.store.ExtendJournal(ctx)) }},
	"backup": {24 * time.Hour, func(ctx context.Context, j *Jobs, s *shift) error { return s.once(j.backup(ctx)) }},
	"imports": {bulkEvery, func(ctx context.Context, j *Jobs, s *shift) error { // as for bulk operations
		done, err := j.imports(ctx)
		s.count(done)
		return err
	}},
	"bulk":      {bulkEvery, workBulk}, // also run at once when an operation is begun on this node
	"reminders": {time.Hour, remind},
	"answers": {time.Hour, func(ctx context.Context, j *Jobs, s *shift) error {
		return s.once(j.store.ForgetAnswers(ctx, j.engine.Now().Add(-loyalty.AnswerLife)))
	}},
}

// JobNames lists the jobs in alphabetical order.
func JobNames() []string { return slices.Sorted(maps.Keys(jobs)) }

// How long a lease lasts without renewal, which is how long a killed node keeps its job, and how often it is renewed.
const (
	leaseTime  = 15 * time.Second
	leaseRenew = leaseTime / 3
	saveTime   = 10 * time.Second // to give a job back after everything else has ended
)

// Jobs does the scheduled work. Any number of nodes may run it on one database: each job is done by one of them at a
// time. If two nodes do it at once nevertheless, because a clock jumped or a lease ended early, it still has its effect
// once.
type Jobs struct {
	engine *engine.Engine
	store  loyalty.JobStore
	sleep  func(context.Context, time.Duration)
	report func(job string, err error)
	wakes  map[string]chan struct{}

	anchored func(loyalty.Anchor)
	ended    func(loyalty.JobRow)
	backup   func(context.Context) error        // nil: this node makes no copies
	imports  func(context.Context) (int, error) // nil: this node does no imports
	prove    func(ctx context.Context, asked bool) (bool, error)
}

// JobsOptions configures Jobs. The clock is the engine's.
type JobsOptions struct {
	Engine *engine.Engine
	Store  loyalty.JobStore
	// Sleep waits, or returns when ctx ends; nil: a timer.
	Sleep func(ctx context.Context, d time.Duration)
	// Report is called with failures in the background; nil: no call.
	Report func(job string, err error)
	// Anchored is called with every anchor that this node took, to keep it outside the database; nil: no call.
	Anchored func(loyalty.Anchor)
	// Ended is called with every run that ended on this node; nil: no call.
	Ended func(loyalty.JobRow)
	// Backup makes a copy of the database; nil: this node has no place for copies, and leaves the job backup to others.
	Backup func(context.Context) error
	// Imports checks, applies and compares the files that were sent for import, and returns how many it did; nil: this
	// node leaves the job imports to others.
	Imports func(context.Context) (done int, err error)
	// Prove proves the ledger if its hour has come, or if that was requested, and reports whether it did; nil: this
	// node leaves the job ledger to others.
	Prove func(ctx context.Context, asked bool) (done bool, err error)
}

// NewJobs makes Jobs. It starts nothing.
func NewJobs(o JobsOptions) *Jobs {
	j := &Jobs{engine: o.Engine, store: o.Store, sleep: o.Sleep, report: o.Report, anchored: o.Anchored, ended: o.Ended,
		backup: o.Backup, imports: o.Imports, prove: o.Prove, wakes: map[string]chan struct{}{}}
	for name := range jobs {
		j.wakes[name] = make(chan struct{}, 1)
	}

	if j.sleep == nil {
		j.sleep = sleepFor
	}
	if j.report == nil {
		j.report = func(string, error) {}
	}
	if j.anchored == nil {
		j.anchored = func(loyalty.Anchor) {}
	}
	if j.ended == nil {
		j.ended = func(loyalty.JobRow) {}
	}

	return j
}

func sleepFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// List returns every job by name; a job that never ran has no instants.
func (j *Jobs) List(ctx context.Context) ([]Job, error) {
	rows, err := j.store.Jobs(ctx)
	if err != nil {
		return nil, loyalty.OutcomeError(err)
	}
	var list []Job
	for _, name := range JobNames() {
		entry := Job{loyalty.JobRow{Name: name}, jobs[name].every}
		if i := slices.IndexFunc(rows, func(r loyalty.JobRow) bool { return r.Name == name }); i >= 0 {
			entry.JobRow = rows[i]
		}
		list = append(list, entry)
	}
	return list, nil
}

// Run does a job now, even if it is not due, and returns its row: Result is empty if nothing failed. It fails with
// ErrJobUnknown, also for a job that this node does not do, and with ErrJobRunning if another run has the job. If ctx
// ends first it fails with ErrUnavailable, and the job stays due. On a node whose clock is wrong it fails with
// ErrClockOff. note records the run in the audit trail, once this node has the job and before its work; if note fails,
// the run fails and does nothing.
func (j *Jobs) Run(ctx context.Context, name string, note ...func(context.Context) error) (Job, error) {
	d, known := jobs[name]
	if !known || !j.does(name) {
		return Job{}, loyalty.ErrJobUnknown.With("job", name)
	}
	if err := j.checkClock(ctx); err != nil {
		return Job{}, err
	}

	s, _, err := j.take(ctx, name, true)
	switch {
	case err != nil:
		return Job{}, loyalty.OutcomeError(err)
	case s == nil:
		return Job{}, loyalty.ErrJobRunning.With("job", name)
	}

	switch err := s.work(ctx, d.after(note)); {
	case errors.Is(err, errLeaseLost):
		return Job{}, loyalty.ErrJobRunning.With("job", name)
	case ctx.Err() != nil:
		return Job{}, loyalty.ErrUnavailable.Because(ctx.Err())
	case err != nil:
		return Job{}, loyalty.OutcomeError(err)
	}

	return Job{s.row, d.every}, nil
}

// Work does the jobs when they are due, until ctx ends, and numbers the events that this node commits.
func (j *Jobs) Work(ctx context.Context) {
	var wait sync.WaitGroup
	wait.Go(func() { tail.Watch(ctx, j.store, func(err error) { j.report("tail", err) }) })
	for name := range jobs {
		if !j.does(name) {
			continue
		}
		wait.Go(func() {
			for woken := false; ctx.Err() == nil; {
				woken = j.rest(ctx, name, j.turn(ctx, name, woken))
			}
		})
	}
	wait.Wait()
}

// does reports whether this node can do a job.
func (j *Jobs) does(name string) bool {
	switch name {
	case "backup":
		return j.backup != nil
	case "imports":
		return j.imports != nil
	case "ledger":
		return j.prove != nil
	}
	return true
}

// Wake starts a job at once if no other node has it, for work that has just come up. It does not wait for the job.
func (j *Jobs) Wake(name string) {
	select {
	case j.wakes[name] <- struct{}{}:
	default: // it is awake already, or there is no such job
	}
}

// rest waits until a job must be looked at again; woken reports that Wake ended the wait.
func (j *Jobs) rest(ctx context.Context, name string, d time.Duration) (woken bool) {
	resting, stop := context.WithCancel(ctx)
	heard := make(chan bool)
	go func() {
		select {
		case <-j.wakes[name]:
			stop()
			heard <- true
		case <-resting.Done():
			heard <- false
		}
	}()

	j.sleep(resting, d)
	stop()
	return <-heard
}

// turn does one job if it is due or was asked for and no other node has it. It returns how long to wait before the next
// look.
func (j *Jobs) turn(ctx context.Context, name string, asked bool) time.Duration {
	if j.checkClock(ctx) != nil {
		return leaseTime // it was reported once
	}

	s, again, err := j.take(ctx, name, asked)
	if s != nil {
		err = s.work(ctx, jobs[name])
		if again = jobs[name].every; err == nil && s.row.Result != "" {
			err = errors.New(s.row.Result)
		}
	}

	if err != nil && ctx.Err() == nil {
		j.report(name, err)
		again = leaseTime
	}

	return again
}

// checkClock compares with the database's clock: a job must not begin on a wrong one.
func (j *Jobs) checkClock(ctx context.Context) error {
	return j.engine.CheckClock(ctx)
}

// take takes the lease of a job. A nil shift means that the job is not due or another node has it; again is how long to
// wait before the next look.
func (j *Jobs) take(ctx context.Context, name string, early bool) (s *shift, again time.Duration, err error) {
	rows, err := j.store.Jobs(ctx)
	if err != nil {
		return nil, leaseTime, err
	}

	now := j.engine.Now()
	row := loyalty.JobRow{Name: name, NextAt: now}
	var before *loyalty.JobRow
	if i := slices.IndexFunc(rows, func(r loyalty.JobRow) bool { return r.Name == name }); i >= 0 {
		row, before = rows[i], &rows[i]
	}
	if held(&row, now) {
		return nil, leaseTime, nil
	}
	if wait := wait(&row, now, jobs[name].every); wait > 0 && !early {
		return nil, wait, nil
	}

	// an owner per run instead of per node: a node may also lose the lease to a later run of its own
	owner := loyalty.NewID(now, loyalty.ID{})
	row.Owner, row.LeaseUntil, row.StartedAt = owner.String(), now.Add(leaseTime), now
	// counts of this run; the last run's were reported when it ended
	row.Done, row.Failed, row.Result = 0, 0, ""
	ok, err := j.store.SwapJob(ctx, before, row)
	if err != nil || !ok {
		return nil, leaseTime, err
	}

	return &shift{jobs: j, name: name, row: row, asked: early, failed: before != nil && before.Result != ""}, 0, nil
}

// held reports whether a node has the job. If the lease ends much later than a lease taken now would, it was taken by a
// clock that has been set back since, and does not count.
func held(r *loyalty.JobRow, now time.Time) bool {
	return r.Owner != "" && r.LeaseUntil.After(now) && !r.LeaseUntil.After(now.Add(2*leaseTime))
}

// wait is how long it is until the job is due. A date further away than the interval was written by a clock that has
// been set back since.
func wait(r *loyalty.JobRow, now time.Time, interval time.Duration) time.Duration {
	wait := r.NextAt.Sub(now)
	if wait > interval+leaseTime {
		return 0
	}
	return wait
}
