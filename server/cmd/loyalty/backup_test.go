//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/archive"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// writing are clients that submit events at a steady rate and remember what was
// acknowledged.
type writing struct {
	lock  sync.Mutex
	acks  []ack
	away  []string // told to come back, like callers of a busy machine
	odd   []string
	stop  chan struct{}
	wait  sync.WaitGroup
	begun time.Time
}

type ack struct {
	event string
	at    time.Time // when it was acknowledged
	took  time.Duration
}

const writers = 8

// writeSteadily submits about so many events a second, of 200 customers, until the test ends.
func writeSteadily(t *testing.T, g *ground, address string, rate int) *writing {
	w := &writing{stop: make(chan struct{}), begun: time.Now()}
	first := newCaller(t, g.key)
	for i := range 200 {
		enrol(t, first, address, fmt.Sprintf("steady-%d", i))
	}

	for n := range writers {
		c := newCaller(t, g.key)
		w.wait.Go(func() {
			tick := time.NewTicker(time.Second * writers / time.Duration(rate))
			defer tick.Stop()
			for i := 0; ; i++ {
				select {
				case <-w.stop:
					return
				case <-tick.C:
				}
				begun := time.Now()
				a := c.post(address, "/events", fmt.Sprintf(`{"customer":"steady-%d","action":"point_add","data":{"points":1}}`, (i*writers+n)%200), "")
				w.note(a, begun)
			}
		})
	}

	t.Cleanup(w.end)
	return w
}

func (w *writing) note(a answer, begun time.Time) {
	now := time.Now()
	var said struct{ Events []struct{ ID string } }
	w.lock.Lock()
	defer w.lock.Unlock()
	if a.err == nil && a.status == http.StatusServiceUnavailable {
		w.away = append(w.away, string(a.body))
		return
	}
	if a.err != nil || a.status != http.StatusOK || json.Unmarshal(a.body, &said) != nil || len(said.Events) == 0 {
		w.odd = append(w.odd, fmt.Sprint(a.status, a.err, string(a.body)))
		return
	}
	w.acks = append(w.acks, ack{said.Events[0].ID, now, now.Sub(begun)})
}

func (w *writing) end() {
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.wait.Wait()
}

// between gives what was acknowledged between two instants.
func (w *writing) between(from, to time.Time) (some []ack) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, a := range w.acks {
		if a.at.After(from) && a.at.Before(to) {
			some = append(some, a)
		}
	}
	return some
}

func percentile(acks []ack, p float64) time.Duration {
	if len(acks) == 0 {
		return 0
	}
	times := make([]time.Duration, len(acks))
	for i, a := range acks {
		times[i] = a.took
	}
	slices.Sort(times)
	return times[min(len(times)-1, int(p*float64(len(times))))]
}

