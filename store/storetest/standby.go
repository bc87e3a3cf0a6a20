package storetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loyalty-platform/loyalty/store/pgserver"
)

// NewPrimary starts a server that standbys can follow; see Standby. It is stopped with the test.
func NewPrimary(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{followed: true, durable: os.Getenv("LOYALTY_TEST_FSYNC") == "1"}
	if err := c.begin(inMemory(), c.initialise); err != nil {
		skipOrFail(t, err)
	}
	t.Cleanup(c.Stop)
	return c
}

// Standby copies a running server and makes the copy follow it by streaming its log. name is the standby's name on
// the server, as in synchronous_standby_names. It is stopped with the test.
func (c *Cluster) Standby(t testing.TB, name string) *Cluster {
	t.Helper()
	s := &Cluster{followed: true, durable: c.durable}
	err := s.begin(inMemory(), func() error { return s.copyOf(c, name) })
	if err != nil {
		t.Fatalf("a standby: %v", err)
	}
	t.Cleanup(s.Stop)
	return s
}

func (c *Cluster) copyOf(primary *Cluster, name string) (err error) {
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=%s", primary.port, name)
	cmd := exec.Command(filepath.Join(c.bin, "pg_basebackup"), "-d", from, "-D", filepath.Join(c.dir, "data"),
		"-R", "-X", "stream", "--checkpoint=fast", "--no-sync")
	cmd.Dir = c.dir
	pgserver.Unprivileged(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	if c.port, err = pgserver.FreePort(); err != nil {
		return err
	}
	return pgserver.Configure(c.dir, fmt.Sprintf("port = %d\n", c.port))
}

// Tell runs a statement on the server's own database.
func (c *Cluster) Tell(t testing.TB, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err == nil {
		_, err = conn.Exec(ctx, statement)
		_ = conn.Close(ctx)
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// PauseReplay lets a standby receive the log without applying it, until ResumeReplay.
func (c *Cluster) PauseReplay(t testing.TB) { c.Tell(t, `SELECT pg_wal_replay_pause()`) }

// ResumeReplay ends PauseReplay.
func (c *Cluster) ResumeReplay(t testing.TB) { c.Tell(t, `SELECT pg_wal_replay_resume()`) }

// Promote turns a standby into a primary, and returns when it is one.
func (c *Cluster) Promote(t testing.TB) { c.Tell(t, `SELECT pg_promote(true, 60)`) }

// Await makes commits wait until a standby has them on disk, so that its promotion loses no acknowledged one; an
// empty name ends it.
func (c *Cluster) Await(t testing.TB, standby string) {
	t.Helper()
	c.Tell(t, `ALTER SYSTEM SET synchronous_standby_names = '`+standby+`'`)
	c.Tell(t, `SELECT pg_reload_conf()`)
}
