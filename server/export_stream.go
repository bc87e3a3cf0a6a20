package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/export"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// exportsOpen bounds the exports that a node writes at once.
const exportsOpen = 8

// exportRows is the number of rows in a piece, the most that an export holds in memory.
const exportRows = 500

// csvType is the media type of CSV.
const csvType = "text/csv; charset=utf-8"

// exportsAPI writes tables, and all data of one customer.
type exportsAPI struct {
	reader    loyalty.ExportReader
	directory *admin.Directory
	stopping  <-chan struct{}
	streams   *gate
	logger    *slog.Logger
}

// mayName refuses personal data to a key that may not use the Display API.
func mayName(r *request, personal bool) error {
	if personal && len(r.key.APIs) > 0 && !slices.Contains(r.key.APIs, "display") {
		return loyalty.ErrAPIForbidden.With("api", "display")
	}
	return nil
}

// pieces is the source of an export, from its beginning to its end.
type pieces interface {
	Next(ctx context.Context, limit int) (export.Piece, error)
}

// exportStream is an answer that is written while it is read.
type exportStream struct {
	api     exportsAPI
	request *request
	from    pieces
	ask     export.Ask
	form    export.Form
	limit   int // 0: none was sent
}

// VisitExportTableResponse writes the table.
func (s exportStream) VisitExportTableResponse(w http.ResponseWriter) error { return s.write(w) }

// VisitExportCustomerResponse writes all data of a customer.
func (s exportStream) VisitExportCustomerResponse(w http.ResponseWriter) error { return s.write(w) }

// write writes until the end or until its reader goes away. An export that cannot continue breaks the connection, so
// that the reader does not take the part for the whole.
func (s exportStream) write(w http.ResponseWriter) error {
	ctx := s.request.unbound
	leave, err := s.api.streams.enter(ctx, s.request.key.ID)
	if err != nil {
		return err
	}
	defer leave()

	piece, err := s.piece(ctx, 0) // an immediate failure is answered as an error
	if err != nil {
		return err
	}

	to := http.NewResponseController(w)
	if err := to.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}

	h := w.Header()
	h.Set("Content-Type", ndjsonType)
	if s.form == export.CSV {
		h.Set("Content-Type", csvType)
		h.Set("Content-Disposition", `attachment; filename="`+s.ask.Table+`.csv"`)
	}

	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	text := export.Header(s.form, s.ask.Table, s.ask.Personal)
	for given := 0; ; {
		given += piece.Rows
		text = append(text, piece.Text(s.form)...)
		if len(text) > 0 && !taken(w, to, text) {
			return nil
		}
		if !piece.More || s.limit > 0 && given >= s.limit {
			return nil
		}
		if s.api.over() || ctx.Err() != nil || !s.api.mayGoOn(s.request, s.ask.Personal) {
			panic(http.ErrAbortHandler)
		}

		if piece, err = s.piece(ctx, given); err != nil {
			s.api.logger.Error("an export broke off", "request_id", s.request.id, "table", s.ask.Table, "error", err)
			panic(http.ErrAbortHandler)
		}

		text = text[:0]
	}
}

// taken writes a part of a stream; false if its reader went away or reads nothing.
func taken(w http.ResponseWriter, to *http.ResponseController, text []byte) bool {
	if err := to.SetWriteDeadline(time.Now().Add(takeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	_, err := w.Write(text)
	return err == nil && to.Flush() == nil
}

// piece reads the next rows after the given number.
func (s exportStream) piece(ctx context.Context, given int) (export.Piece, error) {
	ctx, cancel := context.WithTimeout(ctx, waitTime)
	defer cancel()
	limit := exportRows
	if s.limit > 0 {
		limit = min(limit, s.limit-given)
	}
	return s.from.Next(ctx, limit)
}

// over reports whether the server is about to stop.
func (a exportsAPI) over() bool {
	select {
	case <-a.stopping:
		return true
	default:
		return false
	}
}

// mayGoOn reports whether the key of a request may still read what it asked for.
func (a exportsAPI) mayGoOn(r *request, personal bool) bool {
	if r.caller != nil {
		return true // the console ends the request with the session
	}
	key, ok := a.directory.Key(r.key.ID)
	may := func(api string) bool { return len(key.APIs) == 0 || slices.Contains(key.APIs, api) }
	return ok && admits(key, r.source) && may(r.operation.api) && (!personal || may("display"))
}

// The size of a piece, the most that a stream holds in memory, in rows and approximately in bytes; and the time after
// which a reader that takes nothing is disconnected.
const (
	pieceRows  = 500
	pieceBytes = 256 << 10
	takeTime   = 20 * time.Second
)
