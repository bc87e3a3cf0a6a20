package main

import (
	"context"
	"log/slog"
	"net"
	"runtime"
	"runtime/debug"

	"github.com/loyalty-platform/loyalty/server/observe"
)

// manageOff is the value that switches the management listener off.
const manageOff = "off"

// management is what operators see while the program runs; nil: nothing.
type management struct {
	*observe.Listener
	metrics *observe.Metrics
	stop    func()
}

// manage begins to answer operators. An address that was chosen must be free; the default
// one may be another node's on the same machine, which is said and then done without.
func (s *settings) manage(ctx context.Context, logger *slog.Logger) (*management, error) {
	if s.manageAt == manageOff {
		return nil, nil
	}
	on, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.manageAt)
	if err != nil && s.manageGiven {
		return nil, fault("manage", "%w", err)
	}
	if err != nil {
		logger.Info("no metrics: the management address is taken; LOYALTY_MANAGE names another one, or is off", "error", err)
		return nil, nil
	}
	build := buildOf(debug.ReadBuildInfo())
	m := &management{metrics: observe.NewMetrics(build)}
	m.Listener = observe.NewListener(observe.ListenerOptions{
		Metrics: m.metrics.Handler(), Build: build, Local: isLoopbackAddress(s.manageAt), Logger: logger,
	})
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := m.Serve(serving, on); err != nil {
			logger.Error("the management listener", "error", err)
		}
	}()
	m.stop = func() { end(); <-done }
	logger.Info("management: metrics, health and profiles", "address", "http://"+reachable(on.Addr()))
	return m, nil
}

// close ends the answers to operators. It comes last of all.
func (m *management) close() {
	if m != nil {
		m.stop()
	}
}

// buildOf is the program as /version and the metrics tell it.
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
