package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster is a throw-away PostgreSQL server on a loopback port. It is durable
// (fsync and synchronous_commit are on) and has room enough that no checkpoint
// falls into a measurement.
type cluster struct {
	*process
	bin     string // the folder of its programs
	port    int
	version string
}

const clusterSettings = `
listen_addresses = '127.0.0.1'
port = %d
unix_socket_directories = ''
fsync = on
synchronous_commit = on
full_page_writes = on
shared_buffers = %dMB
max_wal_size = 16GB
min_wal_size = 2GB
checkpoint_timeout = 30min
max_connections = 400
effective_cache_size = 16GB
work_mem = 64MB
maintenance_work_mem = 1GB
random_page_cost = 1.1
`

// startCluster starts a server whose files live in a new folder under parent.
func startCluster(ctx context.Context, parent string) (*cluster, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	dir, err := newDir(parent, "postgres", true)
	if err != nil {
		return nil, err
	}
	c := &cluster{bin: bin}
	if err := c.initialise(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c.process, err = start(dir, command{
		args:   []string{filepath.Join(bin, "postgres"), "-D", filepath.Join(dir, "data")},
		signal: "QUIT", // at once: nothing of it is kept
		system: true,
	})
	if err != nil {
		return nil, err
	}
	if err := c.answers(ctx); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// findPostgres gives the folder of the server's programs, the newest version
// where several are installed.
func findPostgres() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	newest, bin := -1.0, ""
	for _, path := range found {
		version, err := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(path))), 64)
		if err == nil && version > newest {
			newest, bin = version, filepath.Dir(path)
		}
	}
	if bin == "" {
		return "", errors.New("no PostgreSQL: neither in PATH nor in /usr/lib/postgresql/*/bin")
	}
	return bin, nil
}

func (c *cluster) initialise(dir string) (err error) {
	data := filepath.Join(dir, "data")
	cmd := exec.Command(filepath.Join(c.bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale")
	cmd.Dir = dir
	detach(cmd, true)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	if c.port, err = freePort(); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, clusterSettings, c.port, min(4096, totalMemory()>>20/4))
	return errors.Join(err, f.Close())
}

// totalMemory is the machine's memory in bytes, 2 GiB where it cannot be told.
func totalMemory() int64 {
	info, _ := os.ReadFile("/proc/meminfo")
	var kb int64
	if n, _ := fmt.Sscanf(string(info), "MemTotal: %d kB", &kb); n != 1 {
		return 2 << 30
	}
	return kb << 10
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// answers waits for the server, up to half a minute, and asks its version.
func (c *cluster) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.url("postgres"))
		if err == nil {
			err = conn.QueryRow(ctx, "SHOW server_version").Scan(&c.version)
			return errors.Join(err, conn.Close(ctx))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not start: %w: %s", err, c.tail())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (c *cluster) url(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

// exec runs statements in one of the cluster's databases, on a connection of their own.
func (c *cluster) exec(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, c.url(database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%.60s: %w", sql, err)
		}
	}
	return nil
}
