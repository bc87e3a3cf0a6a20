//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// tellsGoroutines is the environment's name for a file into which a program of a test
// writes how many goroutines it has.
const tellsGoroutines = "TEST_TELLS_GOROUTINES"

// telling is the program as it is, except that it says so.
func telling(path string) int {
	go func() {
		for {
			_ = os.WriteFile(path, []byte(strconv.Itoa(runtime.NumGoroutine())), 0o600)
			time.Sleep(100 * time.Millisecond)
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// size is what a program holds: memory in KiB, open files and connections, goroutines.
type size struct{ memory, files, goroutines int }

func (s size) String() string {
	return fmt.Sprintf("%d MiB, %d descriptors, %d goroutines", s.memory>>10, s.files, s.goroutines)
}

func sizeOf(t *testing.T, pid int, goroutines string) (s size) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			s.memory, err = strconv.Atoi(strings.Fields(text)[0])
			require.NoError(t, err)
		}
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	require.NoError(t, err)
	s.files = len(open)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(goroutines)
		if err == nil {
			s.goroutines, err = strconv.Atoi(string(text))
		}
		return err == nil
	}, patience, 10*time.Millisecond)
	return s
}

// TestFaultSoak keeps one program at work for half an hour in full, at 60 % of what it
// can do, with a fault every two minutes (R14): nothing is lost, and memory, goroutines
// and descriptors at the end are what they were at the beginning.
func TestFaultSoak(t *testing.T) {
	length := time.Duration(full(t, 0, 1800)) * time.Second
	if length == 0 {
		t.Skip("half an hour: LOYALTY_TORTURE=500")
	}
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	t.Run("sqlite", func(t *testing.T) {
		url := storetest.EmptySQLite(t)
		soak(t, url, length, func(l *load) { // another program takes the file's lock for a while
			other, err := storetest.Raw(t, url).Conn(t.Context())
			require.NoError(t, err)
			defer other.Close()
			require.Eventually(t, func() bool { // the program may have the lock for as long as this one waits
				_, err := other.ExecContext(t.Context(), `BEGIN IMMEDIATE`)
				return err == nil
			}, patience, 10*time.Millisecond)
			time.Sleep(3 * time.Second)
			_, err = other.ExecContext(t.Context(), `ROLLBACK`)
			require.NoError(t, err)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		c, url := durableCluster(t)
		faults := 0
		soak(t, url, length, func(l *load) {
			switch faults++; faults % 3 {
			case 0:
				require.NoError(t, c.Kill())
				require.NoError(t, c.Start())
			case 1:
				require.NoError(t, <-freeze(t, url, 5))
			default:
				_, err := storetest.Raw(t, url).Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`)
				require.NoError(t, err)
			}
		})
	})
}

func soak(t *testing.T, url string, length time.Duration, fault func(*load)) {
	l := newLoad(t, newGround(t, url))
	told := filepath.Join(t.TempDir(), "goroutines")
	s := serveProgram(t, exec.Command(os.Args[0]), l.g.dir, append(l.g.env, tellsGoroutines+"="+told))
	l.open(s.address)
	l.run(s.address)
	began, before := time.Now(), l.book.acks()
	time.Sleep(min(length/10, 10*time.Second))
	rate := float64(l.book.acks()-before) / time.Since(began).Seconds()
	l.stop()
	resting := func() size {
		time.Sleep(5 * time.Second) // connections of the load are idle, batches are done
		return sizeOf(t, s.cmd.Process.Pid, told)
	}
	pace := time.NewTicker(time.Duration(float64(time.Second) / (rate * 0.6)))
	defer pace.Stop()
	l.pace = pace.C
	const faults = 15
	var first, most size
	for i := range faults {
		l.run(s.address)
		time.Sleep(length / faults / 2)
		fault(l)
		l.becomes(s, "/readyz", http.StatusOK)
		time.Sleep(length / faults / 2)
		busy := sizeOf(t, s.cmd.Process.Pid, told)
		most = size{max(most.memory, busy.memory), max(most.files, busy.files), max(most.goroutines, busy.goroutines)}
		l.stop()
		if i == 1 { // warm: every pool and cache has been in use
			first = resting()
		}
	}
	last := resting()
	t.Logf("figures: R14: %s at %.0f requests a second, %d faults; at rest %s in the beginning and %s at the end, at most %s; %s",
		length, rate*0.6, faults, first, last, most, l.book)
	require.LessOrEqual(t, last.goroutines, first.goroutines+4, "goroutines stay behind")
	require.LessOrEqual(t, last.files, first.files+4, "descriptors stay behind")
	require.LessOrEqual(t, last.memory, first.memory+first.memory/4+64<<10, "memory grows")
	l.finish(s)
}

// TestFaultOverload asks for five times what the program can do, over 2,000
// connections in full (R15): whoever is not served is told so and when to come back,
// nobody hangs or gets another fault, and afterwards everybody is served.
func TestFaultOverload(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		l := newLoad(t, g)
		s := g.start(t)
		l.open(s.address)
		crowd, each := full(t, 200, 2000), full(t, 5, 50)
		var wait sync.WaitGroup
		began := time.Now()
		for i := range crowd {
			c := newCaller(t, g.key)
			wait.Go(func() {
				for range each {
					l.book.send(c, s.address, l.book.add(request{customer: l.customers[i%len(l.customers)], action: "point_add", points: 1, key: "yes"}))
				}
			})
		}
		wait.Wait()
		took := time.Since(began)
		away := l.book.aways()
		a := newCaller(t, g.key).get(s.address + "/readyz")
		require.Equal(t, http.StatusOK, a.status, string(a.body))
		t.Logf("figures: R15: %d connections, %.0f answers a second, %d of %d told to come back; %s",
			crowd, float64(crowd*each)/took.Seconds(), away, crowd*each, l.book)
		l.finish(s)
	})
}
