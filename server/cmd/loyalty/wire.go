package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"time"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
	"github.com/loyalty-platform/loyalty/store"
)

func (s *settings) build(
	ctx context.Context, db *store.Store, logger *slog.Logger, managed *management, people net.Listener,
) (*app, error) {
	a := &app{store: db, logger: logger}
	if s.embedded() {
		a.folder = filepath.Dir(s.databaseFile())
	}
	if managed != nil {
		a.metrics = managed.metrics
	}

	catalogue, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	if a.reads, err = withReplicas(ctx, db,
		store.ReplicaOptions{URLs: replicaURLs(s.replicaURL), Lag: s.replicaLag, ReadConnections: s.poolReads},
		logger); err != nil {
		return nil, err
	}
	if err := s.wire(ctx, a); err != nil {
		return nil, errors.Join(err, a.reads.Release())
	}

	if a.egress, err = newEgress(s); err != nil {
		a.close()
		return nil, err
	}

	a.deliverer = a.newDeliverer(a.egress, s.tracing)
	options := admin.AdminOptions{Registry: action.Registry(),
		Store: a.reads, Directory: a.directory, APIs: openapi.Names()}
	a.admin = admin.NewAdmin(options)
	limiter, err := s.limiter(a)
	if err != nil {
		a.close()
		return nil, err
	}

	o := server.Options{
		Listen: s.listen, Region: s.region, Engine: a.engine, Directory: a.directory,
		Admin: a.admin, Reader: a.reads, Feed: db, Exports: a.reads, Imports: db, Jobs: a.jobs,
		Webhooks:    admin.NewWebhooks(a.admin, db, webhookRules(a.egress)),
		Messages:    administration.NewWebhookMessages(db, a.directory.Programme),
		Leaderboard: leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{Store: db, Programmes: a.directory}),
		Statistics:  statistics.New(statistics.Options{Store: db, Programmes: a.directory}),
		Vocabulary:  a.vocabulary, Catalogue: catalogue, Limiter: limiter, Ready: a.ready, Status: a.status, Logger: logger,
		PublicHosts: s.publicHosts, TrustedProxies: s.trustedProxies, SigningDebug: s.signingDebug,
		BodyMemory: int64(s.bodyMemory) << 20, Portal: newPortal(s, a),
	}

	a.presence = newPresence(a, s.listen)
	o.System = a.presence.system(s)
	if s.replayGuard {
		o.ReplayGuard = db
	}
	if a.metrics != nil {
		o.Observer = a.metrics
	}
	if s.tracing != nil {
		o.Tracer = s.tracing
	}
	if hasConsole(s) {
		o.Console, o.ConsoleOn = consoleOf(s, a, catalogue, limiter), people
	}

	a.server, err = server.New(o)
	if err != nil {
		a.close()
		return nil, err
	}

	if a.metrics != nil {
		a.metrics.Look(a.look)
	}

	return a, nil
}

// wire makes the common parts of serving and jobs: the configuration in force, the engine, and the jobs.
func (s *settings) wire(ctx context.Context, a *app) (err error) {
	a.directory, err = admin.NewDirectory(ctx, admin.DirectoryOptions{
		Registry: action.Registry(), Store: a.store,
		Report: func(err error) { a.logger.Error("following the configuration", "error", err) },
	})
	if err != nil {
		return err
	}
	if a.vocabulary, err = contract.NewVocabulary(); err != nil {
		return err
	}

	timing := loyalty.TimekeeperOptions{Database: a.store, Clock: clock,
		Report: func(err error) { a.logger.Error("the clock", "error", err) }}
	if err := followSteps(ctx, s, a, &timing); err != nil {
		return err
	}

	a.keeper = loyalty.NewTimekeeper(timing)
	_ = a.keeper.Check(ctx) // it was reported; work that needs a right clock waits
	rows := loyalty.Store(a.store)
	if a.reads != nil {
		rows = a.reads
	}

	o := engine.EngineOptions{
		Store: rows, Contract: a.vocabulary, Programmes: a.directory, Rules: action.All(), Features: action.Features(),
		Workers: s.workers(), Overlap: s.overlap(), Timekeeper: a.keeper,
		Kept: keptMemory(memoryThere()),
	}

	if a.metrics != nil {
		o.Observer = a.metrics
	}
	if s.tracing != nil {
		o.Tracer = s.tracing
	}
	if a.backups, a.proofs = backupsOf(s, a), proofsOf(s, a); a.backups != nil {
		o.OptedOut = a.backups.optedOut
	}

	a.engine, err = engine.NewEngine(o)
	a.jobs = job.NewJobs(a.jobsOptions())
	return err
}

// jobsOptions are the parts of the jobs.
func (a *app) jobsOptions() job.JobsOptions {
	o := job.JobsOptions{
		Engine: a.engine, Store: a.store,
		Report: func(job string, err error) { a.logger.Error("job", "job", job, "error", err) },
		Anchored: func(made loyalty.Anchor) {
			a.logger.Info("the journal was anchored", "number", made.Number, "at", made.At.UTC(), "customers", made.Customers,
				"digest", fmt.Sprintf("%x", made.Digest))
		},
	}

	if a.metrics != nil {
		o.Ended = a.metrics.JobEnded
	}
	if a.backups != nil {
		o.Backup = a.backups.make
	}
	if a.proofs != nil {
		o.Prove = a.proofs.make
	}

	o.Imports = func(ctx context.Context) (int, error) {
		return a.uploads(admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: a.store,
			Directory: a.directory, APIs: openapi.Names()})).Work(ctx)
	}
	return o
}

// workers is how many batches run at once. SQLite has one writer; on PostgreSQL few workers make large batches, which
// cost less than many small commits: one worker for two processors.
func (s *settings) workers() int {
	if s.embedded() {
		return 1
	}
	return max(1, runtime.NumCPU()/2)
}

// overlap is how many batches of a queue are under way at once: SQLite has one writer, so nothing can be decided while
// a batch is written.
func (s *settings) overlap() int {
	if s.embedded() {
		return 1
	}
	return 2
}

// limiter shares the rate limit through Redis if one is configured, and logs if none is.
func (s *settings) limiter(a *app) (ratelimit.Limiter, error) {
	memory := ratelimit.NewMemory(time.Now)
	if s.redisURL == "" {
		a.logger.Info("rate limits are counted by this node alone; set LOYALTY_REDIS_URL to share them between nodes")
		return memory, nil
	}
	shared, err := ratelimit.NewRedis(s.redisURL, memory, a.logger)
	if err != nil {
		return nil, fault("redis-url", "%w", err)
	}
	a.limiter = shared
	return shared, nil
}
