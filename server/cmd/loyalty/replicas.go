package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/observe"
	"github.com/loyalty-platform/loyalty/store"
)

// Bounds of how old a list may be. A replica is looked at four times a second.
const (
	leastReplicaLag = time.Second
	mostReplicaLag  = 10 * time.Minute
)

// replicaURLs takes the setting apart. An address may name several hosts, with commas
// between them: what has no scheme belongs to the address before it.
func (s *settings) replicaURLs() (list []string) {
	for part := range strings.SplitSeq(s.replicaURL, ",") {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
		case strings.Contains(part, "://") || len(list) == 0:
			list = append(list, part)
		default:
			list[len(list)-1] += "," + part
		}
	}
	return list
}

// checkReplicas never shows an address, which may hold a password.
func (s *settings) checkReplicas() error {
	if s.replicaLag < leastReplicaLag || s.replicaLag > mostReplicaLag {
		return fault("replica-lag", "%s must be from 1s to 10m", s.replicaLag)
	}
	for n, address := range s.replicaURLs() {
		if s.embedded() {
			return fault("replica-url", "only a database on PostgreSQL has replicas")
		}
		if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
			return fault("replica-url", "address %d does not begin with postgres://", n+1)
		}
	}
	return nil
}

// replicas puts the replicas beside the database. None of them is needed to serve.
func (s *settings) replicas(ctx context.Context, db *store.Store, logger *slog.Logger) (*store.Replicated, error) {
	return store.WithReplicas(ctx, db, store.ReplicaOptions{
		URLs: s.replicaURLs(), Lag: s.replicaLag, ReadConnections: s.poolReads,
		Report: func(replica int, state string, err error) {
			logger.Info("a replica of the database", "replica", replica, "state", state, "error", err)
		},
	})
}

// replicasNow looks until each replica has been asked, or should have answered.
func (s *settings) replicasNow(ctx context.Context, db *store.Store) ([]store.Replica, error) {
	reads, err := s.replicas(ctx, db, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	unknown := func(r store.Replica) bool { return r.State == "unknown" }
	for until := time.Now().Add(readyTime); time.Now().Before(until) && slices.ContainsFunc(reads.Replicas(), unknown); {
		time.Sleep(10 * time.Millisecond)
	}
	return reads.Replicas(), reads.Release()
}

// rows is what the engine loads from and writes to.
func (a *app) rows() loyalty.Store {
	if a.reads != nil {
		return a.reads
	}
	return a.store
}

// lookAtReplicas tells how they are; it asks none.
func (a *app) lookAtReplicas(m *observe.Moment) {
	if a.reads == nil {
		return
	}
	for _, r := range a.reads.Replicas() {
		m.Replicas = append(m.Replicas, observe.Replica{Name: r.Name, State: r.State, Lag: r.Lag, Reads: r.Reads, Lost: r.Lost})
	}
	m.PrimaryReads = a.reads.PrimaryReads()
}
