package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
)

// administrationAPI answers the Administration API.
type administrationAPI struct {
	admin      *admin.Admin
	jobs       Jobs
	statistics *statistics.Statistics
	system     *systemLook
	failures   *failureLog
	pace       *pace
	vocabulary *contract.Vocabulary
	webhooks   *admin.Webhooks
	reader     loyalty.Reader
	messages   *WebhookMessages
	programme  func() *programme.Programme
	entities   *contract.Entities
	logger     *slog.Logger
	users      *admin.Users
	openTo     func(*request) []string
	clock      func() time.Time
	region     string
	jobWait    time.Duration
	totals     *gate // for reads that add up any number of rows
	exports    exportsAPI
	imports    importsAPI

	liabilities shared[loyalty.Liability]
	proofs      shared[[]administration.Invariant]
}

var _ administration.StrictServerInterface = (*administrationAPI)(nil)

// change runs one administrative change and answers it with a status. body renders the result; a repetition gets what
// body renders from the storable part of the result.
func change[T any](
	ctx context.Context, status int, body func(T) any,
	do func(context.Context, admin.Call) (admin.Done[T], error),
) (rawResponse, error) {
	r := requestOf(ctx)
	language, call := r.language, admin.Call{KeyID: r.key.ID}
	if key, hash, ok := r.idempotency(httpRequest(ctx)); ok {
		call.Idempotency = &admin.AdminIdempotency{AnswerKey: key, Hash: hash, Language: language.texts, Render: func(result any, err error) (int, []byte) {
			if err != nil {
				return errorBody(language, err)
			}
			return status, marshal(body(result.(T)))
		}}
	}

	done, err := do(plain(ctx), call)
	switch {
	case err != nil:
		return rawResponse{}, err
	case done.Replayed != nil:
		return replay(language, done.Replayed), nil
	}

	return rawResponse{status: status, body: marshal(body(done.Value))}, nil
}
