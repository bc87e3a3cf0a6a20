package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/loyalty-platform/loyalty/store/pgserver"
)

// mostNodes bounds the server processes on one database.
const mostNodes = 4

// nodes are several server processes on one database. The second and later ones are idle while fewer are measured.
type nodes struct {
	*server // the first
	cluster *cluster
	rest    []*server
}

// startNodes starts them, and the first makes the customers.
func startNodes(ctx context.Context, o options, m *machine, c *cluster) (*nodes, error) {
	const database = "nodes"
	if err := c.exec(ctx, "postgres", "CREATE DATABASE "+database); err != nil {
		return nil, err
	}

	l, err := prepareLaunch(ctx, o, c.url(database))
	if err != nil {
		return nil, err
	}

	n := &nodes{cluster: c}
	if n.server, err = l.start(ctx, o, m); err != nil {
		return nil, err
	}
	if err := n.populate(ctx); err != nil {
		return nil, errors.Join(err, n.close())
	}

	for len(n.rest) < mostNodes-1 {
		again, err := l.again(o)
		if err != nil {
			return nil, errors.Join(err, n.close())
		}
		s, err := again.start(ctx, o, m)
		if err != nil {
			return nil, errors.Join(err, n.close())
		}
		n.rest = append(n.rest, s)
	}

	return n, nil
}

// again prepares another process on the same database.
func (l launch) again(o options) (launch, error) {
	var err error
	if l.dir, err = newDir(o.dir, "server", false); err != nil {
		return l, err
	}
	port, err := pgserver.FreePort()
	if err != nil {
		return l, errors.Join(err, os.RemoveAll(l.dir))
	}
	l.address, l.data = net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), filepath.Join(l.dir, "data")
	l.keys.address = l.address
	l.env = []string{"LOYALTY_LISTEN=" + l.address, "LOYALTY_DATA=" + l.data, "LOYALTY_DATABASE_URL=" + l.url,
		"LOYALTY_MASTER_KEY=" + l.master}
	return l, nil
}

// measureSome measures count of the processes, with the connections spread over them. Conflicts are writes that met
// another process's write: PostgreSQL logs each.
func (n *nodes) measureSome(ctx context.Context, count int, w workload) (sample, error) {
	n.nodes, n.others = nil, nil
	for _, s := range n.rest[:count-1] {
		n.nodes, n.others = append(n.nodes, s.process), append(n.others, s.address)
	}
	before := n.logged()
	s, err := n.measure(ctx, w)
	if err != nil {
		return s, err
	}
	met, err := n.metSince(before)
	s.conflicts = float64(met) / float64(max(1, n.answered[w.name]*w.events))
	return s, err
}

// guarded is the database's log message for such a conflict.
const guarded = "a guarded write met"

// logged is the length of the database's log.
func (n *nodes) logged() int64 {
	about, err := os.Stat(n.log())
	if err != nil {
		return 0
	}
	return about.Size()
}

func (n *nodes) log() string { return filepath.Join(n.cluster.dir, "log") }

// metSince counts the conflicts in the log behind a place.
func (n *nodes) metSince(place int64) (int, error) {
	f, err := os.Open(n.log())
	if err != nil {
		return 0, fmt.Errorf("the log of PostgreSQL: %w", err)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, place, 1<<40))
	return bytes.Count(text, []byte(guarded)), errors.Join(err, f.Close())
}

func (n *nodes) close() error {
	var errs []error
	for _, s := range n.rest {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, n.server.close())...)
}
