package loyalty

import "context"

type unseenKey struct{}

// WithUnseen returns a context for a request that only asks what would happen, whose caller may not see personal data.
// unseen reports whether a fact of the condition language is personal.
func WithUnseen(ctx context.Context, unseen func(fact string) bool) context.Context {
	return context.WithValue(ctx, unseenKey{}, unseen)
}

// UnseenBy returns what WithUnseen was given; nil: the caller may see everything.
func UnseenBy(ctx context.Context) func(fact string) bool {
	unseen, _ := ctx.Value(unseenKey{}).(func(string) bool)
	return unseen
}