// TestBackupUnderLoad makes copies beside a server that is written to: each is proven, has
// every event that was acknowledged before it began, and comes back in a fresh place.
func TestBackupUnderLoad(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			g := newGround(t, d.Empty(t))
			if os.Getenv("LOYALTY_TORTURE") != "" {
				r := command(t, g.dir, g.env, "demo", "--quiet", "--customers", fmt.Sprint(full(t, 20, 1000)), "--events", fmt.Sprint(full(t, 400, 20_000)))
				require.Equal(t, 0, r.code, r.errors)
			}

			s := g.start(t)
			w := writeSteadily(t, g, s.address, 200)
			time.Sleep(time.Second / 5)
			var without, copied, proven []ack
			var copying time.Duration
			copies, last := t.TempDir(), full(t, 2, 20)-1
			for round := range last + 1 {
				from := time.Now()
				time.Sleep(max(time.Second, copying/time.Duration(max(1, round)))) // as long as a copy takes
				path, begun := filepath.Join(copies, fmt.Sprint("copy-", round)), time.Now()
				without = append(without, w.between(from, begun)...)
				before := w.between(w.begun, begun)
				out := succeeds(t, g.dir, g.env, "backup", "create", path)
				ended := time.Now()
				made, err := os.Stat(path)
				require.NoError(t, err)
				copied, proven = append(copied, w.between(begun, made.ModTime())...), append(proven, w.between(made.ModTime(), ended)...)
				copying += ended.Sub(begun)
				require.Contains(t, out, "; opened, and its ledger holds\n")
				if round > 0 && round < last {
					continue
				}

				succeeds(t, g.dir, g.env, "backup", "verify", path)
				place := d.Empty(t)
				env := append(slices.Clone(g.env), "LOYALTY_DATABASE_URL="+place)
				out = succeeds(t, g.dir, env, "restore", path)
				require.Contains(t, out, "give exactly what is stored.\n")
				requireEvents(t, place, before)
				succeeds(t, g.dir, env, "keys", "list")
			}

			w.end()
			require.Empty(t, w.odd, "%d requests went wrong", len(w.odd))
			require.Less(t, len(w.away), len(w.acks), "most were told to come back")
			for _, of := range []struct {
				what string
				acks []ack
			}{{"without a backup", without}, {"while one is made and proven", append(slices.Clone(copied), proven...)}, {"of that while it is copied", copied}, {"while it is proven", proven}} {
				t.Logf("figures: %s: %d events, p50 %s, p99 %s, most %s", of.what, len(of.acks), percentile(of.acks, 0.5), percentile(of.acks, 0.99), percentile(of.acks, 1))
			}

			t.Logf("figures: %d backups took %s each", last+1, copying/time.Duration(last+1))
			require.Equal(t, 0, s.stop(terminate), s.log())
		})
	}
}

// requireEvents: a database has all of them.
func requireEvents(t *testing.T, url string, acks []ack) {
	t.Helper()
	require.NotEmpty(t, acks)
	of := `id::text`
	if strings.HasPrefix(url, "sqlite:") {
		of = `lower(hex(id))`
	}

	rows, err := storetest.Raw(t, url).Query(`SELECT replace(` + of + `, '-', '') FROM events`)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	there := map[string]bool{}
	for rows.Next() {
		var id string
		require.NoError(t, rows.Scan(&id))
		there[id] = true
	}

	require.NoError(t, rows.Err())
	lost := 0
	for _, a := range acks {
		if !there[strings.ReplaceAll(a.event, "-", "")] {
			lost++
		}
	}

	require.Zero(t, lost, "of %d events acknowledged before the copy", len(acks))
}

