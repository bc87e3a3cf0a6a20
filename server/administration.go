package server

import (
	"bytes"
	"context"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// administrationAPI answers the Administration API.
type administrationAPI struct{ *Server }

var _ administration.StrictServerInterface = (*administrationAPI)(nil)

// change runs one administrative change and answers it with a status. body words
// what the change gives; it is also what a repetition is answered with, made of
// the part of the result that may be stored.
func change[T any](
	s *Server, ctx context.Context, status int, body func(T) any,
	do func(context.Context, loyalty.Call) (loyalty.Done[T], error),
) (written, error) {
	r := requestOf(ctx)
	language, call := r.language, loyalty.Call{KeyID: r.key.ID}
	if key, hash, ok := r.idempotency(httpRequest(ctx)); ok {
		call.Idempotency = &loyalty.AdminIdempotency{AnswerKey: key, Hash: hash, Render: func(result any, err error) (int, []byte) {
			if err != nil {
				return s.errorBody(language, err)
			}
			return status, marshal(body(result.(T)))
		}}
	}
	done, err := do(plain(ctx), call)
	switch {
	case err != nil:
		return written{}, err
	case done.Replayed != nil:
		return replay(done.Replayed), nil
	}
	return written{status: status, body: marshal(body(done.Value))}, nil
}

// inMemory cuts a page out of a list that is read as a whole, the newest first.
// place gives where an entry stands; without it only offsets count.
func inMemory[T any](p page, all []T, place func(T) cursor) []T {
	if p.cursor == nil || place == nil {
		from := min(p.offset, len(all))
		return all[from:min(len(all), from+p.fetch())]
	}
	before := cursor.newer
	if p.oldestFirst {
		before = func(c, than cursor) bool { return than.newer(c) }
	}
	first := 0 // behind the position, going forward; at or behind it, going back
	for first < len(all) && before(place(all[first]), *p.cursor) {
		first++
	}
	if p.cursor.back {
		return all[max(0, first-p.fetch()):first]
	}
	if first < len(all) && !before(*p.cursor, place(all[first])) {
		first++ // the entry of the position itself
	}
	return all[first:min(len(all), first+p.fetch())]
}

// newer says whether a place comes before another in a list with the newest
// entry first.
func (c cursor) newer(than cursor) bool {
	if order := c.at.Compare(than.at); order != 0 {
		return order > 0
	}
	return bytes.Compare(c.id, than.id) > 0
}
