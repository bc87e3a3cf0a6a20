package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// behindAfter is how long the configuration may not be followed before a node is not ready: a revoked key would stay
// valid on it.
const behindAfter = 10 * time.Second

// ready returns why this node should get no requests now.
func (a *app) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	checks := a.checks()
	for _, name := range []string{"database", "writes", "configuration", "clock", "opt_outs"} {
		if err := checks[name](ctx); err != nil {
			return err
		}
	}
	return nil
}

// checks are the parts of readiness, by their names in the metrics.
func (a *app) checks() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"database": a.reachable, "writes": a.writable, "configuration": a.following, "clock": a.onTime,
		"opt_outs": a.remembering,
	}
}

func notReady(err error, format string, args ...any) error {
	return &server.NotReady{Reason: fmt.Sprintf(format, args...), Err: err}
}

func (a *app) reachable(ctx context.Context) error {
	switch err := a.store.Ready(ctx); {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrMigrationsPending), errors.Is(err, store.ErrNewerSchema),
		errors.Is(err, store.ErrUnreleased):
		return notReady(err, "the database's schema does not match this program")
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
	return notReady(errors.New("see the log"), "changes of the configuration have not been read for %s",
		behind.Round(time.Second))
}

func (a *app) onTime(context.Context) error {
	err := a.keeper.Trusted()
	if err == nil {
		return nil
	}
	if step := (*loyalty.ClockStep)(nil); errors.As(err, &step) {
		return notReady(err, "%v", step)
	}
	skew, _ := a.keeper.Skew()
	return notReady(err, "the clock differs from the database's by %s", skew.Round(time.Second))
}

// remembering fails while opt-outs cannot be written beside the backups: a database that is restored from one of them
// would know the customers who left again.
func (a *app) remembering(context.Context) error {
	if a.backups == nil {
		return nil
	}
	if err := a.backups.optOuts.Fault(); err != nil {
		return notReady(err, "the list of opt-outs beside the backups cannot be written")
	}
	return nil
}

// status returns the figures of /readyz.
func (a *app) status() (figures []server.Figure) {
	if skew, known := a.keeper.Skew(); known {
		figures = append(figures, server.Figure{Name: "clock_ahead_ms", Value: skew.Milliseconds()})
	}
	if size, embedded := a.store.LogBytes(); embedded {
		figures = append(figures, server.Figure{Name: "database_log_bytes", Value: size})
	}
	return append(figures, server.Figure{Name: "configuration_behind_ms", Value: a.directory.Behind().Milliseconds()})
}

// inspect checks the database once, in the background: for settings that can lose writes, and for a file that was not
// closed properly.
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

// clockSuffix names the file beside an embedded database with the last instant known to be right, while the clock is
// found ahead of it: events that are recorded meanwhile would hide the step from the next start.
const clockSuffix = "-clock"

// touched is when an embedded database was last written, by the time of its files; zero for a new one.
func touched(database string) (last time.Time) {
	for _, path := range []string{database, database + "-wal"} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// followSteps makes the timekeeper look for steps of the clock if the database is a file, which has no clock to compare
// with.
func followSteps(ctx context.Context, s *settings, a *app, o *loyalty.TimekeeperOptions) (err error) {
	if !s.embedded() {
		return nil
	}

	path := s.databaseFile() + clockSuffix
	if o.Right, err = knownRight(ctx, s, a, path); err != nil {
		return err
	}

	o.Accepted = s.clockTrusted
	o.Stepped = func(right time.Time) {
		if err := keepRight(path, right); err != nil {
			a.logger.Error("the clock's file", "file", path, "error", err)
		}
	}

	return nil
}

// knownRight is the instant that an earlier start left, else the later one of the newest event and the time of the
// files before this start opened them.
func knownRight(ctx context.Context, s *settings, a *app, path string) (time.Time, error) {
	switch right, err := readRight(path); {
	case err == nil:
		return right, nil
	case !errors.Is(err, fs.ErrNotExist):
		return time.Time{}, err
	case s.touched.IsZero() || timeNow().Sub(s.touched) <= loyalty.MaxStep: // the journal need not be read
		return s.touched, nil
	}

	recorded, err := a.store.LastRecorded(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if recorded.After(s.touched) {
		return recorded, nil
	}

	return s.touched, nil
}

// readRight reads the instant in a file.
func readRight(path string) (time.Time, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, err
	}
	right, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w; delete the file if the clock is right", path, err)
	}
	return right, nil
}

// keepRight writes the file, or removes it when the clock is trusted again.
func keepRight(path string, right time.Time) error {
	if right.IsZero() {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.WriteFile(path, []byte(right.UTC().Format(time.RFC3339Nano)+"\n"), 0o600)
}

// timeNow is this node's clock.
func timeNow() time.Time {
	if clock != nil {
		return clock()
	}
	return time.Now()
}

// parseClockTrusted reads an instant, or a day, of which it takes the end in the last zone.
func parseClockTrusted(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Add(36 * time.Hour), nil // the day ends last at UTC-12
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fault("clock-trusted",
			"%q is neither a day, such as 2026-11-28, nor an instant, such as 2026-11-28T12:00:00Z", text)
	}
	return at, nil
}
