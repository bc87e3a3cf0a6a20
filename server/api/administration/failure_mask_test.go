package administration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

func TestMasked(t *testing.T) {
	names := map[string]bool{"data": true, "items": true, "quantity": true, "external_ids": true, "points": true, "gte": true, "Idempotency-Key": true}
	for field, want := range map[string]string{
		"":                                "",
		"data.items[12].quantity":         "data.items[12].quantity",
		"points.gte":                      "points.gte",
		"Idempotency-Key":                 "Idempotency-Key",
		"data.external_ids.jane@shop.com": "data.external_ids.*.*",
		"data.external_ids.36301234567":   "data.external_ids.*",
		"Data":                            "*",
		`data["jane.doe"].points`:         `data[*].points`,
		`data["36"][36].points`:           `data[*][36].points`,
		"jane doe":                        "*",
		"[jane]":                          "[*]**",
		"data[1234567890123]":             "data[*]**",
		"..points":                        ".*.points",
	} {
		require.Equal(t, want, masked(field, names), field)
	}

	require.Len(t, masked(strings.Repeat("data.", 100), names), maxFailureField)
}

// FuzzMasked: nothing is left but names that are known, places in lists and signs.
func FuzzMasked(f *testing.F) {
	for _, seed := range []string{"data.items[1].x", `a["b\"]"].c`, "[[[", "é.ü[1]", "data..items"} {
		f.Add(seed)
	}
	names := map[string]bool{"data": true, "items": true}
	only := regexp.MustCompile(`^(data|items|\[\d{1,9}\]|\[\*\]|[.*])*(\[\d{0,9}|\[\*?|d|da|dat|i|it|ite|item)?$`) // it may be cut
	f.Fuzz(func(t *testing.T, field string) {
		got := masked(field, names)
		require.Regexp(t, only, got, field)
		require.LessOrEqual(t, len(got), maxFailureField)
	})
}

// TestFailureLogIsBounded: a flood costs only the waiting entries, requests that any caller can send have half of the
// room, and what the database does not take is given up in the end.
func TestFailureLogIsBounded(t *testing.T) {
	l := &FailureLog{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Clock: time.Now, ended: true} // nothing is written by itself
	for range 10 * failuresWaiting {
		l.Add(loyalty.FailedRequest{})
	}

	require.Len(t, l.waiting, failuresWaiting/2)
	for range 10 * failuresWaiting {
		l.Add(loyalty.FailedRequest{KeyID: "LKTEST"})
	}

	require.Len(t, l.waiting, failuresWaiting)
	require.EqualValues(t, 19*failuresWaiting, l.notKept())

	for i := range failuresTries - 1 {
		batch := l.waiting
		l.waiting = nil
		l.again(batch, errors.New("away"))
		require.Len(t, l.waiting, failuresWaiting, fmt.Sprint("try ", i))
	}

	l.again(l.waiting, errors.New("away"))
	require.Empty(t, l.waiting)
	l.flush(context.Background()) // nothing to write, so the database is not asked
}

// TestFailureLogCloses: after it was closed nothing is written later, so that the store can be
// closed.
func TestFailureLogCloses(t *testing.T) {
	l := &FailureLog{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Clock: time.Now}
	l.lock.Lock()
	l.schedule(time.Hour)
	l.lock.Unlock()
	require.NotNil(t, l.timer)
	l.Close(t.Context())
	require.False(t, l.timer.Stop(), "it was stopped")
	l.timer = nil
	l.Add(loyalty.FailedRequest{})
	require.Nil(t, l.timer)
}
