package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/limit"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
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
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err := db.Close(); err != nil {
			logger.Error("closing the database", "error", err)
		}
	}()
	house, err := s.build(ctx, db, logger)
	if err != nil {
		return coded{codeUsage, err}
	}
	defer house.close()
	limitMemory(logger)
	if err := s.welcome(ctx, house.admin, listener.Addr(), out); err != nil {
		return coded{codeFailed, err}
	}
	return house.serve(ctx, listener)
}

// house is everything that serves, wired.
type house struct {
	store      *store.Store
	directory  *admin.Directory
	vocabulary *contract.Vocabulary
	admin      *admin.Admin
	engine     *engine.Engine
	jobs       *job.Jobs
	keeper     *loyalty.Timekeeper
	limiter    io.Closer // nil: in memory
	server     *server.Server
	logger     *slog.Logger
}

func (s *settings) build(ctx context.Context, db *store.Store, logger *slog.Logger) (*house, error) {
	h := &house{store: db, logger: logger}
	catalogue, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	if err := s.wire(ctx, h); err != nil {
		return nil, err
	}
	h.admin = admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: db, Directory: h.directory, APIs: openapi.Names()})
	limiter, err := s.limiter(h)
	if err != nil {
		h.close()
		return nil, err
	}
	o := server.Options{
		Listen: s.listen, Region: s.region, Engine: h.engine, Directory: h.directory, Admin: h.admin, Reader: db, Jobs: h.jobs,
		Leaderboard: leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{Store: db, Programmes: h.directory}),
		Vocabulary:  h.vocabulary, Catalogue: catalogue, Limiter: limiter, Ready: h.ready, Status: h.status, Logger: logger,
		PublicHosts: s.publicHosts, TrustedProxies: s.trustedProxies, SigningDebug: s.signingDebug,
		BodyMemory: int64(s.bodyMemory) << 20,
	}
	if s.replayGuard {
		o.ReplayGuard = db
	}
	h.server, err = server.New(o)
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// wire makes what serving and jobs have in common: the configuration in force,
// the engine, and the jobs.
func (s *settings) wire(ctx context.Context, h *house) (err error) {
	h.directory, err = admin.NewDirectory(ctx, admin.DirectoryOptions{
		Registry: action.Registry(),
		Store:    h.store, Report: func(err error) { h.logger.Error("following the configuration", "error", err) },
	})
	if err != nil {
		return err
	}
	if h.vocabulary, err = contract.NewVocabulary(); err != nil {
		return err
	}
	h.keeper = loyalty.NewTimekeeper(loyalty.TimekeeperOptions{
		Database: h.store, Report: func(err error) { h.logger.Error("the clock", "error", err) },
	})
	_ = h.keeper.Check(ctx) // it was reported; what needs a right clock waits
	h.engine, err = engine.NewEngine(engine.EngineOptions{
		Store: h.store, Contract: h.vocabulary, Programmes: h.directory, Rules: action.All(), Features: action.Features(), Workers: s.workers(), Timekeeper: h.keeper,
	})
	h.jobs = job.NewJobs(job.JobsOptions{
		Engine: h.engine, Store: h.store, Report: func(job string, err error) { h.logger.Error("job", "job", job, "error", err) },
		Anchored: func(a loyalty.Anchor) {
			h.logger.Info("the journal was anchored", "number", a.Number, "at", a.At.UTC(), "customers", a.Customers, "digest", fmt.Sprintf("%x", a.Digest))
		},
	})
	return err
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
func (s *settings) limiter(h *house) (limit.Limiter, error) {
	memory := limit.NewMemory(time.Now)
	if s.redisURL == "" {
		h.logger.Info("rate limits hold for this node alone; LOYALTY_REDIS_URL shares them between nodes")
		return memory, nil
	}
	shared, err := limit.NewRedis(s.redisURL, memory, h.logger)
	if err != nil {
		return nil, fault("redis-url", "%w", err)
	}
	h.limiter = shared
	return shared, nil
}

// serve answers requests until ctx ends, then lets those under way finish.
func (h *house) serve(ctx context.Context, listener net.Listener) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	wait.Go(func() { h.directory.Watch(background, watchEvery) })
	wait.Go(func() { h.jobs.Work(background) })
	wait.Go(func() { h.keeper.Watch(background) })
	wait.Go(func() { h.inspect(background) })
	err := h.server.Serve(ctx, listener, grace)
	stop() // a job under way is given back, and goes on elsewhere
	wait.Wait()
	h.engine.Close()
	if err != nil {
		return coded{codeFailed, err}
	}
	h.logger.Info("stopped")
	return nil
}

func (h *house) close() {
	h.engine.Close()
	if err := h.closeLimiter(); err != nil {
		h.logger.Error("closing Redis", "error", err)
	}
}

func (h *house) closeLimiter() error {
	if h.limiter == nil {
		return nil
	}
	return h.limiter.Close()
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
