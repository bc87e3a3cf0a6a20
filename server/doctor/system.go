package doctor

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/backup"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// System is the installation at a glance, for its operators: figures, and the findings of Examine.
func System(ctx context.Context, p *Patient) (*administration.System, error) {
	s := &administration.System{At: p.Now().UTC(), Node: p.Node,
		Program: p.Program, Unnumbered: int64(p.Store.Unnumbered())}
	for _, look := range []func(context.Context, *Patient, *administration.System) error{
		systemDatabase, systemReplicas, systemNodes, systemWork, systemJobs, systemWebhooks, systemBackups,
	} {
		if err := look(ctx, p, s); err != nil {
			return nil, err
		}
	}

	for _, f := range Examine(ctx, p) {
		severity := string(f.Severity)
		if f.Severity == Unchecked {
			severity = "unchecked"
		}
		s.Findings = append(s.Findings,
			administration.SystemFinding{Check: f.Check, Severity: severity, Name: f.Name, Args: f.Args, Do: f.Do})
	}

	return s, nil
}

func systemDatabase(ctx context.Context, p *Patient, s *administration.System) (err error) {
	c, err := p.Store.Condition(ctx)
	if err != nil {
		return err
	}
	s.Database = administration.SystemDatabase{Product: c.Product,
		Version: c.Version, Encoding: c.Encoding, Bytes: c.Bytes, LogBytes: -1}
	s.Database.Version, _, _ = strings.Cut(c.Version, " ") // without the distribution's suffix
	if size, embedded := p.Store.LogBytes(); embedded {
		s.Database.LogBytes = size
	}
	s.Database.Schema, err = p.Store.SchemaVersion(ctx)
	return err
}

func systemReplicas(ctx context.Context, p *Patient, s *administration.System) error {
	if p.Replicas == nil {
		return nil
	}
	all, err := p.Replicas(ctx)
	for _, r := range all {
		s.Replicas = append(s.Replicas,
			administration.SystemReplica{Name: r.Name, State: r.State, Lag: r.Lag, Reads: r.Reads, Lost: r.Lost})
	}
	return err
}

func systemNodes(ctx context.Context, p *Patient, s *administration.System) (err error) {
	if s.Nodes, err = p.Store.Nodes(ctx); err != nil {
		return err
	}
	s.Proof, err = p.Store.LastProof(ctx)
	return err
}

func systemWork(ctx context.Context, p *Patient, s *administration.System) error {
	b, err := p.Store.Backlog(ctx, s.At)
	if err != nil {
		return err
	}

	s.Head, s.Due, s.Oldest = b.Head, b.Due, b.Oldest
	for _, name := range slices.Sorted(maps.Keys(b.Follows)) {
		f := administration.SystemFollower{Name: name, Behind: max(0, b.Head-b.Follows[name])}
		if f.Behind > 0 {
			if f.Since, err = nextAt(ctx, p, b.Follows[name]); err != nil {
				return err
			}
		}
		s.Followers = append(s.Followers, f)
	}

	return nil
}

// nextAt is when the event behind a position of the tail was recorded; zero if there is none.
func nextAt(ctx context.Context, p *Patient, position int64) (time.Time, error) {
	next, err := p.Store.Tail(ctx, position, 1)
	if err != nil || len(next) == 0 {
		return time.Time{}, err
	}
	return next[0].RecordedAt, nil
}

func systemJobs(ctx context.Context, p *Patient, s *administration.System) error {
	all, err := p.Jobs(ctx)
	if err != nil {
		return err
	}

	for _, j := range all {
		if late(p, &j) {
			s.Late = append(s.Late, j.Name)
		}
		if j.Failed > 0 || j.Result != "" {
			s.Failing = append(s.Failing, j.Name)
		}
		if j.Running(s.At) {
			s.Running = append(s.Running, j.Name)
		}
	}

	return nil
}

func systemWebhooks(ctx context.Context, p *Patient, s *administration.System) error {
	all, err := p.Store.Webhooks(ctx)
	if err != nil {
		return err
	}

	for i := range all {
		switch all[i].State {
		case loyalty.WebhookActive:
			s.Webhooks.Active++
		case loyalty.WebhookPaused:
			s.Webhooks.Paused++
		default:
			s.Webhooks.Disabled++
		}
	}

	waiting, err := p.Store.Backlogs(ctx)
	for _, b := range waiting {
		s.Webhooks.Waiting += b.Waiting
		s.Webhooks.Dead += b.Dead
		if !b.Oldest.IsZero() && (s.Webhooks.Oldest.IsZero() || b.Oldest.Before(s.Webhooks.Oldest)) {
			s.Webhooks.Oldest = b.Oldest
		}
	}

	return err
}

func systemBackups(_ context.Context, p *Patient, s *administration.System) error {
	if p.BackupDir == "" {
		return nil
	}
	list, err := backup.List(p.BackupDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.Backups = &administration.SystemBackups{Kept: len(list)}
	if len(list) > 0 {
		b := &list[0]
		s.Backups.MadeAt, s.Backups.Events, s.Backups.Bytes, s.Backups.Checked = b.MadeAt, b.Events, b.Size, b.Checked
	}
	return nil
}
