package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestRolesOfTheManual does what the operator's manual says about two roles: the one that serves
// owns nothing and still does everything that serving needs, every job included, and
// cannot take the guards of the journal away.
func TestRolesOfTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../portal/assets/guide/postgresql.md")
	require.NoError(t, err)
	sql := regexp.MustCompile("(?s)```sql\n(CREATE ROLE loyalty_owner.*?)```").FindSubmatch(manual)
	require.NotNil(t, sql)
	c := storetest.NewCluster(t)
	as := func(role, database string) string {
		u, err := url.Parse(c.URL(database))
		require.NoError(t, err)
		if role != "" {
			u.User = url.UserPassword(role, "…")
		}
		return u.String()
	}

	exec := func(address, command string) error {
		conn, err := pgx.Connect(t.Context(), address)
		require.NoError(t, err)
		defer conn.Close(context.Background()) //nolint:errcheck // it was used up
		_, err = conn.Exec(t.Context(), command)
		return err
	}

	address := as("", "postgres")
	for line := range strings.Lines(string(sql[1])) {
		command, _, _ := strings.Cut(line, "--")
		if f := strings.Fields(command); len(f) == 3 && f[0] == `\c` {
			address = as(f[2], f[1])
		} else if command = strings.TrimSpace(command); command != "" {
			require.NoError(t, exec(address, command), command)
		}
	}

	dir, key := t.TempDir(), "LOYALTY_MASTER_KEY="+strings.Repeat("ab", 32)
	owner := []string{"LOYALTY_DATABASE_URL=" + as("loyalty_owner", "loyalty"), key}
	serving := []string{"LOYALTY_DATABASE_URL=" + as("loyalty", "loyalty"), key, "LOYALTY_NO_MIGRATE=true"}
	migrated := command(t, dir, owner, "migrate", "up")
	require.Equal(t, 0, migrated.code, migrated.errors)
	serving = append(serving, "LOYALTY_BACKUP_DIR="+t.TempDir()) // read to its end: the role may make no database to open it in
	g := &ground{url: as("loyalty", "loyalty"), dir: dir, env: serving}
	g.key = g.newKey(t)
	s := g.start(t)
	caller := newCaller(t, g.key)
	enrol(t, caller, s.address, "ada")
	for i := range 3 {
		a := caller.post(s.address, "/events", fmt.Sprintf(`{"customer":"ada","action":"checkout","data":{"transaction_id":"T-%d","total":10}}`, i), "key")
		require.Contains(t, []int{http.StatusOK, http.StatusConflict}, a.status, string(a.body))
	}

	a := caller.post(s.address, "/events", `{"customer":"ada","action":"opt_out","data":{}}`, "")
	require.Equal(t, http.StatusOK, a.status, string(a.body))
	for _, job := range job.JobNames() {
		a := caller.post(s.address, "/admin/jobs/"+job+"/run", "{}", "")
		for a.status == http.StatusConflict { // the server's own run of it, a moment before
			time.Sleep(50 * time.Millisecond)
			a = caller.post(s.address, "/admin/jobs/"+job+"/run", "{}", "")
		}
		require.Equal(t, http.StatusOK, a.status, string(a.body))
		require.Contains(t, string(a.body), `"failed":0`, job)
	}

	require.Equal(t, 0, s.stop(terminate), s.log())
	verified := command(t, dir, serving, "ledger", "verify")
	require.Equal(t, 0, verified.code, verified.out+verified.errors)
	for _, attack := range []string{
		`ALTER TABLE events DISABLE TRIGGER ALL`, `DROP TABLE postings`, `TRUNCATE events`, `UPDATE events SET points = 1`, `DELETE FROM events`,
		`UPDATE audit SET action = 'x'`, `SET session_replication_role = replica`, `DROP FUNCTION loyalty_audit_stays() CASCADE`,
	} {
		require.Error(t, exec(as("loyalty", "loyalty"), attack), attack)
	}

	made := command(t, dir, owner, "jobs", "run", "partitions")
	require.Equal(t, 0, made.code, made.errors)
}
