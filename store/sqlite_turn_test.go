package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestTurn: a process that writes without a pause, like an import from the command line, does not keep another
// process from writing events or administrative changes.
func TestTurn(t *testing.T) {
	url := storetest.SQLite(t)
	busy, server := storetest.Open(t, url), storetest.Open(t, url)
	write := func(s *store.Store, name string, takes time.Duration) error {
		now := time.Now().UTC()
		return s.Within(context.Background(), loyalty.Needs{Now: now}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
			time.Sleep(takes)
			key := loyalty.AnswerKey{AccessKey: "LKTEST", Key: name}
			return &loyalty.Writes{Answers: []loyalty.Answer{{AnswerKey: key, Status: 200, Body: []byte("{}"), At: now}}}, nil
		})
	}

	var commits atomic.Int64
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := write(busy, fmt.Sprint("busy-", i), 3*time.Millisecond); err != nil {
				t.Error(err)
				return
			}
			commits.Add(1)
		}
	})

	require.Eventually(t, func() bool { return commits.Load() > 0 }, time.Minute, time.Millisecond)
	for i := range 60 {
		for what, write := range map[string]func() error{
			"an event": func() error { return write(server, fmt.Sprint("server-", i), 0) },
			"a change": func() error { return server.Change(t.Context(), func(loyalty.AdminTx) error { return nil }) },
			"a statement": func() error {
				_, err := server.TakeSignature(t.Context(), [32]byte{byte(i)}, time.Now())
				return err
			},
		} {
			before := commits.Load()
			require.NoError(t, write(), what)
			require.Less(t, commits.Load()-before, int64(100), "%s waited for so many others", what)
		}
	}

	close(stop)
	writing.Wait()
}
