package main

import (
	"context"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/doctor"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// presence is this node among the others of its database.
type presence struct {
	loyalty.Node
	app *app
}

// newPresence is this node as it starts.
func newPresence(a *app, listen string) presence {
	now := a.engine.Now().UTC().Truncate(time.Millisecond)
	host, _ := os.Hostname() // without one, the address has to do
	if _, port, err := net.SplitHostPort(listen); err == nil {
		host += ":" + port
	}
	return presence{loyalty.Node{ID: loyalty.NewID(now, loyalty.ID{}), Host: host,
		Version: version(build()), StartedAt: now}, a}
}

// system returns the function that examines the installation for its operators.
func (p presence) system(s *settings) func(context.Context) (*administration.System, error) {
	patient := patientOf(s, p.app.store)
	patient.Node, patient.LedgerTime, patient.Jobs, patient.Keys = p.ID, 0, p.app.jobs.List, p.app.admin.Keys
	patient.Provider = nil // repeated calls must not wait for the provider
	if reads := p.app.reads; reads != nil {
		patient.Replicas = func(context.Context) ([]store.Replica, error) { return reads.Replicas(), nil }
	}
	patient.Program = administration.SystemProgram{Version: p.Version,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	return func(ctx context.Context) (*administration.System, error) { return doctor.System(ctx, patient) }
}

// tell reports repeatedly that this node is running, until ctx ends; then that it has stopped.
func (p presence) tell(ctx context.Context) {
	tick := time.NewTicker(loyalty.NodeTells)
	defer tick.Stop()

	for {
		now := p.app.engine.Now().UTC().Truncate(time.Millisecond)
		node := p.Node
		node.SeenAt = now
		if err := p.app.store.NoteNode(ctx, node, now.Add(-loyalty.NodeLife)); err != nil && ctx.Err() == nil {
			p.app.logger.Error("telling the other nodes that this one is there", "error", err)
		}
		select {
		case <-ctx.Done():
			p.leave(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
	}
}

func (p presence) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	if err := p.app.store.ForgetNode(ctx, p.ID); err != nil {
		p.app.logger.Warn("telling the other nodes that this one stops", "error", err)
	}
}
