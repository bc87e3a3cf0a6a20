package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/egress"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
	"github.com/loyalty-platform/loyalty/server/observe"
	"github.com/loyalty-platform/loyalty/store"
)

// How often the background polls, and how long requests under way may take when the program stops.
const (
	watchEvery = 500 * time.Millisecond // another process's change is seen within a second
	grace      = 30 * time.Second
	readyTime  = 3 * time.Second // a database that takes longer is not ready
)

// app is the whole server, wired.
type app struct {
	store      *store.Store
	reads      *store.Replicated // nil: the store answers all reads
	directory  *admin.Directory
	vocabulary *contract.Vocabulary
	admin      *admin.Admin
	engine     *engine.Engine
	jobs       *job.Jobs
	keeper     *loyalty.Timekeeper
	limiter    io.Closer // nil: in memory
	server     *server.Server
	logger     *slog.Logger
	metrics    *observe.Metrics // nil: no metrics
	folder     string           // of the embedded database; empty: there is none
	backups    *backups         // nil: there is no folder for backups
	proofs     *proofs          // nil: no daily proof
	egress     *egress.Client
	deliverer  *webhook.Deliverer
	presence   presence
}

func (a *app) close() {
	a.engine.Close()
	if err := a.closeLimiter(); err != nil {
		a.logger.Error("closing Redis", "error", err)
	}
	if a.reads != nil {
		if err := a.reads.Release(); err != nil {
			a.logger.Error("closing the replicas", "error", err)
		}
	}
}

func (a *app) closeLimiter() error {
	if a.limiter == nil {
		return nil
	}
	return a.limiter.Close()
}

// reachable is the address for a client on this machine.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return addr.String()
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, fmt.Sprint(tcp.Port))
}