// TestDailyBackup: a server with a folder for backups makes one by itself, tells when, and
// keeps the list of opt-outs beside it.
func TestDailyBackup(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		folder := filepath.Join(t.TempDir(), "copies")
		g.env = append(g.env, "LOYALTY_BACKUP_DIR="+folder, "LOYALTY_MANAGE=127.0.0.1:0", "LOYALTY_LOG=text,info")
		s := g.start(t)
		c := newCaller(t, g.key)
		enrol(t, c, s.address, "member-1001")
		a := c.post(s.address, "/events", `{"customer":"member-1001","action":"opt_out","data":{}}`, "")
		require.Equal(t, http.StatusOK, a.status, string(a.body))
		atOnce, err := os.ReadFile(filepath.Join(folder, archive.OptOutsFile))
		require.NoError(t, err, "the list is written before the answer")
		require.Equal(t, 1, strings.Count(string(atOnce), "\n"), string(atOnce))
		require.Eventually(t, func() bool { return strings.Contains(s.log(), "backup made") }, patience, 50*time.Millisecond, s.log())
		list := succeeds(t, g.dir, g.env, "backup", "list")
		require.Equal(t, 2, strings.Count(list, "\n"), list)
		require.Contains(t, list, "proven")
		r := command(t, g.dir, g.env, "backup", "create")
		require.Equal(t, 0, r.code, r.errors)
		optOuts, err := os.ReadFile(filepath.Join(folder, archive.OptOutsFile))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(optOuts), "\n"), string(optOuts))
		require.NotContains(t, string(optOuts), "member-1001")
		r = command(t, g.dir, g.env, "jobs", "run", "backup")
		require.Equal(t, 0, r.code, r.errors)
		require.Equal(t, 4, strings.Count(succeeds(t, g.dir, g.env, "backup", "list"), "\n"))
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// TestOptOutsBesideBackups: a list that cannot be written delays no opt_out, but readiness and the
// doctor say so, and the next start adds what the list lacks.
func TestOptOutsBesideBackups(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		folder := filepath.Join(t.TempDir(), "copies")
		g.env = append(g.env, "LOYALTY_BACKUP_DIR="+folder)
		list := filepath.Join(folder, archive.OptOutsFile)
		require.NoError(t, os.MkdirAll(list, 0o700), "a folder in the place of the list")
		s := g.start(t)
		c := newCaller(t, g.key)
		enrol(t, c, s.address, "member-1001")
		a := c.post(s.address, "/events", `{"customer":"member-1001","action":"opt_out","data":{}}`, "")
		require.Equal(t, http.StatusOK, a.status, string(a.body))
		ready := c.get(s.address + "/readyz")
		require.Equal(t, http.StatusServiceUnavailable, ready.status, string(ready.body))
		require.Contains(t, string(ready.body), "opt-outs")
		r := command(t, g.dir, g.env, "doctor")
		require.Equal(t, 2, r.code, r.out)
		require.Contains(t, r.out, "the list of opt-outs beside the backups cannot be read")
		require.Equal(t, 0, s.stop(terminate), s.log())

		require.NoError(t, os.Remove(list))
		require.Contains(t, command(t, g.dir, g.env, "doctor").out, "1 opt-outs are missing from")
		s = g.start(t)
		require.Eventually(t, func() bool {
			text, err := os.ReadFile(list)
			return err == nil && strings.Count(string(text), "\n") == 1
		}, patience, 20*time.Millisecond)

		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// TestBackupRefuses: what cannot be done is said in one line.
func TestBackupRefuses(t *testing.T) {
	dir, _ := demoed(t)
	for _, c := range []struct {
		env  []string
		args []string
		code int
		line string
	}{
		{nil, []string{"create"}, 2, "LOYALTY_BACKUP_DIR: is not set"},
		{nil, []string{"list"}, 2, "LOYALTY_BACKUP_DIR: is not set"},
		{[]string{"LOYALTY_BACKUP_KEEP=0"}, []string{"list", "."}, 2, "LOYALTY_BACKUP_KEEP: 0 must be 1 or more"},
		{nil, []string{"verify", "missing"}, 1, "missing has no manifest"},
		{nil, []string{"create", "no/such/folder"}, 1, "no such file or directory"},
		{[]string{"LOYALTY_DATA=elsewhere"}, []string{"create", "x"}, 2, "LOYALTY_DATA: "},
	} {
		r := command(t, dir, c.env, append([]string{"backup"}, c.args...)...)
		require.Equal(t, c.code, r.code, "%v: %s", c.args, r.errors)
		require.Contains(t, r.errors, c.line)
		require.Equal(t, 1, strings.Count(r.errors, "\n"), r.errors)
	}

	folder := []string{"LOYALTY_BACKUP_DIR=copies/here"}
	succeeds(t, dir, folder, "backup", "create") // makes the folder, as a server does
	require.Contains(t, succeeds(t, dir, folder, "backup", "list"), "proven")
	succeeds(t, dir, nil, "backup", "create", "copy")
	succeeds(t, dir, nil, "backup", "verify", "copy")
	octets, err := os.ReadFile(filepath.Join(dir, "copy"))
	require.NoError(t, err)
	octets[len(octets)/3] ^= 4
	require.NoError(t, os.WriteFile(filepath.Join(dir, "copy"), octets, 0o600))
	for _, args := range [][]string{{"backup", "verify", "copy"}, {"restore", "copy"}} {
		r := command(t, dir, nil, args...)
		require.Equal(t, 1, r.code)
		require.Contains(t, r.errors, "loyalty: the backup is damaged: the checksum of copy has changed since it was made\n")
	}
}
