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

// follow begins to follow what happens, where OpenTelemetry's variables name a collector.
func (s *settings) follow(ctx context.Context, logger *slog.Logger) (end func(), err error) {
	database := "postgresql"
	if s.embedded() {
		database = "sqlite"
	}
	s.tracing, err = tracing.New(ctx, tracing.Options{
		Version: version(debug.ReadBuildInfo()), Database: database, Report: func(err error) { logger.Warn("sending spans", "error", err) },
	})
	if err != nil {
		return nil, coded{codeUsage, err}
	}
	if s.tracing == nil {
		return func() {}, nil
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSpans)
		defer cancel()
		if err := s.tracing.Close(ctx); err != nil {
			logger.Warn("sending the last spans", "error", err)
		}
	}, nil
}

// asked hears of what the database is asked, where that is followed.
func (s *settings) asked() func(context.Context, string, time.Time) {
	if s.tracing == nil {
		return nil
	}
	return s.tracing.Asked
}
