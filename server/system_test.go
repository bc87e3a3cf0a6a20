package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/backup"
	"github.com/loyalty-platform/loyalty/server/doctor"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestSystem: what GET /admin/system tells is what is in the database: a node that is there
// and one that was killed, a follower that is behind, jobs that are late or fail, a webhook
// that is paused, the last backup, the last proof of the ledger, and what the doctor finds.
func TestSystem(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		folder := t.TempDir()
		var patient *doctor.Patient
		h := openOn(t, url, func(o *server.Options) {
			o.System = func(ctx context.Context) (*administration.System, error) { return doctor.System(ctx, patient) }
		})
		now := time.Now().UTC().Truncate(time.Millisecond)
		here := loyalty.Node{ID: loyalty.NewID(now, loyalty.ID{}), Host: "here", Version: "v1", StartedAt: now.Add(-time.Hour), SeenAt: now}
		away := loyalty.Node{ID: loyalty.NewID(now.Add(time.Millisecond), loyalty.ID{}), Host: "away", Version: "v1", StartedAt: now.Add(-2 * time.Hour), SeenAt: now.Add(-10 * time.Minute)}
		old := loyalty.Node{ID: loyalty.NewID(now.Add(2*time.Millisecond), loyalty.ID{}), Host: "old", StartedAt: now.AddDate(0, 0, -3), SeenAt: now.AddDate(0, 0, -2)}
		jobs := job.NewJobs(job.JobsOptions{Engine: h.engine, Store: h.store})
		patient = &doctor.Patient{
			Now: time.Now, Store: h.store, Keys: h.admin.Keys, Jobs: jobs.List, Listen: "127.0.0.1:8080", Local: true, LogMost: 1 << 40,
			OldestPostgres: store.OldestPostgres, Node: here.ID, BackupDir: folder, Program: administration.SystemProgram{Version: "v1", Go: "go", Platform: "p"},
		}

		patient.Replicas = func(context.Context) ([]store.Replica, error) {
			return []store.Replica{{Name: "replica1", State: "ready", Lag: 12 * time.Millisecond, Reads: 7, Lost: 1}, {Name: "replica2", State: "away", Lag: -1}}, nil
		}
		for _, n := range []loyalty.Node{old, away, here} {
			require.NoError(t, h.store.NoteNode(t.Context(), n, now.Add(-loyalty.NodeLife)))
		}

		h.enrol("member-1")
		_, err := jobs.Run(t.Context(), "tail")
		require.NoError(t, err)
		raw := storetest.Raw(t, url)
		for _, text := range []string{
			"INSERT INTO followers (name, position) VALUES ('statistics', 0) ON CONFLICT (name) DO UPDATE SET position = 0",
			"INSERT INTO jobs (name, runs, done, failed, next_at) VALUES ('expiry', 1, 0, 0, 1000)",
			"INSERT INTO jobs (name, runs, done, failed, next_at, result) VALUES ('answers', 1, 0, 3, 99999999999999, 'x')",
		} {
			_, err := raw.Exec(text)
			require.NoError(t, err, text)
		}

		made := h.makes("/admin/webhooks", `{"url":"https://shop.example.com/hook","types":["event.*"]}`)
		require.Equal(t, http.StatusOK, h.post("/admin/webhooks/"+data(t, made)["webhook_id"].(string)+"/pause", "").status)

		got := systemOf(t, h)
		require.Len(t, got.Replicas, 2)
		require.Equal(t, []any{"replica1", "ready", int64(12), int64(7), int64(1)}, []any{got.Replicas[0].Name, got.Replicas[0].State, *got.Replicas[0].Lag, got.Replicas[0].Reads, got.Replicas[0].Lost})
		require.Equal(t, "away", got.Replicas[1].State)
		require.Nil(t, got.Replicas[1].Lag, "it is not known")
		require.Equal(t, here.ID.String(), got.Node)
		require.Len(t, got.Nodes, 2, "who was not seen for a day is forgotten")
		require.Equal(t, []any{"away", false, "here", true}, []any{got.Nodes[0].Host, got.Nodes[0].Here, got.Nodes[1].Host, got.Nodes[1].Here})
		require.Positive(t, got.Database.Bytes)
		require.EqualValues(t, 1, got.Tail.Head)
		require.Len(t, got.Followers, 1)
		require.EqualValues(t, 1, got.Followers[0].Behind)
		require.WithinDuration(t, now, got.Followers[0].Since, time.Minute)
		require.Equal(t, []string{"expiry"}, got.Jobs.Late)
		require.Equal(t, []string{"answers"}, got.Jobs.Failing)
		require.Equal(t, 1, got.Webhooks.Paused)
		require.Nil(t, got.Ledger, "it was never proven")
		require.Zero(t, *got.Backups.Kept)
		require.Nil(t, got.Backups.Last)
		require.Equal(t, "there is no backup in "+folder, got.says("backups"))
		hungarian := systemOf(t, h, "Accept-Language", "hu")
		require.Equal(t, "nincs mentés itt: "+folder, hungarian.says("backups"), "in the language of who asks")
		require.Equal(t, "rendben", hungarian.says("users"))
		require.Contains(t, got.says("webhooks"), "is paused")
		require.Equal(t, "fine", got.says("users"))
		require.Empty(t, got.says("ledger"), "a look at the whole ledger is another operation's")

		require.Equal(t, http.StatusOK, h.get("/admin/ledger?verify=true").status)
		b, err := backup.Create(t.Context(), backup.Options{Store: h.store, URL: url, Path: filepath.Join(folder, "copy")})
		if storetest.OnCitus() && !h.store.Embedded() {
			require.ErrorContains(t, err, "use loyalty dump")
			return
		}

		require.NoError(t, err)
		require.NoError(t, h.store.ForgetNode(t.Context(), away.ID))
		require.Eventually(t, func() bool { return !systemOf(t, h).At.Equal(got.At) }, time.Minute, 100*time.Millisecond)
		got = systemOf(t, h)
		require.Len(t, got.Nodes, 1)
		require.Positive(t, got.Ledger.Held)
		require.Zero(t, got.Ledger.Broken)
		require.Equal(t, 1, *got.Backups.Kept)
		require.Equal(t, []any{b.Events, "proven"}, []any{got.Backups.Last.Events, got.Backups.Last.Checked})
		require.Equal(t, "fine", got.says("backups"))
	})
}

