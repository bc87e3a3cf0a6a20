package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/deliver"
	"github.com/loyalty-platform/loyalty/server/limit"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
	"github.com/loyalty-platform/loyalty/server/observe"
	"github.com/loyalty-platform/loyalty/server/service"
	"github.com/loyalty-platform/loyalty/server/tracing"
	"github.com/loyalty-platform/loyalty/store"
)

// How often the background looks, and how long requests under way may take
// when the program stops.
const (
	watchEvery = 500 * time.Millisecond // another process's change is seen within a second
	grace      = 30 * time.Second
	readyTime  = 3 * time.Second // a database that takes longer is not ready
)

func newServe(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve the APIs (what loyalty does without a command)", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := s.logger(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return s.serve(cmd.Context(), logger, cmd.OutOrStdout())
		},
	}
}

// serve runs until ctx ends. The address is taken first, so that a second start
// fails before it touches anything.
func (s *settings) serve(ctx context.Context, logger *slog.Logger, out io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return fault("listen", "%w", err)
	}
	defer func() { _ = listener.Close() }() // serving closes it; this is for a start that fails
	people, err := listenConsole(ctx, s)
	if err != nil {
		return err
	}
	welcomed := listener.Addr()
	if people != nil {
		defer func() { _ = people.Close() }()
		welcomed = people.Addr()
	}
	if err := makeBackupDir(s); err != nil {
		return err
	}
	s.tracing, err = tracing.New(ctx, tracing.Options{
		Version: version(debug.ReadBuildInfo()), Embedded: s.embedded(), Report: func(err error) { logger.Warn("sending spans", "error", err) },
	})
	if err != nil {
		return coded{codeUsage, err}
	}
	defer s.tracing.Close(context.WithoutCancel(ctx))
	managed, err := s.manage(ctx, logger)
	if err != nil {
		return err
	}
	defer managed.close()
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	if s.copied != "" {
		logger.Info("the database was migrated; as it was before, it is in a file that can be deleted when all is well", "file", s.copied)
	}
	defer func() {
		if err := db.Close(); err != nil {
			logger.Error("closing the database", "error", err)
		}
	}()
	house, err := s.build(ctx, db, logger, managed, people)
	if err != nil {
		return coded{codeUsage, err}
	}
	defer house.close()
	limitMemory(logger)
	if err := s.welcome(ctx, house.admin, listener.Addr(), out); err != nil {
		return coded{codeFailed, err}
	}
	if err := welcomeConsole(ctx, s, admin.UsersOf(house.admin), welcomed, out); err != nil {
		return coded{codeFailed, err}
	}
	if managed != nil {
		managed.Started(house.server.Readiness)
		defer context.AfterFunc(ctx, managed.Ending)()
	}
	manager := service.NewManager(os.LookupEnv)
	if err := manager.Ready(); err != nil {
		logger.Error("telling the service manager", "error", err)
	}
	defer context.AfterFunc(ctx, func() { _ = manager.Stopping() })()
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go manager.Watch(watching, house.reachable)
	return house.serve(ctx, listener)
}

// app is everything that serves, wired.
type app struct {
	store      *store.Store
	reads      *store.Replicated // nil: the store answers everything
	directory  *admin.Directory
	vocabulary *contract.Vocabulary
	admin      *admin.Admin
	engine     *engine.Engine
	jobs       *job.Jobs
	keeper     *loyalty.Timekeeper
	limiter    io.Closer // nil: in memory
	server     *server.Server
	logger     *slog.Logger
	metrics    *observe.Metrics // nil: nobody looks
	backups    *backups         // nil: there is no folder for them
	egress     *deliver.Client
	deliverer  *webhook.Deliverer
	presence   presence
}

