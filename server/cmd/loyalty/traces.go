package main

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/loyalty-platform/loyalty/server/tracing"
)

// lastSpans is how long the collector is waited for when the program stops.
const lastSpans = 5 * time.Second

// followed begins to follow what happens, where OpenTelemetry's variables name a collector; else
// there is no Tracing.
func followed(ctx context.Context, embedded bool, logger *slog.Logger) (t *tracing.Tracing, end func(), err error) {
	database := "postgresql"
	if embedded {
		database = "sqlite"
	}
	t, err = tracing.New(ctx, tracing.Options{
		Version: version(debug.ReadBuildInfo()), Database: database, Report: func(err error) { logger.Warn("sending spans", "error", err) },
	})
	if err != nil {
		return nil, nil, coded{codeUsage, err}
	}
	if t == nil {
		return nil, func() {}, nil
	}
	return t, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSpans)
		defer cancel()
		if err := t.Close(ctx); err != nil {
			logger.Warn("sending the last spans", "error", err)
		}
	}, nil
}

// asked hears of what the database is asked, where that is followed.
func asked(t *tracing.Tracing) func(context.Context, string, time.Time) {
	if t == nil {
		return nil
	}
	return t.Asked
}
