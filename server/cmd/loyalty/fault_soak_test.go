//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// tellsSize is the environment's name for a file into which a program of a test writes
// what it holds.
const tellsSize = "TEST_TELLS_SIZE"

// holding is what a program says of itself: its goroutines, what lives in its heap, and what
// Go holds of the system's memory for it. After SIGUSR1 it has collected first, and given
// back what it did not need; Asked counts the signals.
type holding struct {
	Goroutines, Asked int
	Live, Go          uint64 // bytes
}

// telling is the program as it is, except that it says so, and keeps a profile of its
// heap beside it whenever it is asked.
func telling(path string) int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		for n := 0; ; {
			select {
			case <-asked:
				n++
				debug.FreeOSMemory()
				keepHeap(fmt.Sprintf("%s.%d.heap", path, n))
			case <-tick.C:
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			text, err := json.Marshal(holding{Goroutines: runtime.NumGoroutine(), Asked: n, Live: m.HeapAlloc, Go: m.Sys - m.HeapReleased})
			if err == nil && os.WriteFile(path+".new", text, 0o600) == nil {
				_ = os.Rename(path+".new", path)
			}
		}
	}()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

func keepHeap(path string) {
	if f, err := os.Create(path); err == nil {
		_ = pprof.WriteHeapProfile(f)
		_ = f.Close()
	}
}

// size is what a program holds: memory that is its own and pages of files, both in KiB,
// open files and connections, and what it tells.
type size struct {
	memory, mapped, files int
	holding
}

func (s size) String() string {
	return fmt.Sprintf("%d MiB (%d live in the heap, %d held by Go, %d by the database in the process) and %d of files, %d descriptors, %d goroutines",
		s.memory>>10, s.Live>>20, s.Go>>20, s.memory>>10-int(s.Go>>20), s.mapped>>10, s.files, s.Goroutines)
}

// soaked is a program that tells what it holds.
type soaked struct {
	*serving
	told  string // the file
	asked int
}

// size is what it holds now. At rest it collects first: how much the collector has not
// looked at yet says nothing about what the program keeps.
func (s *soaked) size(rest bool) (now size) {
	s.t.Helper()
	if rest {
		s.asked++
		require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGUSR1))
	}

	require.Eventually(s.t, func() bool {
		text, err := os.ReadFile(s.told)
		return err == nil && json.Unmarshal(text, &now.holding) == nil && now.Asked == s.asked
	}, patience, 10*time.Millisecond)

	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	require.NoError(s.t, err)
	for line := range strings.Lines(string(status)) {
		for prefix, into := range map[string]*int{"RssAnon:": &now.memory, "RssFile:": &now.mapped} {
			if text, ok := strings.CutPrefix(line, prefix); ok {
				*into, err = strconv.Atoi(strings.Fields(text)[0])
				require.NoError(s.t, err)
			}
		}
	}

	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	require.NoError(s.t, err)
	now.files = len(open)
	return now
}

// TestFaultLoadStops: a load that waits for its pace ends when it is stopped.
func TestFaultLoadStops(t *testing.T) {
	t.Parallel()
	l := &load{t: t, book: &book{}, callers: make([]*caller, clients), pace: make(chan time.Time)}
	l.run("nowhere")
	stopped := make(chan struct{})
	go func() { l.stop(); close(stopped) }()
	select {
	case <-stopped:
	case <-time.After(patience):
		t.Fatal("the load is still there")
	}
}

// TestFaultSoak keeps one program at work for half an hour in full, at 60 % of what it
// can do, with a fault every two minutes (R14): nothing is lost, and memory, goroutines
// and descriptors at the end are what they were after the first third, when every pool has
// been in use and SQLite's caches of pages are full (32 MiB of who writes, 2 MiB of each
// who reads). Memory is what is held at rest once the collector has looked: before, it
// lets the heap grow to five times what lives, so that it tells when it last looked.
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
	s := &soaked{told: filepath.Join(soakFolder(t), "size")}
	s.serving = serveProgram(t, exec.Command(os.Args[0]), l.g.dir, append(l.g.env, tellsSize+"="+s.told))
	l.open(s.address)
	l.run(s.address)
	began, before := time.Now(), l.book.acks()
	time.Sleep(min(length/10, 10*time.Second))
	rate := 0.6 * float64(l.book.acks()-before) / time.Since(began).Seconds()
	l.stop()
	require.Positive(t, rate, l.book.strange)
	pace := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer pace.Stop()
	l.pace = pace.C
	faults := max(6, int(length/(2*time.Minute)))
	warm := faults / 3
	var first, last, most size
	for i := range faults {
		l.run(s.address)
		time.Sleep(length / time.Duration(2*faults))
		fault(l)
		l.becomes(s.serving, "/readyz", http.StatusOK)
		time.Sleep(length / time.Duration(2*faults))
		busy := s.size(false)
		most = size{max(most.memory, busy.memory), max(most.mapped, busy.mapped), max(most.files, busy.files),
			holding{Goroutines: max(most.Goroutines, busy.Goroutines), Live: max(most.Live, busy.Live), Go: max(most.Go, busy.Go)}}
		l.stop()
		time.Sleep(min(5*time.Second, length/40)) // connections of the load are idle, batches are done
		last = s.size(true)
		t.Logf("%d faults, %d acknowledged: at rest %s", i+1, l.book.acks(), last)
		if i+1 == warm { // every pool and cache has been in use
			first = last
		}
	}

	t.Logf("figures: R14: %s at %.0f requests a second, %d faults; at rest %s after %d of them and %s at the end, at most %s; %s",
		length, rate, faults, first, warm, last, most, l.book)
	require.LessOrEqual(t, last.Goroutines, first.Goroutines+4, "goroutines stay behind")
	require.LessOrEqual(t, last.files, first.files+4, "descriptors stay behind")
	require.LessOrEqual(t, last.Live, first.Live+8<<20, "something is kept in the heap for good")
	require.LessOrEqual(t, last.memory, first.memory+16<<10, "memory grows")
	l.finish(s.serving)
}

// soakFolder is where the profiles of the heap are kept: where they stay, if that is said.
func soakFolder(t *testing.T) string {
	if kept := os.Getenv("LOYALTY_TEST_PROFILES"); kept != "" {
		folder := filepath.Join(kept, t.Name())
		require.NoError(t, os.MkdirAll(folder, 0o700))
		return folder
	}
	return t.TempDir()
}

// TestFaultOverload asks for five times what the program can do, over 2,000 connections in full (R15): a caller who is
// not served is told so and when to come back, no request hangs or gets another fault, and afterwards every caller is
// served.
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
