package doctor_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/doctor"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// well is an installation with which nothing is wrong.
func well(t *testing.T, s *store.Store) *doctor.Patient {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "master.key")
	require.NoError(t, os.WriteFile(secret, []byte(hex.EncodeToString(storetest.MasterKey[:])), 0o600))
	return &doctor.Patient{
		Now: time.Now, Environment: []string{"HOME", "LOYALTY_LISTEN"}, Settings: []string{"LOYALTY_LISTEN"}, Listen: "127.0.0.1:8080", Local: true,
		SecretFiles: []string{secret}, Folder: t.TempDir(), Space: func(string) (uint64, uint64, bool) { return 50 << 30, 100 << 30, true }, Store: s,
		Keys: admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: s, APIs: openapi.Names()}).Keys,
		Jobs: job.NewJobs(job.JobsOptions{Store: s}).List, LedgerTime: time.Minute, LogMost: 1 << 40, OldestPostgres: store.OldestPostgres,
	}
}

// TestFindings provokes every finding, on both databases where both can have it.
func TestFindings(t *testing.T) {
	key := `INSERT INTO access_keys (id, label, apis, read_only, addresses, rate_limit, created_at, expires_at) VALUES ('LKOLD', 'old', NULL, FALSE, NULL, 0, 1, %s)`
	for _, c := range []struct {
		name, only string // only: of one database
		sql        []string
		change     func(*testing.T, *doctor.Patient)
		check      string
		severity   doctor.Severity
		says       string
	}{
		{name: "all is well", check: "ledger", severity: doctor.Fine, says: "fine"},
		{name: "a misspelt setting", change: func(_ *testing.T, p *doctor.Patient) { p.Environment = append(p.Environment, "LOYALTY_LISTN") }, check: "settings", severity: doctor.Warning, says: "LOYALTY_LISTN"},
		{name: "a secret that others can read", change: func(t *testing.T, p *doctor.Patient) { require.NoError(t, os.Chmod(p.SecretFiles[0], 0o644)) }, check: "secrets", severity: doctor.Warning, says: "mode 0644"},
		{name: "a secret that is gone", change: func(_ *testing.T, p *doctor.Patient) { p.SecretFiles = []string{"/nowhere/key"} }, check: "secrets", severity: doctor.Unchecked, says: "no such file"},
		{name: "everybody is a proxy", change: func(_ *testing.T, p *doctor.Patient) { p.TrustedProxies = []string{"0.0.0.0/0"} }, check: "network", severity: doctor.Broken, says: "every address"},
		{name: "no public host", change: func(t *testing.T, p *doctor.Patient) {
			kept(time.Hour, "proven")(t, p)
			p.Local, p.Listen = false, "0.0.0.0:8080"
		}, check: "network", severity: doctor.Warning, says: "0.0.0.0:8080"},
		{name: "an older schema", change: func(t *testing.T, _ *doctor.Patient) { storetest.LaterProgram(t) }, check: "schema", severity: doctor.Broken, says: "older"},
		{name: "a newer schema", sql: []string{"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)"}, check: "schema", severity: doctor.Broken, says: "newer"},
		{name: "an old PostgreSQL", only: "postgres", change: func(_ *testing.T, p *doctor.Patient) { p.OldestPostgres = 99 }, check: "database", severity: doctor.Warning, says: "older than 99"},
		{name: "fsync is off", only: "postgres", check: "database", severity: doctor.Warning, says: "fsync"}, // as in every test
		{name: "no months", only: "postgres", change: func(_ *testing.T, p *doctor.Patient) {}, sql: months(), check: "journal", severity: doctor.Warning, says: "0 months ahead"},
		{name: "the clock is off", change: func(_ *testing.T, p *doctor.Patient) {
			p.Now = func() time.Time { return time.Now().Add(5 * time.Second) }
		}, check: "clock", severity: doctor.Warning, says: "differs from the database's by"},
		{name: "the clock is wrong", change: func(_ *testing.T, p *doctor.Patient) { p.Now = func() time.Time { return time.Now().Add(-time.Hour) } }, check: "clock", severity: doctor.Broken, says: "differs from the database's by"},
		{name: "a full disk", change: func(_ *testing.T, p *doctor.Patient) {
			p.Space = func(string) (uint64, uint64, bool) { return 1 << 20, 1 << 40, true }
		}, check: "disk", severity: doctor.Broken, says: "1 MiB"},
		{name: "a disk that fills", change: func(_ *testing.T, p *doctor.Patient) {
			p.Space = func(string) (uint64, uint64, bool) { return 5 << 30, 100 << 30, true }
		}, check: "disk", severity: doctor.Warning, says: "5 %"},
		{name: "a large log", only: "sqlite", sql: []string{"UPDATE settings SET currency = currency"}, change: func(_ *testing.T, p *doctor.Patient) { p.LogMost = -1 }, check: "log", severity: doctor.Warning, says: "a long-running reader blocks checkpoints"},
		{name: "a late job", sql: []string{"DELETE FROM jobs", "INSERT INTO jobs (name, runs, done, failed, next_at) VALUES ('expiry', 1, 0, 0, 1000)"}, check: "jobs", severity: doctor.Warning, says: "expiry has been late since"},
		{name: "a job failed", sql: []string{"DELETE FROM jobs", "INSERT INTO jobs (name, runs, done, failed, next_at) VALUES ('expiry', 1, 0, 3, 99999999999999)"}, check: "jobs", severity: doctor.Warning, says: "the last run of the job expiry failed; failures in it: 3"},
		{name: "what is due waits", sql: []string{
			"INSERT INTO customers (id, name, status, created_at, updated_at) VALUES ({id}, 'member-1', 'active', 1, 1)", "INSERT INTO names (kind, value, owner) VALUES (1, 'member-1', {id})", "INSERT INTO balances (customer_id, version, score, spent, reserved, expired, pending, debt, due_at) VALUES ({id}, 0, 0, 0, 0, 0, 0, 0, 1000)",
		}, check: "followers", severity: doctor.Warning, says: "work that is due for 1 customers has been waiting for"},
		{name: "a table is gone", sql: []string{"ALTER TABLE lots RENAME TO lots_away"}, check: "ledger", severity: doctor.Unchecked, says: "could not be checked"},
		{name: "a follower is behind", sql: []string{"UPDATE tail_state SET head = 20000", "INSERT INTO followers (name, position) VALUES ('slow', 1)"}, check: "followers", severity: doctor.Warning, says: "slow is 19999 events behind"},
		{name: "an unused key", sql: []string{fmt.Sprintf(key, "99999999999999")}, check: "keys", severity: doctor.Warning, says: "the key LKOLD"},
		{name: "a key without an end", sql: []string{fmt.Sprintf(key, "NULL")}, check: "keys", severity: doctor.Warning, says: "keys that never expire: LKOLD"},
		{name: "a key in use that ends", change: func(_ *testing.T, p *doctor.Patient) {
			now := p.Now()
			p.Keys = func(context.Context) ([]loyalty.AccessKey, error) {
				return []loyalty.AccessKey{
					{ID: "LKLATER", CreatedAt: now, LastUsedAt: now, ExpiresAt: now.Add(15 * 24 * time.Hour)},
					{ID: "LKIDLE", CreatedAt: now, LastUsedAt: now.Add(-8 * 24 * time.Hour), ExpiresAt: now.Add(time.Hour)},
					{ID: "LKENDS", Label: "till", CreatedAt: now, LastUsedAt: now.Add(-time.Hour), ExpiresAt: now.Add(13 * 24 * time.Hour)},
				}, nil
			}
		}, check: "keys", severity: doctor.Warning, says: "the key LKENDS (till) is still in use and expires at"},
		{name: "Redis is away", change: func(_ *testing.T, p *doctor.Patient) {
			p.Redis = func(context.Context) error { return errors.New("connection refused") }
		}, check: "redis", severity: doctor.Warning, says: "connection refused"},
		{name: "a replica is away", change: func(_ *testing.T, p *doctor.Patient) {
			p.Replicas = func(context.Context) ([]store.Replica, error) {
				return []store.Replica{{Name: "replica1", State: "ready"}, {Name: "replica2", State: "away"}}, nil
			}
		}, check: "replicas", severity: doctor.Warning, says: "replica2 does not answer"},
		{name: "a provider of sign-ins is away", change: func(_ *testing.T, p *doctor.Patient) {
			p.Issuer, p.Provider = "https://sso.example.com/", func(context.Context) error { return errors.New("no such host") }
		}, check: "sign-in", severity: doctor.Warning, says: "sign-in by the provider of LOYALTY_OIDC_ISSUER does not work: no such host"},
		{name: "a broken ledger", sql: []string{"DROP TRIGGER %s"}, check: "ledger", severity: doctor.Broken, says: "the ledger is broken"},
		{name: "a follower waits for long", sql: []string{"UPDATE tail_state SET head = 1", "INSERT INTO followers (name, position) VALUES ('slow', 0)", "INSERT INTO tail (number, customer_id, event_id, recorded_at) VALUES (1, {id}, {id}, 1000)"}, check: "followers", severity: doctor.Warning, says: "slow is 1 events behind, for"},
		{name: "no backups, and the world can call", change: func(_ *testing.T, p *doctor.Patient) {
			p.Local, p.Listen, p.PublicHosts = false, "0.0.0.0:8080", []string{"loyalty.example.com"}
		}, check: "backups", severity: doctor.Warning, says: "no folder"},
		{name: "no backup yet", change: func(t *testing.T, p *doctor.Patient) { p.BackupDir = t.TempDir() }, check: "backups", severity: doctor.Warning, says: "no backup in"},
		{name: "a folder that is gone", change: func(_ *testing.T, p *doctor.Patient) { p.BackupDir = "/nowhere" }, check: "backups", severity: doctor.Warning, says: "no backup in /nowhere"},
		{name: "a file for a folder", change: func(t *testing.T, p *doctor.Patient) {
			p.BackupDir = filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(p.BackupDir, nil, 0o600))
		}, check: "backups", severity: doctor.Unchecked, says: "not a directory"},
		{name: "a backup of today", change: kept(time.Hour, "proven"), check: "backups", severity: doctor.Fine, says: "fine"},
		{name: "an old backup", change: kept(49*time.Hour, "proven"), check: "backups", severity: doctor.Warning, says: "49h"},
		{name: "a backup that was not opened", change: kept(time.Hour, "read"), check: "backups", severity: doctor.Warning, says: "not opened"},
		{name: "a backup of a broken ledger", change: kept(time.Hour, "broken"), check: "backups", severity: doctor.Broken, says: "its ledger is broken"},
		{name: "a paused webhook", sql: []string{aWebhook("paused", "NULL")}, check: "webhooks", severity: doctor.Warning, says: "is paused"},
		{name: "a disabled webhook", sql: []string{aWebhook("disabled", "'gone'")}, check: "webhooks", severity: doctor.Warning, says: "its receiver is gone"},
		{name: "a message waits", sql: []string{aWebhook("active", "NULL"), aDelivery("waiting")}, check: "webhooks", severity: doctor.Warning, says: "messages waiting since 1970-01-01T00:00:01Z"},
		{name: "a dead message", sql: []string{aWebhook("active", "NULL"), aDelivery("dead")}, check: "webhooks", severity: doctor.Warning, says: "has given up on messages: 1"},
		{name: "an owner with a password alone", sql: []string{`INSERT INTO users (id, login, name, email, role, personal, language, password, totp_step, created_at, updated_at, failures)
VALUES ({id}, 'sample.owner', 'Sample', '', 'owner', TRUE, '', 'x', 0, 1, 1, 0)`}, check: "users", severity: doctor.Warning, says: "the owner sample.owner has no second factor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			storetest.EachURL(t, func(t *testing.T, url string) {
				if c.only != "" && !strings.HasPrefix(url, c.only) {
					t.Skip("the other database cannot have it")
				}

				s := storetest.Open(t, url)
				require.NoError(t, s.ExtendJournal(t.Context()))
				p := well(t, s)
				raw := storetest.Raw(t, url)
				for _, text := range c.sql {
					id := "X'01a0c4506c0170008000000000000000'"
					if strings.HasPrefix(url, "postgres") {
						id = "'01a0c450-6c01-7000-8000-000000000000'"
					}

					text = strings.ReplaceAll(text, "{id}", id)
					if strings.Contains(text, "%s") {
						trigger := "events_delete"
						if strings.HasPrefix(url, "postgres") {
							trigger = "events_stay ON events"
						}
						text = fmt.Sprintf(text, trigger)
					}

					_, err := raw.Exec(text)
					require.NoError(t, err, text)
				}

				if c.change != nil {
					c.change(t, p)
				}

				found := doctor.Examine(t.Context(), p)
				i := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.Check == c.check && strings.Contains(f.Says, c.says) })
				require.GreaterOrEqual(t, i, 0, "%v", found)
				require.Equal(t, c.severity, found[i].Severity)
				require.Equal(t, c.severity == doctor.Fine, found[i].Do == "", "a finding comes with a command")
				for _, f := range found {
					if f.Check != c.check && f.Check != "database" && c.check != "schema" {
						require.Equal(t, doctor.Fine, f.Severity, "%v", f)
					}
				}
			})
		})
	}
}

