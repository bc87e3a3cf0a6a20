package api

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Engine submits events: *loyalty.Engine.
type Engine interface {
	Submit(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, error)
	SubmitEach(ctx context.Context, all []loyalty.Submission, told func(int, loyalty.Result))
	Preview(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, error)
	PreviewAccepted(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, *programme.Programme, error)
	Settle(ctx context.Context, customer loyalty.ID) error
	View(ctx context.Context, n loyalty.CustomerNeeds, look func(*engine.Run) error) error
	// Now is the instant at which events are recorded.
	Now() time.Time
}

// Jobs runs and lists the scheduled work: *loyalty.Jobs.
type Jobs interface {
	List(ctx context.Context) ([]job.Job, error)
	Run(ctx context.Context, name string, note ...func(context.Context) error) (job.Job, error)
	Wake(name string)
}
