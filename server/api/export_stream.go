package api

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

// ExportsOpen bounds the exports that a node writes at once.
const ExportsOpen = 8

// exportRows is the number of rows in a piece, the most that an export holds in memory.
const exportRows = 500

// CsvType is the media type of CSV.
const CsvType = "text/csv; charset=utf-8"

// Exports writes tables, and all data of one customer.
type Exports struct {
	Reader    loyalty.ExportReader
	Directory *admin.Directory
	Stopping  <-chan struct{}
	Streams   *Gate
	Logger    *slog.Logger
}

// MayName refuses personal data to a key that may not use the Display API.
func MayName(r *Request, personal bool) error {
	if personal && len(r.Key.APIs) > 0 && !slices.Contains(r.Key.APIs, "display") {
		return loyalty.ErrAPIForbidden.With("api", "display")
	}
	return nil
}

// pieces is the source of an export, from its beginning to its end.
type pieces interface {
	Next(ctx context.Context, limit int) (export.Piece, error)
}

// ExportStream is an answer that is written while it is read.
type ExportStream struct {
	anyOperation
	API     Exports
	Request *Request
	From    pieces
	Ask     export.Ask
	Form    export.Form
	Limit   int // 0: none was sent
}

// Write writes until the end or until its reader goes away. An export that cannot continue breaks the connection, so
// that the reader does not take the part for the whole.
func (s ExportStream) Write(w http.ResponseWriter) error {
	ctx := s.Request.Unbound
	leave, err := s.API.Streams.Enter(ctx, s.Request.Key.ID)
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
	h.Set("Content-Type", NDJSONType)
	if s.Form == export.CSV {
		h.Set("Content-Type", CsvType)
		h.Set("Content-Disposition", `attachment; filename="`+s.Ask.Table+`.csv"`)
	}

	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	text := export.Header(s.Form, s.Ask.Table, s.Ask.Personal)
	for given := 0; ; {
		given += piece.Rows
		text = append(text, piece.Text(s.Form)...)
		if len(text) > 0 && !WrittenInTime(w, to, text) {
			return nil
		}
		if !piece.More || s.Limit > 0 && given >= s.Limit {
			return nil
		}
		if s.API.Over() || ctx.Err() != nil || !s.API.MayGoOn(s.Request, s.Ask.Personal) {
			panic(http.ErrAbortHandler)
		}

		if piece, err = s.piece(ctx, given); err != nil {
			s.API.Logger.Error("an export broke off", "request_id", s.Request.ID, "table", s.Ask.Table, "error", err)
			panic(http.ErrAbortHandler)
		}

		text = text[:0]
	}
}

// WrittenInTime writes a part of a stream; false if its reader went away or reads nothing.
func WrittenInTime(w http.ResponseWriter, to *http.ResponseController, text []byte) bool {
	if err := to.SetWriteDeadline(time.Now().Add(TakeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	_, err := w.Write(text)
	return err == nil && to.Flush() == nil
}

// piece reads the next rows after the given number.
func (s ExportStream) piece(ctx context.Context, given int) (export.Piece, error) {
	ctx, cancel := context.WithTimeout(ctx, WaitTime)
	defer cancel()
	limit := exportRows
	if s.Limit > 0 {
		limit = min(limit, s.Limit-given)
	}
	return s.From.Next(ctx, limit)
}

// Over reports whether the server is about to stop.
func (a Exports) Over() bool {
	select {
	case <-a.Stopping:
		return true
	default:
		return false
	}
}

// MayGoOn reports whether the key of a request may still read what it asked for.
func (a Exports) MayGoOn(r *Request, personal bool) bool {
	if r.Caller != nil {
		return true // the console ends the request with the session
	}
	key, ok := a.Directory.Key(r.Key.ID)
	may := func(api string) bool { return len(key.APIs) == 0 || slices.Contains(key.APIs, api) }
	return ok && Admits(key, r.Source) && may(r.Operation.API) && (!personal || may("display"))
}

// The size of a piece, the most that a stream holds in memory, in rows and approximately in bytes; and the time after
// which a reader that takes nothing is disconnected.
const (
	PieceRows  = 500
	PieceBytes = 256 << 10
	TakeTime   = 20 * time.Second
)
