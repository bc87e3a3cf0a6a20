package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

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
