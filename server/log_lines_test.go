package server

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// writes are what was written, write by write.
type writes struct {
	mu  sync.Mutex
	all []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, string(p))
	return len(p), nil
}

func (w *writes) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all
	w.all = nil
	for i := range all {
		for _, part := range []string{"level=INFO ", "level=ERROR ", "msg=", "n="} {
			all[i] = strings.ReplaceAll(all[i], part, "")
		}
	}
	return all
}

// logTo is a log without times.
func logTo(out *writes) (*slog.Logger, func()) {
	options := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	handler, flush := LogTogether(out, func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, options) })
	return slog.New(handler), flush
}

// TestLogWritesRequestsTogether: the lines of requests wait for each other, nothing else waits, and nothing is written before
// what came before it.
func TestLogWritesRequestsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &writes{}
		logger, flush := logTo(out)

		logger.Info(requestLine, "n", 1)
		logger.Info(requestLine, "n", 2)
		require.Empty(t, out.take(), "they wait")
		time.Sleep(lineDelay)
		synctest.Wait()
		require.Equal(t, []string{"request 1\nrequest 2\n"}, out.take(), "one write")
		time.Sleep(time.Hour)
		require.Empty(t, out.take())

		logger.Info(requestLine, "n", 3)
		logger.Info("anchored", "n", 4)
		require.Equal(t, []string{"request 3\nanchored 4\n"}, out.take(), "at once, and in order")
		logger.With("n", 5).Error(requestLine)
		require.Equal(t, []string{"request 5\n"}, out.take(), "a failure is written at once")
		logger.With("n", 6).Info(requestLine)
		require.Empty(t, out.take())
		flush()
		require.Equal(t, []string{"request 6\n"}, out.take(), "when the program ends")
		time.Sleep(time.Hour)
		require.Empty(t, out.take(), "nothing comes twice")

		logger.Info(requestLine, "n", strings.Repeat("x", mostPending))
		require.Len(t, out.take(), 1, "more than may wait is written by whom it comes from")
	})
}

// TestLogKeepsLinesWhole: many write at once, and each line is there, whole and behind the one before it.
func TestLogKeepsLinesWhole(t *testing.T) {
	const writers, each = 8, 2000
	out := &writes{}
	logger, flush := logTo(out)
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for n := range each {
				message := requestLine
				if n%100 == 99 {
					message = "other"
				}
				logger.Info(message, "line", fmt.Sprintf("%d.%d.", w, n))
			}
		})
	}

	wait.Wait()
	flush()
	next := map[string]int{}
	count := 0
	for _, written := range out.take() {
		require.True(t, strings.HasSuffix(written, "\n"))
		for line := range strings.Lines(written) {
			_, place, found := strings.Cut(line, "line=")
			require.True(t, found, line)
			writer, n, _ := strings.Cut(strings.TrimSuffix(place, ".\n"), ".")
			require.Equal(t, fmt.Sprint(next[writer]), n, line)
			next[writer]++
			count++
		}
	}

	require.Equal(t, writers*each, count)
}
