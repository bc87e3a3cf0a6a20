package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// behindAfter is how long the configuration may not be followed before a node is not
// ready: a revoked key would stay good on it.
const behindAfter = 10 * time.Second

// ready says why this node should get no requests now.
func (a *app) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	checks := a.checks()
	for _, name := range []string{"database", "writes", "configuration", "clock"} {
		if err := checks[name](ctx); err != nil {
			return err
		}
	}
	return nil
}

// checks are what readiness consists of, by the names that the metrics give them.
func (a *app) checks() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"database": a.reachable, "writes": a.writable, "configuration": a.following, "clock": a.onTime,
	}
}

func notReady(err error, format string, args ...any) error {
	return &server.NotReady{Reason: fmt.Sprintf(format, args...), Err: err}
}

func (a *app) reachable(ctx context.Context) error {
	switch err := a.store.Ready(ctx); {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrMigrationsPending), errors.Is(err, store.ErrNewerSchema):
		return notReady(err, "the schema of the database is not this program's")
	default:
		return notReady(err, "the database cannot be reached")
	}
}

func (a *app) writable(ctx context.Context) error {
	switch err := a.store.Writable(ctx); {
	case err == nil:
		return nil
	case errors.Is(err, loyalty.ErrDamaged):
		return notReady(err, "the database is damaged and is served read-only")
	case errors.Is(err, store.ErrReadOnly):
		return notReady(err, "%v", store.ErrReadOnly)
	case errors.Is(err, store.ErrFull):
		return notReady(err, "%v", store.ErrFull)
	default:
		return notReady(err, "the database cannot be written")
	}
}

func (a *app) following(context.Context) error {
	behind := a.directory.Behind()
	if behind < behindAfter {
		return nil
	}
	return notReady(errors.New("see the log"), "the configuration has not been followed for %s", behind.Round(time.Second))
}

func (a *app) onTime(context.Context) error {
	err := a.keeper.Trusted()
	if err == nil {
		return nil
	}
	skew, _ := a.keeper.Skew()
	return notReady(err, "the clock is %s off the database's", skew.Round(time.Second))
}

// status gives the figures that belong to it.
func (a *app) status() (figures []server.Figure) {
	if skew, known := a.keeper.Skew(); known {
		figures = append(figures, server.Figure{Name: "clock_ahead_ms", Value: skew.Milliseconds()})
	}
	if size, embedded := a.store.LogBytes(); embedded {
		figures = append(figures, server.Figure{Name: "database_log_bytes", Value: size})
	}
	return append(figures, server.Figure{Name: "configuration_behind_ms", Value: a.directory.Behind().Milliseconds()})
}

// inspect looks at the database once, aside: at settings that can lose writes, and at
// a file that was not closed in good order.
func (a *app) inspect(ctx context.Context) {
	warnings, err := a.store.Warnings(ctx)
	if err != nil && ctx.Err() == nil {
		a.logger.Error("looking at the database's settings", "error", err)
	}
	for _, w := range warnings {
		a.logger.Warn(w)
	}
	if err := a.store.CheckFile(ctx); err != nil {
		a.logger.Error("the database is served read-only: restore it from a backup", "error", err)
	}
}
