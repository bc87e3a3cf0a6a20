package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/backup"
	"github.com/loyalty-platform/loyalty/server/doctor"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/observe"
)

// management is the operators' listener of a running program; nil: none.
type management struct {
	*observe.Listener
	metrics *observe.Metrics
	stop    func()
}

// manage starts the operators' listener. A configured address must be free. The default one may be used by another node
// on the same machine: then the log says so, and there is no listener.
func (s *settings) manage(ctx context.Context, logger *slog.Logger) (*management, error) {
	if s.manageAt == manageOff {
		return nil, nil
	}

	on, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.manageAt)
	if err != nil && s.manageGiven {
		return nil, fault("manage", "%w", err)
	}

	if err != nil {
		logger.Info("the management address is in use, so there are no metrics: set LOYALTY_MANAGE to another address, or to off", "error", err)
		return nil, nil
	}

	build := buildOf(build())
	m := &management{metrics: observe.NewMetrics(build, actions())}
	m.Listener = observe.NewListener(observe.ListenerOptions{
		Metrics: m.metrics.Handler(), Build: build, Local: isLoopbackAddress(s.manageAt), Logger: logger,
	})
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := m.Serve(serving, on); err != nil {
			logger.Error("the management listener failed", "error", err)
		}
	}()

	m.stop = func() { end(); <-done }
	logger.Info("management: metrics, health and profiles", "address", "http://"+reachable(on.Addr()))
	return m, nil
}

// actions are all actions that the program knows: submitted ones and its own.
func actions() []string {
	names := programme.InternalActions()
	for _, rule := range action.All() {
		if name := rule.Meta().Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// sampleEvery is how often the metrics' figures are read from the database.
const sampleEvery = 10 * time.Second

// look returns the current figures.
func (a *app) look() observe.Moment {
	m := observe.Moment{DueHeld: a.keeper.Trusted() != nil, Behind: a.directory.Behind(),
		Unnumbered: a.store.Unnumbered(), LogBytes: -1}
	m.Light, m.Heavy = a.engine.Waiting()
	m.ClockAhead, m.ClockKnown = a.keeper.Skew()
	if size, embedded := a.store.LogBytes(); embedded {
		m.LogBytes = size
	}
	if since := a.store.UnnumberedSince(); !since.IsZero() {
		m.FeedLag = max(0, a.engine.Now().Sub(since))
	}
	if a.folder != "" {
		m.DiskFree, m.DiskSize, _ = doctor.Space(a.folder)
	}
	if a.backups != nil {
		m.Backups, m.LastBackup = true, backup.Newest(a.backups.folder)
	}

	pools := a.store.Pools
	if a.reads != nil {
		pools = a.reads.Pools
		lookAtReplicas(a.reads, &m)
	}

	for _, p := range pools() {
		m.Pools = append(m.Pools,
			observe.Pool{Name: p.Name, Used: p.Used, Idle: p.Idle, Most: p.Most, Waits: p.Waits, Waited: p.Waited})
	}

	return m
}

// sample reads from the database repeatedly, until ctx ends.
func (a *app) sample(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		a.sampleOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// sampleOnce stores one sample. Figures that could not be read are unknown; older ones do not replace them.
func (a *app) sampleOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	found := observe.Sample{At: a.engine.Now(), Checks: map[string]bool{}, Behind: map[string]int64{}}
	for name, check := range a.checks() {
		found.Checks[name] = check(ctx) == nil
	}

	waiting, err := a.store.Backlog(ctx, found.At)
	if err == nil {
		found.Jobs, err = a.jobs.List(ctx)
	}
	if err == nil {
		found.Webhooks, err = a.store.Backlogs(ctx)
	}
	if err == nil {
		found.Outstanding, err = a.outstanding(ctx)
	}
	if err == nil {
		found.Proof, err = a.store.LastProof(ctx)
	}
	if err == nil {
		found.Keys, err = a.endingKeys(ctx)
	}
	if ctx.Err() != nil && err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return // the program ends
	}

	if found.Known = err == nil; found.Known {
		found.Due, found.Oldest, found.Head = waiting.Due, waiting.Oldest, waiting.Head
		for name, position := range waiting.Follows {
			found.Behind[name] = waiting.Head - position
		}
	}

	a.metrics.Sampled(found)
}

// outstanding are the points of the statistics' last snapshot: one row, by its key.
func (a *app) outstanding(ctx context.Context) (*float64, error) {
	n, known, err := a.store.LastFigure(ctx, loyalty.MetricOutstanding)
	if err != nil || !known {
		return nil, err
	}
	points, _ := new(big.Float).SetInt(n).Float64()
	return &points, nil
}

// close ends the listener, as the last part of the program.
func (m *management) close() {
	if m != nil {
		m.stop()
	}
}

// buildOf is the program's description for /version and the metrics.
func buildOf(info *debug.BuildInfo, ok bool) observe.Build {
	b := observe.Build{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value[:min(12, len(s.Value))]
		}
	}
	return b
}

func isLoopbackAddress(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

// endingKeys are the access keys in use that end soon.
func (a *app) endingKeys(ctx context.Context) ([]loyalty.AccessKey, error) {
	all, err := a.admin.Keys(ctx)
	return slices.DeleteFunc(all, func(k loyalty.AccessKey) bool { return !doctor.EndsSoon(&k, a.engine.Now()) }), err
}

// hostPort splits an address to listen on.
func hostPort(address string) (host string, port uint64, err error) {
	host, text, err := net.SplitHostPort(address)
	port, bad := strconv.ParseUint(text, 10, 16)
	if err != nil || bad != nil {
		return "", 0, fmt.Errorf("%q is not host:port", address)
	}
	return host, port, nil
}

// checkManage keeps the operators' address apart from the callers', and on this machine unless the settings say
// otherwise.
func (s *settings) checkManage() error {
	if s.manageAt == manageOff {
		return nil
	}

	host, port, err := hostPort(s.manageAt)
	if err != nil {
		return fault("manage", "%w, nor off", err)
	}
	if _, public, err := hostPort(s.listen); err == nil && port != 0 && s.manageGiven && port == public {
		return fault("manage", "%s uses the port of the API, %s: choose another port", s.manageAt, s.listen)
	}
	if !isLoopback(host) && !s.manageOpen {
		return fault("manage",
			"%s can be reached from other machines, and its profiles show what is in memory: use 127.0.0.1, or allow it with LOYALTY_MANAGE_OPEN=true", s.manageAt)
	}

	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
