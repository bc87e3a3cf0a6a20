//go:build linux

package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// ordered are ways to follow committed events: the numbers of the tail, and what each
// database could write in the commit itself.
var ordered = map[string]map[string][]string{
	"sqlite": {
		"unordered": nil, "numbered after commit": nil,
		"numbered in the commit": {`CREATE TRIGGER tailing AFTER INSERT ON events BEGIN INSERT INTO tail (customer_id, event_id, recorded_at)
VALUES (new.customer_id, new.id, new.recorded_at); END`},
	},
	"postgres": {
		"unordered": nil, "numbered after commit": nil,
		"transaction id": {
			`ALTER TABLE events ADD COLUMN xid xid8`, `ALTER TABLE events ALTER COLUMN xid SET DEFAULT pg_current_xact_id()`, `CREATE INDEX events_xid ON events (xid)`,
		},
	},
}

// cost is what one run took for an event.
type cost struct{ rate, cpu, written float64 }

// TestTailCost measures the cost of ways to follow events for their writers: five rounds in which each way has its
// turn, in changing order. It needs LOYALTY_TORTURE (seconds of a turn), and asserts no time.
func TestTailCost(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("LOYALTY_TORTURE") + "s")
	if err != nil {
		t.Skip("LOYALTY_TORTURE is not set")
	}

	const rounds = 5
	for _, d := range storetest.All {
		for _, n := range []int{1, 16} { // events a batch
			benches, costs := map[string]*tailBench{}, map[string][]cost{}
			var ways []string
			for way, texts := range ordered[d.Name] {
				benches[way] = newTailBench(t, d.Migrated(t), n, texts)
				benches[way].numbers = way == "numbered after commit"
				ways = append(ways, way)
			}

			slices.Sort(ways)
			for range rounds {
				for _, way := range ways {
					costs[way] = append(costs[way], benches[way].run(length))
				}
				ways = append(ways[1:], ways[0])
			}

			for _, way := range ways {
				var rate, cpu, used, written []float64
				for i, c := range costs[way] {
					base := costs["unordered"][i]
					rate, cpu = append(rate, c.rate/base.rate), append(cpu, c.cpu/base.cpu)
					used, written = append(used, c.cpu/1000), append(written, c.written)
				}
				for _, list := range [][]float64{rate, cpu, used, written} {
					slices.Sort(list)
				}
				t.Logf("figures: %s, batches of %d, %s: rate %.2f (%.2f to %.2f), CPU %.2f (%.2f to %.2f), an event %.0f µs of it and %.0f bytes",
					d.Name, n, way, rate[rounds/2], rate[0], rate[rounds-1], cpu[rounds/2], cpu[0], cpu[rounds-1], used[rounds/2], written[rounds/2])
			}

			benches["numbered after commit"].alone()
			for _, b := range benches {
				require.NoError(t, b.s.Close())
			}
		}
	}
}

// tailBench is a database to which events are written.
type tailBench struct {
	*testing.T
	s       *store.Store
	raw     *sql.DB
	batch   int
	numbers bool
	file    string // SQLite's
}

func newTailBench(t *testing.T, url string, batch int, texts []string) *tailBench {
	raw := storetest.Raw(t, url)
	for _, text := range texts {
		_, err := raw.Exec(text)
		require.NoError(t, err, text)
	}
	b := &tailBench{T: t, s: storetest.Open(t, url), raw: raw, batch: batch}
	b.file, _ = strings.CutPrefix(url, "sqlite:")
	for i := range tailCallers {
		enrol(t, b.s, fmt.Sprintf("c%d-", i), batch)
	}
	return b
}

const tailCallers = 16

// run writes for a while, and numbers what was written where the way is that.
func (b *tailBench) run(length time.Duration) cost {
	b.Helper()
	var events atomic.Int64
	before, cpu, begun := b.bytes(), b.cpu(), time.Now()
	var wait sync.WaitGroup
	for i := range tailCallers {
		wait.Go(func() {
			for time.Since(begun) < length {
				if err := credit(b.s, fmt.Sprintf("c%d-", i), b.batch); err != nil {
					b.Error(err)
					return
				}
				events.Add(int64(b.batch))
			}
		})
	}

	if b.numbers {
		wait.Go(func() {
			for next := begun; time.Since(begun) < length; next = next.Add(250 * time.Millisecond) {
				time.Sleep(time.Until(next))
				if err := b.s.NumberOwn(context.Background()); err != nil {
					b.Error(err)
				}
			}
		})
	}

	wait.Wait()
	took, n := time.Since(begun).Seconds(), float64(events.Load())
	c := cost{n / took, float64(b.cpu()-cpu) / n, (b.bytes() - before) / n}
	if b.numbers {
		require.NoError(b, b.s.NumberOwn(context.Background()))
	}

	return c
}

// alone numbers many events at once, with nothing beside it.
func (b *tailBench) alone() {
	b.Helper()
	const events = 16_000
	for range events / b.batch {
		require.NoError(b, credit(b.s, "c0-", b.batch))
	}
	cpu, written := b.cpu(), b.bytes()
	require.NoError(b, b.s.NumberOwn(context.Background()))
	b.Logf("figures: numbers alone: an event %.1f µs of CPU and %.0f bytes", float64(b.cpu()-cpu)/1000/events, (b.bytes()-written)/events)
}

// cpu is the time that this process and the sessions of the database have had.
func (b *tailBench) cpu() time.Duration {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	sum := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	if strings.HasPrefix(b.file, "postgres") {
		rows, err := b.raw.Query(`SELECT pid FROM pg_stat_activity WHERE datname = current_database()`)
		require.NoError(b, err)
		defer rows.Close()
		for rows.Next() {
			var pid int
			require.NoError(b, rows.Scan(&pid))
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil {
				continue // it has ended
			}
			_, figures, _ := strings.Cut(string(text), ") ")
			var user, system int64
			f := strings.Fields(figures)
			_, err = fmt.Sscan(f[11]+" "+f[12], &user, &system)
			require.NoError(b, err)
			sum += time.Duration(user+system) * 10 * time.Millisecond
		}

		require.NoError(b, rows.Err())
	}

	return sum
}

// bytes are those of the log on PostgreSQL, and of the file on SQLite.
func (b *tailBench) bytes() (n float64) {
	b.Helper()
	question := `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn`
	if !strings.HasPrefix(b.file, "postgres") {
		question = `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	}
	require.NoError(b, b.raw.QueryRow(question).Scan(&n))
	return n
}
