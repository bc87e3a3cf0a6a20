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
	mostPending = 64 << 10             // bytes of lines that wait; who writes more of them writes all
)

// LogTogether makes the handler of a log whose lines of answered requests are written some at a time; all other lines, and
// those of requests that failed by a fault of ours, are written at once. flush writes what waits, when the program ends.
func LogTogether(to io.Writer, form func(io.Writer) slog.Handler) (h slog.Handler, flush func()) {
	lines := &lineWriter{to: to}
	return promptHandler{form(lines), lines}, func() { _ = lines.flush() }
}

// lineWriter gathers lines and writes them together: one for each request is otherwise a system call for each. Lines keep
// their order, and none is parted. What is pending is lost with a program that is killed, and only then.
type lineWriter struct {
	to io.Writer

	writing sync.Mutex // held while lines are written, so that they keep their order
	written []byte     // the memory of those that were

	mu      sync.Mutex
	pending []byte
	due     bool // they will be written
}

// Write takes one line.
func (l *lineWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	l.pending = append(l.pending, line...)
	full, due := len(l.pending) > mostPending, l.due
	l.due = true
	l.mu.Unlock()
	if full {
		return len(line), l.flush() // who reads the log slowly is waited for
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

// promptHandler has every line but those of requests that went well written at once, and what is pending before it.
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
