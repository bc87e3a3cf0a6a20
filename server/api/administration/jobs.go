package administration

import (
	"context"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
)

// DefaultJobWait is how long a caller waits for a job that was started.
const DefaultJobWait = 5 * time.Second

// ListJobs lists the jobs by name.
func (a *API) ListJobs(
	ctx context.Context, in administration.ListJobsRequestObject,
) (administration.ListJobsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}
	all, err := a.Jobs.List(api.Plain(ctx))
	if err != nil {
		return nil, err
	}
	l := list.Linked(p, list.Cut(p, all, nil), a.Clock(), nil)
	return administration.ListJobs200JSONResponse(api.AnswerOf(list.Render(l,
		func(j *job.Job) administration.Job { return a.job(ctx, j) }))), nil
}

// RunJob starts a job and waits for it for a bounded time; the job continues after its caller has left.
func (a *API) RunJob(
	ctx context.Context, in administration.RunJobRequestObject,
) (administration.RunJobResponseObject, error) {
	type end struct {
		job job.Job
		err error
	}

	api.RequestOf(ctx).Decided = true // running a job twice has no second effect, so no answer is stored
	ended, call := make(chan end, 1), admin.Call{KeyID: api.RequestOf(ctx).Key.ID}
	ctx = api.Plain(ctx)
	note := func(ctx context.Context) error { return admin.NoteJob(ctx, a.Admin, call, in.Job) }
	go func() {
		job, err := a.Jobs.Run(context.WithoutCancel(ctx), in.Job, note)
		ended <- end{job, err}
	}()

	wait := time.NewTimer(a.JobWait)
	defer wait.Stop()
	select {
	case e := <-ended:
		if e.err != nil {
			return nil, e.err
		}
		return administration.RunJob200JSONResponse{Data: a.job(ctx, &e.job)}, nil
	case <-wait.C:
		return a.jobUnderWay(ctx, in.Job)
	}
}

// jobUnderWay answers with the stored state of a job that is not done yet.
func (a *API) jobUnderWay(ctx context.Context, name string) (administration.RunJobResponseObject, error) {
	all, err := a.Jobs.List(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name {
			return administration.RunJob200JSONResponse{Data: a.job(ctx, &all[i])}, nil
		}
	}
	return nil, loyalty.ErrJobUnknown.With("job", name)
}

// job shows a job. A failure is told in the language of the request; the words of the log, which may name parts of the
// installation, are shown to callers who can act on them.
func (a *API) job(ctx context.Context, j *job.Job) administration.Job {
	out := administration.Job{
		Name: administration.JobName(j.Name), Schedule: fmt.Sprintf("PT%dS", int64(j.Interval/time.Second)),
		Running: j.Running(a.Clock()), LastRunAt: api.InstantOrNil(j.StartedAt),
	}

	if j.StartedAt.IsZero() {
		return out
	}

	out.NextRunAt = api.InstantOrNil(j.NextAt)
	out.LastResult = &administration.JobResult{Done: j.Done, Failed: j.Failed}
	if r := api.RequestOf(ctx); j.Result != "" {
		out.LastResult.Error = new(r.Language.Message("doctor.job_failed",
			map[string]any{"job": j.Name, "failures": j.Failed}))
		if r.Caller == nil || r.Caller.Role.Covers(loyalty.RoleOperator) {
			out.LastResult.Log = &j.Result
			r.Language.Speak("en")
		}
	}

	if !out.Running && !j.FinishedAt.Before(j.StartedAt) {
		took := j.FinishedAt.Sub(j.StartedAt).Seconds()
		out.LastDuration = &took
	}

	return out
}
