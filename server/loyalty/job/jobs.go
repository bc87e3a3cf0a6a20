// Package job is the work that the clock asks for, shared by nodes: the table of jobs, their
// leases, and bulk operations. It stands above all other rooms of the rules, so the tests
// that need all of them are here too: histories against a plain model, merges, races.
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

// Job is one job of the program with what the job table says of it.
type Job struct {
	loyalty.JobRow
	Interval time.Duration // from the end of a run to when the next one is due
}

// Running reports whether a node does the job at an instant.
func (j *Job) Running(now time.Time) bool { return held(&j.JobRow, now) }

// job is what a job does, and how often.
type job struct {
	every time.Duration
	work  func(context.Context, *Jobs, *shift) error
}

// after is the job with what comes before its work.
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

// settleEvery is how often the jobs look for what is due. Whoever touches a
// customer does not wait for them: what is due is applied first.
const settleEvery = time.Minute

// bulkEvery is how often the jobs look for bulk operations that another node began
// and did not get to.
const bulkEvery = 15 * time.Second

// tailEvery is how often the job of the tail looks for events that a node committed and
// did not number.
const tailEvery = 15 * time.Second

// jobs lists the jobs by name. What is due has one mechanism, the customer's
// due instant, so the first four settle whatever is due: one after the other
// finds less. tiers also recalculates structures that were changed.
// A job does nothing that a request could not do too, at its own moment: where no node
// runs them, what is due waits until its customer is touched.
var jobs = map[string]job{
	"auto_accept": {settleEvery, settle},
	"expiry":      {settleEvery, settle},
	"pending":     {settleEvery, settle},
	"tiers": {settleEvery, func(ctx context.Context, j *Jobs, s *shift) error {
		return errors.Join(settle(ctx, j, s), recalculate(ctx, j, s))
	}},
	"anchor": {time.Hour, anchor},
	// whether the hour for it has come is looked at now and then
	"ledger": {15 * time.Minute, func(ctx context.Context, j *Jobs, s *shift) error {
		done, err := j.prove(ctx, s.asked)
		if done {
			s.count(1)
		}
		return err
	}},
	"leaderboard": {settleEvery, func(ctx context.Context, j *Jobs, s *shift) error {
		l := leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{Store: j.store, Programmes: j.engine, Clock: j.engine.Now})
		return l.Rank(ctx, func(customers int) { s.count(customers) })
	}},
	"tail": {tailEvery, func(ctx context.Context, j *Jobs, s *shift) error {
		return s.once(tail.New(j.store, j.engine.Now).Keep(ctx))
	}},
	"statistics": {settleEvery, func(ctx context.Context, j *Jobs, s *shift) error {
		return statistics.New(statistics.Options{Store: j.store, Programmes: j.engine, Clock: j.engine.Now}).Count(ctx, func(events int) { s.count(events) })
	}},
	"webhooks": {time.Hour, func(ctx context.Context, j *Jobs, s *shift) error {
		rows, err := j.store.ForgetDeliveries(ctx, j.engine.Now())
		s.count(int(rows))
		return err
	}},
	"partitions": {24 * time.Hour, func(ctx context.Context, j *Jobs, s *shift) error { return s.once(j.store.ExtendJournal(ctx)) }},
	"backup":     {24 * time.Hour, func(ctx context.Context, j *Jobs, s *shift) error { return s.once(j.backup(ctx)) }},
	"imports": {bulkEvery, func(ctx context.Context, j *Jobs, s *shift) error { // likewise
		done, err := j.imports(ctx)
		s.count(done)
		return err
	}},
	"bulk":      {bulkEvery, workBulk}, // and at once when an operation is begun on this node
	"reminders": {time.Hour, remind},
	"answers": {time.Hour, func(ctx context.Context, j *Jobs, s *shift) error {
		return s.once(j.store.ForgetAnswers(ctx, j.engine.Now().Add(-loyalty.AnswerLife)))
	}},
}

// JobNames lists the jobs in alphabetical order.
func JobNames() []string { return slices.Sorted(maps.Keys(jobs)) }

// How long a lease lasts without renewal. A node that is killed
// keeps its job for so long.
const (
	leaseTime  = 15 * time.Second
	leaseRenew = leaseTime / 3
	saveTime   = 10 * time.Second // to give a job back when everything else is over
)

