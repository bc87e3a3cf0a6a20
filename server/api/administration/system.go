package administration

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// GetSystem describes the state of the installation. It shows names of keys, users and files to callers who can act on
// them.
func (a *API) GetSystem(
	ctx context.Context, _ administration.GetSystemRequestObject,
) (administration.GetSystemResponseObject, error) {
	found, err := a.System.now(api.Plain(ctx))
	if err != nil {
		return nil, loyalty.OutcomeError(err)
	}
	out, language := a.systemOf(found), api.RequestOf(ctx).Language
	if caller := api.RequestOf(ctx).Caller; caller == nil || caller.Role.Covers(loyalty.RoleOperator) {
		for _, f := range found.Findings {
			out.Findings = append(out.Findings, administration.SystemFinding{
				Check: f.Check, Severity: administration.SystemFindingSeverity(f.Severity),
				Says: language.Message("doctor."+f.Name, f.Args), Do: api.TextOrNil(f.Do),
			})
		}
	}
	return administration.GetSystem200JSONResponse{Data: out}, nil
}

func (a *API) systemOf(s *System) administration.System {
	out := administration.System{
		At: common.Instant(s.At), NodeID: s.Node.String(),
		Program: administration.SystemProgram{Version: s.Program.Version, Go: s.Program.Go, Platform: s.Program.Platform},
		Database: administration.SystemDatabase{
			Product: administration.SystemDatabaseProduct(s.Database.Product),
			Version: s.Database.Version, Encoding: s.Database.Encoding,
			Schema: s.Database.Schema, Bytes: s.Database.Bytes,
		},
		Replicas: []administration.SystemReplica{}, Nodes: []administration.SystemNode{},
		Tail:      administration.SystemTail{Head: s.Head, Unnumbered: s.Unnumbered},
		Followers: []administration.SystemFollower{},
		Due:       administration.SystemDue{Customers: s.Due, OldestAt: api.InstantOrNil(s.Oldest)},
		Jobs: administration.SystemJobs{Late: api.OrEmpty(s.Late),
			Failing: api.OrEmpty(s.Failing), Running: api.OrEmpty(s.Running)},
		Webhooks: administration.SystemWebhooks{
			Active: s.Webhooks.Active, Paused: s.Webhooks.Paused, Disabled: s.Webhooks.Disabled,
			Waiting: s.Webhooks.Waiting, Dead: s.Webhooks.Dead, OldestAt: api.InstantOrNil(s.Webhooks.Oldest),
		},
	}

	if s.Database.LogBytes >= 0 {
		out.Database.LogBytes = &s.Database.LogBytes
	}

	for _, r := range s.Replicas {
		shown := administration.SystemReplica{Name: r.Name,
			State: administration.SystemReplicaState(r.State), Reads: r.Reads, Lost: r.Lost}
		if r.Lag >= 0 {
			shown.LagMs = new(r.Lag.Milliseconds())
		}
		out.Replicas = append(out.Replicas, shown)
	}

	for _, n := range s.Nodes {
		out.Nodes = append(out.Nodes, administration.SystemNode{
			NodeID: n.ID.String(), Host: n.Host, Version: n.Version,
			StartedAt: common.Instant(n.StartedAt), SeenAt: common.Instant(n.SeenAt),
			Here: s.At.Sub(n.SeenAt) < loyalty.NodeGone,
		})
	}

	for _, f := range s.Followers {
		out.Followers = append(out.Followers,
			administration.SystemFollower{Name: f.Name, Behind: f.Behind, Since: api.InstantOrNil(f.Since)})
	}

	if b := s.Backups; b != nil {
		out.Backups.Kept = &b.Kept
		if !b.MadeAt.IsZero() {
			out.Backups.Last = &administration.SystemBackup{
				MadeAt: common.Instant(b.MadeAt), Events: b.Events, Bytes: b.Bytes,
				Checked: administration.SystemBackupChecked(b.Checked),
			}
		}
	}

	if p := s.Proof; !p.At.IsZero() {
		out.Ledger = &administration.SystemProof{At: common.Instant(p.At),
			Held: p.Held, Broken: p.Broken, Unchecked: p.Unchecked}
	}

	return out
}