// kept puts the manifest of a backup into a folder.
func kept(age time.Duration, checked string) func(*testing.T, *doctor.Patient) {
	return func(t *testing.T, p *doctor.Patient) {
		p.BackupDir = t.TempDir()
		path := filepath.Join(p.BackupDir, "copy")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		text := fmt.Sprintf(`{"version":1,"kind":"sqlite","made_at":%q,"checked":%q}`, time.Now().Add(-age).UTC().Format(time.RFC3339), checked)
		require.NoError(t, os.WriteFile(path+".json", []byte(text), 0o600))
	}
}

func aWebhook(state, reason string) string {
	return `INSERT INTO webhooks (id, label, url, types, ordered, version, format, concurrency, state, reason, cursor, last_number, failures, tries, told, pace, created_at, updated_at)
VALUES ({id}, 'CRM', 'https://crm.example.com', '["event.*"]', TRUE, '2026-11', 'json', 1, '` + state + `', ` + reason + `, 0, 1, 0, 0, FALSE, 0, 1, 1)`
}

func aDelivery(state string) string {
	return `INSERT INTO deliveries (webhook_id, number, event_id, type, replay, state, front, attempts, next_at, created_at, last_status)
VALUES ({id}, 1, {id}, 'webhook.test', FALSE, '` + state + `', FALSE, 0, 1, 1000, 0)`
}