func (s *settings) build(ctx context.Context, db *store.Store, logger *slog.Logger, managed *management, people net.Listener) (*app, error) {
	a := &app{store: db, logger: logger}
	if managed != nil {
		a.metrics = managed.metrics
	}
	catalogue, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	if a.reads, err = withReplicas(ctx, db, store.ReplicaOptions{URLs: replicaURLs(s.replicaURL), Lag: s.replicaLag, ReadConnections: s.poolReads}, logger); err != nil {
		return nil, err
	}
	if err := s.wire(ctx, a); err != nil {
		return nil, errors.Join(err, a.reads.Release())
	}
	if a.egress, err = egress(s); err != nil {
		a.close()
		return nil, err
	}
	a.deliverer = a.newDeliverer(a.egress, s.tracing)
	administration := admin.AdminOptions{Registry: action.Registry(), Store: a.reads, Directory: a.directory, APIs: openapi.Names()}
	if a.metrics != nil {
		administration.Verified = a.metrics.Verified
	}
	a.admin = admin.NewAdmin(administration)
	limiter, err := s.limiter(a)
	if err != nil {
		a.close()
		return nil, err
	}
	o := server.Options{
		Listen: s.listen, Region: s.region, Engine: a.engine, Directory: a.directory, Admin: a.admin, Reader: a.reads, Feed: db, Exports: a.reads, Imports: db, Jobs: a.jobs,
		Webhooks: admin.NewWebhooks(a.admin, db, webhookRules(a.egress)), Messages: server.NewWebhookMessages(db, a.directory.Programme),
		Leaderboard: leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{Store: db, Programmes: a.directory}),
		Statistics:  statistics.New(statistics.Options{Store: db, Programmes: a.directory}),
		Vocabulary:  a.vocabulary, Catalogue: catalogue, Limiter: limiter, Ready: a.ready, Status: a.status, Logger: logger,
		PublicHosts: s.publicHosts, TrustedProxies: s.trustedProxies, SigningDebug: s.signingDebug,
		BodyMemory: int64(s.bodyMemory) << 20, Portal: portal(s, a),
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

// wire makes what serving and jobs have in common: the configuration in force,
// the engine, and the jobs.
func (s *settings) wire(ctx context.Context, a *app) (err error) {
	a.directory, err = admin.NewDirectory(ctx, admin.DirectoryOptions{
		Registry: action.Registry(), Store: a.store, Report: func(err error) { a.logger.Error("following the configuration", "error", err) },
	})
	if err != nil {
		return err
	}
	if a.vocabulary, err = contract.NewVocabulary(); err != nil {
		return err
	}
	a.keeper = loyalty.NewTimekeeper(loyalty.TimekeeperOptions{
		Database: a.store, Clock: clock, Report: func(err error) { a.logger.Error("the clock", "error", err) },
	})
	_ = a.keeper.Check(ctx) // it was reported; what needs a right clock waits
	rows := loyalty.Store(a.store)
	if a.reads != nil {
		rows = a.reads
	}
	o := engine.EngineOptions{
		Store: rows, Contract: a.vocabulary, Programmes: a.directory, Rules: action.All(), Features: action.Features(), Workers: s.workers(), Timekeeper: a.keeper,
	}
	if a.metrics != nil {
		o.Observer = a.metrics
	}
	if s.tracing != nil {
		o.Tracer = s.tracing
	}
	a.backups = backupsOf(s, a)
	a.engine, err = engine.NewEngine(o)
	a.jobs = job.NewJobs(a.jobsOptions())
	return err
}

// jobsOptions are what the jobs are made of.
func (a *app) jobsOptions() job.JobsOptions {
	o := job.JobsOptions{
		Engine: a.engine, Store: a.store, Report: func(job string, err error) { a.logger.Error("job", "job", job, "error", err) },
		Anchored: func(made loyalty.Anchor) {
			a.logger.Info("the journal was anchored", "number", made.Number, "at", made.At.UTC(), "customers", made.Customers, "digest", fmt.Sprintf("%x", made.Digest))
		},
	}
	if a.metrics != nil {
		o.Ended = a.metrics.JobEnded
	}
	if a.backups != nil {
		o.Backup = a.backups.make
	}
	o.Imports = func(ctx context.Context) (int, error) {
		return a.uploads(admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: a.store, Directory: a.directory, APIs: openapi.Names()})).Work(ctx)
	}
	return o
}

// workers is how many batches are in work at once. SQLite has one writer; on
// PostgreSQL few workers make large batches, which cost less than many commits
// at once: one for two processors measured best.
func (s *settings) workers() int {
	if s.embedded() {
		return 1
	}
	return max(1, runtime.NumCPU()/2)
}

// limiter shares the rate limit through Redis where one is configured, and says
// so where none is.
func (s *settings) limiter(a *app) (limit.Limiter, error) {
	memory := limit.NewMemory(time.Now)
	if s.redisURL == "" {
		a.logger.Info("rate limits hold for this node alone; LOYALTY_REDIS_URL shares them between nodes")
		return memory, nil
	}
	shared, err := limit.NewRedis(s.redisURL, memory, a.logger)
	if err != nil {
		return nil, fault("redis-url", "%w", err)
	}
	a.limiter = shared
	return shared, nil
}

// serve answers requests until ctx ends, then lets those under way finish.
func (a *app) serve(ctx context.Context, listener net.Listener) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	wait.Go(func() { a.directory.Watch(background, watchEvery) })
	wait.Go(func() { a.jobs.Work(background) })
	wait.Go(func() { a.keeper.Watch(background) })
	wait.Go(func() { a.inspect(background) })
	wait.Go(func() { a.presence.tell(background) })
	wait.Go(func() { a.deliverer.Work(background) })
	if a.metrics != nil {
		wait.Go(func() { a.sample(background) })
	}
	if a.backups != nil {
		wait.Go(func() { a.backups.keepOptOuts(background) })
	}
	err := a.server.Serve(ctx, listener, grace)
	stop() // a job under way is given back, and goes on elsewhere
	wait.Wait()
	a.egress.Close()
	a.engine.Close()
	if err != nil {
		return coded{codeFailed, err}
	}
	a.logger.Info("stopped")
	return nil
}

func (a *app) close() {
	a.engine.Close()
	if err := a.closeLimiter(); err != nil {
		a.logger.Error("closing Redis", "error", err)
	}
	if a.reads != nil {
		if err := a.reads.Release(); err != nil {
			a.logger.Error("closing the replicas", "error", err)
		}
	}
}

func (a *app) closeLimiter() error {
	if a.limiter == nil {
		return nil
	}
	return a.limiter.Close()
}

// welcome says where the server is. On an embedded database without any access
// key it makes one and shows its secret, this once.
func (s *settings) welcome(ctx context.Context, keeper *admin.Admin, addr net.Addr, out io.Writer) error {
	address := "http://" + reachable(addr)
	fmt.Fprintf(out, "Serving on %s (region %s); documentation on %s/docs\n", address, s.region, address)
	keys, err := keeper.Keys(ctx)
	if err != nil || len(keys) > 0 {
		return err
	}
	if !s.embedded() {
		fmt.Fprintln(out, "There is no access key yet. Make one with: loyalty keys create")
		return nil
	}
	label := "first key"
	key, made, err := keeper.CreateFirstKey(ctx, admin.Call{KeyID: admin.CommandLine}, admin.KeyChange{Label: &label})
	if err != nil || !made {
		return err
	}
	return s.introduce(out, address, key)
}

// reachable is the address as a client on this machine writes it.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return addr.String()
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, fmt.Sprint(tcp.Port))
}
