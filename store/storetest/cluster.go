package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loyalty-platform/loyalty/store/pgserver"
)

// Cluster is a throw-away PostgreSQL server on a loopback port, for tests that need to damage one of their own. Most
// tests share one: see Postgres.
type Cluster struct {
	bin, dir string
	port     int
	durable  bool // flushes every commit
	followed bool // standbys may follow it
	watchdog *exec.Cmd
	leash    io.WriteCloser
	alive    *os.File // its other end is open in every process of the server
}

// watchdog runs the server and ends with it. It holds the read end of a pipe whose other end closes when the test
// process dies, whatever the cause. So neither the server nor its folder is left behind.
const watchdog = `"$1/postgres" -D "$2/data" >>"$2/log" 2>&1 &
read -r how
kill -QUIT $! 2>/dev/null
kill -CONT $! 2>/dev/null
wait
[ "$how" = keep ] || rm -rf "$2"`

// NewCluster starts a server that the test owns; it is stopped with the test.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	return ownCluster(t, inMemory(), os.Getenv("LOYALTY_TEST_FSYNC") == "1")
}

// NewDurableCluster is NewCluster on disk, with every commit flushed.
func NewDurableCluster(t testing.TB) *Cluster {
	t.Helper()
	return ownCluster(t, "", true)
}

func ownCluster(t testing.TB, root string, durable bool) *Cluster {
	t.Helper()
	c, err := newCluster(root, durable)
	if err != nil {
		skipOrFail(t, err)
	}
	t.Cleanup(c.Stop)
	return c
}

// newCluster starts a server in a folder of its own below root.
func newCluster(root string, durable bool) (*Cluster, error) {
	c := &Cluster{durable: durable}
	if err := c.begin(root, c.initialise); err != nil {
		return nil, err
	}
	return c, nil
}

// begin creates the folder, lets make fill it, and starts the server.
func (c *Cluster) begin(root string, make func() error) (err error) {
	if c.bin, err = pgserver.Programs(); err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp(root, "loyalty-postgres-"); err != nil {
		return err
	}
	for _, step := range []func() error{func() error { return pgserver.GiveAway(c.dir) }, make, c.Start} {
		if err := step(); err != nil {
			c.Stop()
			return err
		}
	}
	return nil
}

func (c *Cluster) initialise() (err error) {
	fsync := "off" // only a power failure could lose data without fsync and full pages, not a killed server
	if c.durable {
		fsync = "on"
	}
	log := "wal_level = minimal\nmax_wal_senders = 0\n"
	if c.followed {
		log = "wal_level = replica\nmax_wal_senders = 10\nhot_standby = on\nwal_keep_size = 256MB\n"
	}
	c.port, err = pgserver.Initialise(c.bin, c.dir, fmt.Sprintf("fsync = %s\n"+
		"max_connections = 300\nshared_buffers = 256MB\nmax_wal_size = 1GB\ncheckpoint_timeout = 30min\n"+
		"full_page_writes = %s\n%s", fsync, fsync, log), "--no-sync")
	return err
}

// Start runs the server and waits until it answers.
func (c *Cluster) Start() error {
	alive, inherited, err := os.Pipe()
	if err != nil {
		return err
	}

	cmd := exec.Command("/bin/sh", "-c", watchdog, "watchdog", c.bin, c.dir)
	cmd.Dir = c.dir
	cmd.ExtraFiles = []*os.File{inherited}
	pgserver.Unprivileged(cmd)
	leash, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err = errors.Join(err, inherited.Close()); err != nil {
		return errors.Join(err, alive.Close())
	}

	c.watchdog, c.leash, c.alive = cmd, leash, alive
	return c.answers(60 * time.Second)
}

// answers waits for the server, and returns its log if it does not answer.
func (c *Cluster) answers(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()

	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			log, _ := c.Log()
			return fmt.Errorf("PostgreSQL does not start: %w: %s", err, bytes.TrimSpace(log))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Log is the server's own log.
func (c *Cluster) Log() ([]byte, error) { return os.ReadFile(filepath.Join(c.dir, "log")) }

// URL is the address of a database of the cluster.
func (c *Cluster) URL(database string) string { return pgserver.URL(c.port, database) }

// Kill ends the server as a crash would: SIGKILL to the postmaster. It returns when the sessions have noticed. Start
// restarts the server on the same port.
func (c *Cluster) Kill() error {
	pid, err := c.postmaster()
	if err != nil {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return errors.Join(process.Kill(), c.end("keep"))
}

// postmaster is the parent of all other processes of the server.
func (c *Cluster) postmaster() (pid int, err error) {
	data, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return strconv.Atoi(first)
}

// Stop ends the server and removes its folder.
func (c *Cluster) Stop() {
	_ = c.end("remove")
	_ = os.RemoveAll(c.dir) // after a Kill there is no watchdog
}

func (c *Cluster) end(how string) error {
	if c.watchdog == nil {
		return nil
	}

	_, err := io.WriteString(c.leash, how+"\n")
	err = errors.Join(err, c.leash.Close())
	_ = c.watchdog.Wait() // its exit code is that of the last command, which may have nothing left to do
	c.watchdog = nil
	// A session may outlive a killed postmaster for a moment, serve another request, and keep the folder in use: wait
	// for the last one.
	limit := c.alive.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, e := c.alive.Read(make([]byte, 1)); !errors.Is(e, io.EOF) {
		err = errors.Join(err, e)
	}

	return errors.Join(err, limit, c.alive.Close())
}