// Jobs does the work that the clock asks for. Any number of nodes may run it on
// one database: each job is done by one of them at a time, and what two of them
// do at once nevertheless, because a clock jumped or a lease ended early, still
// has its effect once.
type Jobs struct {
	engine *engine.Engine
	store  loyalty.JobStore
	sleep  func(context.Context, time.Duration)
	report func(job string, err error)
	wakes  map[string]chan struct{}

	anchored func(loyalty.Anchor)
	ended    func(loyalty.JobRow)
	backup   func(context.Context) error        // nil: this node makes none
	imports  func(context.Context) (int, error) // nil: this node does none
	prove    func(ctx context.Context, asked bool) (bool, error)
}

// JobsOptions are what Jobs is made of. The clock is the engine's.
type JobsOptions struct {
	Engine *engine.Engine
	Store  loyalty.JobStore
	// Sleep waits, or returns when ctx ends; nil: a timer.
	Sleep func(ctx context.Context, d time.Duration)
	// Report hears what went wrong in the background; nil: it is not told.
	Report func(job string, err error)
	// Anchored hears of every anchor that this node took, to keep it outside the
	// database; nil: it is not told.
	Anchored func(loyalty.Anchor)
	// Ended hears of every run that came to its end on this node; nil: it is not told.
	Ended func(loyalty.JobRow)
	// Backup makes a copy of the database; nil: this node has no place for one, and leaves
	// the job backup to others.
	Backup func(context.Context) error
	// Imports checks, applies and compares what was sent to be imported, and says how many
	// it did; nil: this node leaves the job imports to others.
	Imports func(context.Context) (done int, err error)
	// Prove proves the ledger if its hour has come, or if it was asked for, and says whether it did; nil: this
	// node leaves the job ledger to others.
	Prove func(ctx context.Context, asked bool) (done bool, err error)
}

// NewJobs makes Jobs. It starts nothing.
func NewJobs(o JobsOptions) *Jobs {
	j := &Jobs{engine: o.Engine, store: o.Store, sleep: o.Sleep, report: o.Report, anchored: o.Anchored, ended: o.Ended, backup: o.Backup, imports: o.Imports, prove: o.Prove, wakes: map[string]chan struct{}{}}
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

// List returns every job by name; one that never ran has no instants.
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

// Run does a job now, whether it is due or not, and tells how it went: Result is empty where
// nothing failed. It fails with ErrJobUnknown, also for one that this node has no place for, and
// with ErrJobRunning where another run does it at the moment. Where ctx ends first it fails with
// ErrUnavailable, and the job stays due. On a node whose clock is wrong it fails with ErrClockOff.
// What notes a run for the audit trail comes first, once it is sure that the job is done here: where
// that fails, the run has failed and has done nothing.
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

// Work does what is due, whenever it is, until ctx ends, and numbers what this node
// commits.
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

// Wake starts a job at once, if this node works and no node has it: there is something to do. It
// does not wait for it.
func (j *Jobs) Wake(name string) {
	select {
	case j.wakes[name] <- struct{}{}:
	default: // it is awake already, or there is no such job
	}
}

// rest waits until a job is to be looked at again; woken: because Wake said so.
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

// turn does one job if it is due or was asked for, and no node has it, and
// says when to look again.
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

// take makes a job this node's. A nil shift: it is not due, or another node's;
// then again says how long to wait before the next look.
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
	// of the run, not of the node: a node that lost a lease to itself has lost it
	owner := loyalty.NewID(now, loyalty.ID{})
	row.Owner, row.LeaseUntil, row.StartedAt = owner.String(), now.Add(leaseTime), now
	// of this run; what the last one came to was told when it ended
	row.Done, row.Failed, row.Result = 0, 0, ""
	ok, err := j.store.SwapJob(ctx, before, row)
	if err != nil || !ok {
		return nil, leaseTime, err
	}
	return &shift{jobs: j, name: name, row: row, asked: early, failed: before != nil && before.Result != ""}, 0, nil
}

// held reports whether a node does the job. A lease that ends much later than one
// taken now would, was taken by a clock that has been set back since.
func held(r *loyalty.JobRow, now time.Time) bool {
	return r.Owner != "" && r.LeaseUntil.After(now) && !r.LeaseUntil.After(now.Add(2*leaseTime))
}

// wait is how long a job is not due yet. A date that is further away than the
// interval was written by a clock that has been set back since.
func wait(r *loyalty.JobRow, now time.Time, interval time.Duration) time.Duration {
	wait := r.NextAt.Sub(now)
	if wait > interval+leaseTime {
		return 0
	}
	return wait
}