// months takes away the months of the journal that are made ahead.
func months() (list []string) {
	for ahead := 1; ahead <= store.MonthsAhead; ahead++ {
		now := time.Now().UTC()
		list = append(list, "DROP TABLE IF EXISTS events_"+time.Date(now.Year(), now.Month()+time.Month(ahead), 1, 0, 0, 0, 0, time.UTC).Format("2006_01"))
	}
	return list
}

// TestWrongMasterKey: a database that another key has sealed.
func TestWrongMasterKey(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		require.NoError(t, storetest.Open(t, url).CheckMasterKey(t.Context()))
		s := storetest.OpenWith(t, store.Options{URL: url, MasterKey: [32]byte{9}})
		p := well(t, s)
		found := doctor.Examine(t.Context(), p)
		i := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.Check == "master key" })
		require.Equal(t, doctor.Broken, found[i].Severity)
		require.Equal(t, 2, doctor.Exit(found))
	})
}

// found gives the finding of a check.
func found(t *testing.T, p *doctor.Patient, check string) doctor.Finding {
	t.Helper()
	list := doctor.Examine(t.Context(), p)
	i := slices.IndexFunc(list, func(f doctor.Finding) bool { return f.Check == check && f.Severity != doctor.Fine })
	require.GreaterOrEqual(t, i, 0, "%v", list)
	require.NotEmpty(t, list[i].Do)
	return list[i]
}