// system is what the test reads of the answer; the contract checks the rest.
type system struct {
	Replicas []struct {
		Name, State string
		Lag         *int64 `json:"lag_ms"`
		Reads, Lost int64
	}
	At       time.Time
	Node     string `json:"node_id"`
	Database struct{ Bytes int64 }
	Nodes    []struct {
		Host string
		Here bool
	}
	Tail      struct{ Head int64 }
	Followers []struct {
		Behind int64
		Since  time.Time
	}
	Jobs     struct{ Late, Failing []string }
	Webhooks struct{ Paused int }
	Ledger   *struct{ Held, Broken int }
	Backups  struct {
		Kept *int
		Last *struct {
			Events  int64
			Checked string
		}
	}
	Findings []struct{ Check, Severity, Says string }
}

func (s *system) says(check string) string {
	for _, f := range s.Findings {
		if f.Check == check {
			return f.Says
		}
	}
	return ""
}

func systemOf(t *testing.T, h *house, headers ...string) (s system) {
	t.Helper()
	a := h.sees("/admin/system", headers...)
	var v struct{ Data *system }
	v.Data = &s
	require.NoError(t, json.Unmarshal([]byte(a.body), &v))
	return s
}

// TestSystemForRoles: what names keys, users and files is for those who may do something
// about it.
func TestSystemForRoles(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	for role, findings := range map[loyalty.Role]bool{loyalty.RoleViewer: false, loyalty.RoleEditor: false, loyalty.RoleOperator: true, loyalty.RoleOwner: true} {
		data := p.enter("a-"+string(role), role, false).get(bridged + "/admin/system").json(t)["data"].(map[string]any)
		require.Equal(t, findings, data["findings"] != nil, role)
		require.NotNil(t, data["nodes"])
	}
}
