package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// GetSystem describes the state of the installation. It shows names of keys, users and files to callers who can act on
// them.
func (a *administrationAPI) GetSystem(ctx context.Context, _ administration.GetSystemRequestObject) (administration.GetSystemResponseObject, error) {
	found, err := a.system.now(plain(ctx))
	if err != nil {
		return nil, loyalty.OutcomeError(err)
	}
	out, language := a.systemOf(found), requestOf(ctx).language
	if caller := requestOf(ctx).caller; caller == nil || caller.Role.Covers(loyalty.RoleOperator) {
		for _, f := range found.Findings {
			out.Findings = append(out.Findings, administration.SystemFinding{
				Check: f.Check, Severity: administration.SystemFindingSeverity(f.Severity), Says: language.message("doctor."+f.Name, f.Args), Do: textOrNil(f.Do),
			})
		}
	}
	return administration.GetSystem200JSONResponse{Data: out}, nil
}

func (a *administrationAPI) systemOf(s *System) administration.System {
	out := administration.System{
		At: common.Instant(s.At), NodeID: s.Node.String(),
		Program: administration.SystemProgram{Version: s.Program.Version, Go: s.Program.Go, Platform: s.Program.Platform},
		Database: administration.SystemDatabase{
			Product: administration.SystemDatabaseProduct(s.Database.Product), Version: s.Database.Version, Encoding: s.Database.Encoding,
			Schema: s.Database.Schema, Bytes: s.Database.Bytes,
		},
		Replicas: []administration.SystemReplica{}, Nodes: []administration.SystemNode{}, Tail: administration.SystemTail{Head: s.Head, Unnumbered: s.Unnumbered},
		Followers: []administration.SystemFollower{}, Due: administration.SystemDue{Customers: s.Due, OldestAt: instantOrNil(s.Oldest)},
		Jobs: administration.SystemJobs{Late: orEmpty(s.Late), Failing: orEmpty(s.Failing), Running: orEmpty(s.Running)},
		Webhooks: administration.SystemWebhooks{
			Active: s.Webhooks.Active, Paused: s.Webhooks.Paused, Disabled: s.Webhooks.Disabled,
			Waiting: s.Webhooks.Waiting, Dead: s.Webhooks.Dead, OldestAt: instantOrNil(s.Webhooks.Oldest),
		},
	}

	if s.Database.LogBytes >= 0 {
		out.Database.LogBytes = &s.Database.LogBytes
	}

	for _, r := range s.Replicas {
		shown := administration.SystemReplica{Name: r.Name, State: administration.SystemReplicaState(r.State), Reads: r.Reads, Lost: r.Lost}
		if r.Lag >= 0 {
			shown.LagMs = new(r.Lag.Milliseconds())
		}
		out.Replicas = append(out.Replicas, shown)
	}

	for _, n := range s.Nodes {
		out.Nodes = append(out.Nodes, administration.SystemNode{
			NodeID: n.ID.String(), Host: n.Host, Version: n.Version, StartedAt: common.Instant(n.StartedAt), SeenAt: common.Instant(n.SeenAt),
			Here: s.At.Sub(n.SeenAt) < loyalty.NodeGone,
		})
	}

	for _, f := range s.Followers {
		out.Followers = append(out.Followers, administration.SystemFollower{Name: f.Name, Behind: f.Behind, Since: instantOrNil(f.Since)})
	}

	if b := s.Backups; b != nil {
		out.Backups.Kept = &b.Kept
		if !b.MadeAt.IsZero() {
			out.Backups.Last = &administration.SystemBackup{
				MadeAt: common.Instant(b.MadeAt), Events: b.Events, Bytes: b.Bytes, Checked: administration.SystemBackupChecked(b.Checked),
			}
		}
	}

	if p := s.Proof; !p.At.IsZero() {
		out.Ledger = &administration.SystemProof{At: common.Instant(p.At), Held: p.Held, Broken: p.Broken, Unchecked: p.Unchecked}
	}

	return out
}
