package systemd_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/systemd"
)

// TestManager: what a service manager hears, and that it hears nothing of a program that is stuck.
func TestManager(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	hear := func(wait time.Duration) string {
		var b [64]byte
		require.NoError(t, l.SetReadDeadline(time.Now().Add(wait)))
		n, err := l.Read(b[:])
		if err != nil {
			return ""
		}
		return string(b[:n])
	}

	environment := map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "100000"}
	m := systemd.NewManager(func(name string) (string, bool) { v, ok := environment[name]; return v, ok })
	require.NoError(t, m.Ready())
	require.Equal(t, "READY=1", hear(time.Second))
	require.NoError(t, m.Stopping())
	require.Equal(t, "STOPPING=1", hear(time.Second))

	var stuck atomic.Bool
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.Watch(ctx, func(context.Context) error {
			if stuck.Load() {
				return errors.New("stuck")
			}
			return nil
		})
	}()

	require.Equal(t, "WATCHDOG=1", hear(time.Second))
	require.Equal(t, "WATCHDOG=1", hear(time.Second))
	stuck.Store(true)
	for hear(200*time.Millisecond) != "" { // what was on its way
	}

	require.Empty(t, hear(300*time.Millisecond))
	stop()
	<-ended

	nobody := systemd.NewManager(func(string) (string, bool) { return "", false })
	require.NoError(t, nobody.Ready())
	nobody.Watch(t.Context(), nil)
}
