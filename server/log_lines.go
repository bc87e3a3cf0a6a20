package server

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	lineDelay   = 2 * time.Millisecond // how long the line of a request waits for others
	mostPending = 64 << 10             // bytes of waiting lines; a line beyond this writes all
)

// LogTogether makes a log handler that writes the lines of answered requests in groups. All other lines, and those of
// requests that failed by our fault, are written at once. flush writes what waits; call it when the program ends.
func LogTogether(to io.Writer, form func(io.Writer) slog.Handler) (h slog.Handler, flush func()) {
	lines := &lineWriter{to: to}
	return promptHandler{form(lines), lines}, func() { _ = lines.flush() }
}

// lineWriter collects lines and writes them together, because one system call for each request is expensive. Lines keep
// their order, and none is split. Pending lines are lost only if the program is killed.
type lineWriter struct {
	to io.Writer

	writing sync.Mutex // held while lines are written, so that they keep their order
	written []byte     // the buffer of the last write, for reuse

	mu      sync.Mutex
	pending []byte
	due     bool // a write is scheduled
}

// Write takes one line.
func (l *lineWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	l.pending = append(l.pending, line...)
	full, due := len(l.pending) > mostPending, l.due
	l.due = true
	l.mu.Unlock()
	if full {
		return len(line), l.flush() // a slow reader of the log delays the writer
	}
	if !due {
		time.AfterFunc(lineDelay, func() { _ = l.flush() })
	}
	return len(line), nil
}

// flush writes what is pending.
func (l *lineWriter) flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	lines := l.pending
	l.pending, l.due = l.written[:0], false
	l.mu.Unlock()
	l.written = lines
	if len(lines) == 0 {
		return nil
	}
	_, err := l.to.Write(lines)
	return err
}

// promptHandler writes every line at once, with the pending ones before it, except lines of successful requests.
type promptHandler struct {
	slog.Handler
	lines *lineWriter
}

// Handle writes one line.
func (h promptHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level > slog.LevelInfo || r.Message != requestLine {
		return h.lines.flush()
	}
	return err
}

// WithAttrs keeps the lines prompt.
func (h promptHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptHandler{h.Handler.WithAttrs(attrs), h.lines}
}

// WithGroup keeps the lines prompt.
func (h promptHandler) WithGroup(name string) slog.Handler {
	return promptHandler{h.Handler.WithGroup(name), h.lines}
}
