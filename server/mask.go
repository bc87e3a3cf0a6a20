package server

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// personalHeader is the header by which a user who may see personal data asks for it; otherwise the data is masked.
const (
	personalHeader = "X-Personal-Data"
	personalShown  = "show"
)

// mask filters the answers to a user: it removes what a document marks x-personal. noted is nil for a user who may not
// see personal data or did not ask for it. Otherwise nothing is removed, and noted is called once, before the first
// personal data is sent. An answer that cannot be masked is refused to users who may not see personal data, and counts
// as asked for by users who may.
func mask(
	c *gin.Context, vocabulary *contract.Vocabulary, fail func(*gin.Context, error), may bool, noted func() error,
) {
	shows := c.GetHeader(personalHeader) == personalShown
	o := api.RequestOf(c).Operation
	w := &maskingWriter{ResponseWriter: c.Writer, masker: masker{vocabulary: vocabulary},
		operation: o.Route.Operation, shows: may && shows}
	if may {
		w.noted = noted
	}

	c.Writer = w
	c.Next()
	c.Writer = w.ResponseWriter
	if w.foreign {
		fail(c, loyalty.ErrPersonalNeeded)
		return
	}

	if err := w.finish(); err != nil {
		fail(c, err)
	}
}

// maskingWriter holds an answer back until it is complete; a stream line by line.
type maskingWriter struct {
	gin.ResponseWriter
	masker    masker
	operation *openapi3.Operation
	status    int
	held      bytes.Buffer
	stream    bool
	foreign   bool         // neither JSON nor a stream, and its reader may see no personal data
	plain     bool         // neither JSON nor a stream, and its reader may see personal data
	shows     bool         // personal data is shown
	noted     func() error // records that; nil: not allowed, or recorded already
}

// tell records, once, that personal data is shown. If that fails, the data is not shown.
func (w *maskingWriter) tell() error {
	if w.noted == nil {
		return nil
	}
	if err := w.noted(); err != nil {
		return err
	}
	w.noted = nil
	return nil
}

func (w *maskingWriter) WriteHeader(status int) {
	if w.status != 0 {
		return
	}

	w.status = status
	switch kind := w.Header().Get("Content-Type"); {
	case strings.HasPrefix(kind, api.SSEType), strings.HasPrefix(kind, api.NDJSONType):
		w.stream = true
		w.ResponseWriter.WriteHeader(status)
	case kind != "" && !strings.HasPrefix(kind, "application/json"):
		if w.noted == nil || w.tell() != nil {
			w.foreign = true
			return
		}
		w.plain = true
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *maskingWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	switch {
	case w.foreign:
		return len(b), nil
	case w.plain:
		return w.ResponseWriter.Write(b)
	}
	w.held.Write(b)
	if w.stream {
		w.release()
	}
	return len(b), nil
}

func (w *maskingWriter) WriteString(text string) (int, error) { return w.Write([]byte(text)) }

// WriteHeaderNow replaces gin's: the header of a held answer waits for its length.
func (w *maskingWriter) WriteHeaderNow() {
	if w.WriteHeader(http.StatusOK); w.stream || w.plain {
		w.ResponseWriter.WriteHeaderNow()
	}
}

func (w *maskingWriter) Written() bool { return w.status != 0 }

func (w *maskingWriter) Status() int {
	if w.status != 0 {
		return w.status
	}
	return w.ResponseWriter.Status()
}

// Flush sends what a stream has; a held answer waits.
func (w *maskingWriter) Flush() {
	if w.stream || w.plain {
		w.ResponseWriter.Flush()
	}
}

// Unwrap allows deadlines to be set.
func (w *maskingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// release sends the complete lines of a stream, masked unless the data may be shown.
func (w *maskingWriter) release() {
	for {
		at := bytes.IndexByte(w.held.Bytes(), '\n')
		if at < 0 {
			return
		}
		line := bytes.Clone(w.held.Next(at + 1))
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			line = append(append([]byte("data: "), w.seen(bytes.TrimSpace(data))...), '\n')
		} else if line[0] == '{' {
			line = append(w.seen(bytes.TrimSuffix(line, []byte("\n"))), '\n')
		}
		_, _ = w.ResponseWriter.Write(line) // the caller may be gone: not our failure
	}
}

// seen is the part of a line that its reader may see.
func (w *maskingWriter) seen(line []byte) []byte {
	masked, found := w.masker.text(line, nil)
	if found && w.shows && w.tell() == nil || !found {
		return line
	}
	return masked
}

func (w *maskingWriter) finish() error {
	if w.stream || w.plain || w.status == 0 {
		return nil
	}

	body := w.held.Bytes()
	if w.status < http.StatusBadRequest && len(body) > 0 {
		masked, found := w.masker.text(body, answerSchema(w.operation, w.status))
		switch {
		case found && w.shows:
			if err := w.tell(); err != nil {
				return err
			}
		case found:
			body = masked
		}
	}

	if w.Header().Get("Content-Length") != "" {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}

	w.ResponseWriter.WriteHeader(w.status)
	_, _ = w.ResponseWriter.Write(body)
	return nil
}

// answerSchema returns the document's schema for an answer.
func answerSchema(o *openapi3.Operation, status int) []*openapi3.Schema {
	r := o.Responses.Status(status)
	if r == nil || r.Value == nil {
		return nil
	}
	media := r.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return nil
	}
	return []*openapi3.Schema{media.Schema.Value}
}
