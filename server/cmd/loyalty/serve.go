package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/server/doctor"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/systemd"
	"github.com/loyalty-platform/loyalty/server/tracing"
)

func newServe(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve the APIs (what loyalty does without a command)", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, flush, err := s.logger(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer flush()

			for _, name := range doctor.Unread(environment(), s.known) {
				logger.Warn("a variable named like a setting is not a setting and was ignored", "variable", name,
					"settings", "loyalty serve --help")
			}

			err = s.serve(cmd.Context(), logger, s.greetings(logger, cmd.OutOrStdout()))
			if cmd.Context().Err() != nil && errors.Is(err, context.Canceled) {
				logger.Info("stopped before serving")
				return nil // stopping a start is no failure
			}

			return err
		},
	}
}

// serve runs until ctx ends. It takes the address first, so that a second start fails before it changes anything.
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
		Version: version(build()), Embedded: s.embedded(),
		Report: func(err error) { logger.Warn("sending spans", "error", err) },
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
		logger.Info("the database was migrated; a copy from before is in a file that can be deleted when all is well",
			"file", s.copied)
	}

	defer func() {
		if err := db.Close(); err != nil {
			logger.Error("closing the database", "error", err)
		}
	}()

	a, err := s.build(ctx, db, logger, managed, people)
	if err != nil {
		return coded{codeUsage, err}
	}
	defer a.close()

	limitMemory(logger)
	if err := s.welcome(ctx, a.admin, listener.Addr(), out); err != nil {
		return coded{codeFailed, err}
	}
	if err := welcomeConsole(ctx, s, admin.UsersOf(a.admin), welcomed, out); err != nil {
		return coded{codeFailed, err}
	}

	if managed != nil {
		managed.Started(a.server.Readiness)
		defer context.AfterFunc(ctx, managed.Ending)()
	}

	manager := systemd.NewManager(os.LookupEnv)
	if err := manager.Ready(); err != nil {
		logger.Error("telling the service manager", "error", err)
	}
	defer context.AfterFunc(ctx, func() { _ = manager.Stopping() })()

	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go manager.Watch(watching, a.reachable)
	systemd.LeaveStart()
	return a.serve(ctx, listener)
}

// serve answers requests until ctx ends, then lets requests under way finish.
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
	stop() // a job under way is given back and continues elsewhere
	wait.Wait()
	a.egress.Close()
	a.engine.Close()
	if err != nil {
		return coded{codeFailed, err}
	}

	a.logger.Info("stopped")
	return nil
}
