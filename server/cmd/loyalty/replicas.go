package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/observe"
	"github.com/loyalty-platform/loyalty/store"
)

// Bounds of how old a list may be. A replica is checked four times a second.
const (
	leastReplicaLag = time.Second
	mostReplicaLag  = 10 * time.Minute
)

// replicaURLs splits the setting. An address may name several hosts, separated by commas: a part without a scheme
// belongs to the address before it.
func replicaURLs(text string) (list []string) {
	for part := range strings.SplitSeq(text, ",") {
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

// checkReplicaURLs checks the setting. Its errors never show an address, which may hold a password.
func checkReplicaURLs(text string, embedded bool) error {
	for n, address := range replicaURLs(text) {
		if embedded {
			return errors.New("only a database on PostgreSQL has replicas")
		}
		if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
			return fmt.Errorf("address %d does not begin with postgres://", n+1)
		}
	}
	return nil
}

// withReplicas adds the replicas to the database. The server needs none of them to serve.
func withReplicas(
	ctx context.Context, db *store.Store, o store.ReplicaOptions, logger *slog.Logger,
) (*store.Replicated, error) {
	o.Report = func(replica int, state string, err error) {
		logger.Info("a replica of the database", "replica", replica, "state", state, "error", err)
	}
	return store.WithReplicas(ctx, db, o)
}

// replicasNow waits until each replica has answered, or should have.
func replicasNow(
	ctx context.Context, db *store.Store, o store.ReplicaOptions, patience time.Duration,
) ([]store.Replica, error) {
	reads, err := store.WithReplicas(ctx, db, o)
	if err != nil {
		return nil, err
	}
	unknown := func(r store.Replica) bool { return r.State == "unknown" }
	for until := time.Now().Add(patience); time.Now().Before(until) && slices.ContainsFunc(reads.Replicas(), unknown); {
		time.Sleep(10 * time.Millisecond)
	}
	return reads.Replicas(), reads.Release()
}

// lookAtReplicas adds their state to the figures, without asking them.
func lookAtReplicas(reads *store.Replicated, m *observe.Moment) {
	for _, r := range reads.Replicas() {
		m.Replicas = append(m.Replicas,
			observe.Replica{Name: r.Name, State: r.State, Lag: r.Lag, Reads: r.Reads, Lost: r.Lost})
	}
	m.PrimaryReads = reads.PrimaryReads()
}
