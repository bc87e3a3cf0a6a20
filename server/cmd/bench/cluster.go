package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loyalty-platform/loyalty/store/pgserver"
)

// cluster is a throw-away PostgreSQL server on a loopback port. It is durable (fsync and synchronous_commit are on),
// and large enough that no checkpoint falls into a measurement.
type cluster struct {
	*process
	bin     string // the folder of its programs
	port    int
	version string
}

const clusterSettings = `
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
	bin, err := pgserver.Programs()
	if err != nil {
		return nil, err
	}

	dir, err := newDir(parent, "postgres", true)
	if err != nil {
		return nil, err
	}

	c := &cluster{bin: bin}
	if c.port, err = pgserver.Initialise(bin, dir,
		fmt.Sprintf(clusterSettings, min(4096, totalMemory()>>20/4))); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}

	c.process, err = start(dir, command{
		args:   []string{filepath.Join(bin, "postgres"), "-D", filepath.Join(dir, "data")},
		signal: "QUIT", // at once: nothing is kept
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

// totalMemory is the machine's memory in bytes, 2 GiB if unknown.
func totalMemory() int64 {
	info, _ := os.ReadFile("/proc/meminfo")
	var kb int64
	if n, _ := fmt.Sscanf(string(info), "MemTotal: %d kB", &kb); n != 1 {
		return 2 << 30
	}
	return kb << 10
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
	return pgserver.URL(c.port, database)
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
