package loyalty

import "context"

type readingKey struct{}

// Reading marks the context of a request that changes nothing and decides nothing: what it
// reads may come from a copy of the database that is as new as the read needs.
func Reading(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingKey{}, true)
}

// IsReading says whether a context was marked so.
func IsReading(ctx context.Context) bool { return ctx.Value(readingKey{}) != nil }
