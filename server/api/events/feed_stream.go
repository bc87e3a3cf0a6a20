package events

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/api"
)

// StreamsOpen bounds the open streams and waiting pages of a node.
const StreamsOpen = 128

// commentEvery is how often a stream of server-sent events shows that it is alive.
const commentEvery = 15 * time.Second

// feedStream is an answer without an end of its own.
type feedStream struct {
	events.AnyEvents
	feed *FeedAPI
	ask  *feedAsk
}

// Write writes the stream until its reader goes away or loses the right to read.
func (s feedStream) Write(w http.ResponseWriter) error {
	ctx := s.ask.Unbound
	leave, err := s.feed.Streams.Enter(ctx, s.ask.Key.ID)
	if err != nil {
		return err
	}
	defer leave()

	first, err := s.piece(ctx, s.ask.after, 0) // an immediate failure is answered as an error
	if err != nil {
		return err
	}

	to := http.NewResponseController(w)
	// The caller may be silent for long: only a closed connection ends the stream.
	if err := to.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}

	h := w.Header()
	h.Set("Content-Type", s.ask.form)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return s.run(ctx, w, to, first)
}

// piece reads the next piece after the given number of rows.
func (s feedStream) piece(ctx context.Context, after int64, given int) (feedPiece, error) {
	limit := api.PieceRows
	if s.limited() {
		limit = min(limit, s.ask.limit-given)
	}
	return s.feed.piece(ctx, s.ask, after, limit, api.PieceBytes)
}

// limited reports whether the stream ends after a number of rows.
func (s feedStream) limited() bool { return s.ask.form == api.NDJSONType && s.ask.limit > 0 }

func (s feedStream) run(ctx context.Context, w http.ResponseWriter, to *http.ResponseController, p feedPiece) error {
	// A reader that goes away or takes nothing is not our fault.
	taken := func(text []byte) bool {
		if err := to.SetWriteDeadline(time.Now().Add(api.TakeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return false
		}
		_, err := w.Write(text)
		return err == nil && to.Flush() == nil
	}

	gone := func() bool { return ctx.Err() != nil }
	if !taken(nil) { // tells the reader that the stream has begun
		return nil
	}

	given, told, news := 0, time.Now(), time.Now()
	for {
		if len(p.rows) > 0 {
			if !taken(s.text(&p)) {
				return nil
			}
			given += len(p.rows)
			told, news = time.Now(), time.Now()
		}

		if s.feed.over() || gone() || !s.feed.mayGoOn(s.ask) || s.limited() && given >= s.ask.limit {
			return nil
		}

		if p.through >= p.head {
			if s.ask.form == api.NDJSONType && time.Since(news) >= s.ask.wait {
				return nil
			}
			most := time.Second
			if s.ask.form == api.NDJSONType {
				most = min(most, s.ask.wait-time.Since(news))
			}
			s.feed.Head.wait(ctx, s.feed.Stopping, p.through, most)
		}

		if s.ask.form == api.SSEType && time.Since(told) >= commentEvery {
			if !taken([]byte(":\n\n")) {
				return nil
			}
			told = time.Now()
		}

		if s.feed.over() || gone() || !s.feed.mayGoOn(s.ask) {
			return nil
		}

		var err error
		if p, err = s.piece(ctx, p.through, given); err != nil && !gone() {
			return err
		}
		if gone() {
			return nil
		}
	}
}

// text writes the rows of a piece in the format of the stream.
func (s feedStream) text(p *feedPiece) []byte {
	out := make([]byte, 0, p.size+len(p.rows)*48)
	for i, row := range p.rows {
		if s.ask.form == api.SSEType {
			out = append(out, "id: "+p.cursors[i]+"\ndata: "...)
		}
		if out = append(append(out, row...), '\n'); s.ask.form == api.SSEType {
			out = append(out, '\n')
		}
	}
	return out
}
