package api

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// Change runs one administrative change and answers it with a status. body renders the result; a repetition gets what
// body renders from the storable part of the result.
func Change[T any](
	ctx context.Context, status int, body func(T) any,
	do func(context.Context, admin.Call) (admin.Done[T], error),
) (RawResponse, error) {
	r := RequestOf(ctx)
	language, call := r.Language, admin.Call{KeyID: r.Key.ID}
	if key, hash, ok := r.Idempotency(HTTPRequest(ctx)); ok {
		call.Idempotency = &admin.AdminIdempotency{AnswerKey: key, Hash: hash,
			Language: language.Texts, Render: func(result any, err error) (int, []byte) {
				if err != nil {
					return ErrorBody(language, err)
				}
				return status, Marshal(body(result.(T)))
			}}
	}

	done, err := do(Plain(ctx), call)
	switch {
	case err != nil:
		return RawResponse{}, err
	case done.Replayed != nil:
		return Replay(language, done.Replayed), nil
	}

	return RawResponse{Status: status, Body: Marshal(body(done.Value))}, nil
}