// TestNarrowEncoding: a database that has no room for every name.
func TestNarrowEncoding(t *testing.T) {
	t.Parallel()
	url := storetest.EmptySQLite(t)
	_, err := storetest.Raw(t, url).Exec(`PRAGMA encoding = 'UTF-16le'; CREATE TABLE first (id INTEGER)`)
	require.NoError(t, err)
	s := storetest.Open(t, url)
	require.NoError(t, s.Migrate(t.Context()))
	f := found(t, well(t, s), "database")
	require.Equal(t, doctor.Broken, f.Severity)
	require.Contains(t, f.Says, "stores texts as UTF-16le")
}

// TestReadOnlyDatabase: a database that cannot be written, such as a standby that was not promoted.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	_, err := storetest.Raw(t, url).Exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
	require.NoError(t, err)
	s := storetest.Open(t, url)
	p := well(t, s)
	all := doctor.Examine(t.Context(), p)
	i := slices.IndexFunc(all, func(f doctor.Finding) bool { return strings.Contains(f.Says, "the database cannot be written") })
	require.GreaterOrEqual(t, i, 0, "%v", all)
	require.Equal(t, doctor.Broken, all[i].Severity)
	require.NotEmpty(t, all[i].Do)
}

// TestLargeLedger: what there was no time for is not said to hold.
func TestLargeLedger(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	p := well(t, s)
	p.LedgerTime = time.Nanosecond
	list := doctor.Examine(t.Context(), p)
	last := list[len(list)-1]
	require.Equal(t, doctor.Fine, last.Severity)
	require.Contains(t, last.Says, "the ledger is too large to be checked in full")
	require.Equal(t, "loyalty ledger verify", last.Do)
}

func TestExit(t *testing.T) {
	for want, list := range [][]doctor.Severity{{doctor.Fine}, {doctor.Fine, doctor.Warning}, {doctor.Unchecked, doctor.Broken, doctor.Warning}, {doctor.Warning, doctor.Unchecked}} {
		var found []doctor.Finding
		for _, s := range list {
			found = append(found, doctor.Finding{Severity: s})
		}
		require.Equal(t, want, doctor.Exit(found))
	}
}
