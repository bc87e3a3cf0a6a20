package store

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/store/schema"
)

// PlannedMigration is a migration that a database still needs.
type PlannedMigration struct {
	Version int64
	Name    string
	Steps   []PlannedStep
}

// PlannedStep is a step of a migration, with its estimated effect.
type PlannedStep struct {
	What string
	// Waits says which sessions wait for the table while the migration runs; empty if none does.
	Waits string
	// Rows is the database's estimate of the table's rows; -1: it has no table.
	Rows int64
	// Guess is an estimate of the time.
	Guess time.Duration
}

// rowTime is roughly how long a row takes, by kind of work, on a busy machine.
var rowTime = map[schema.Work]time.Duration{
	schema.Indexes: 3 * time.Microsecond, schema.Rewrites: 15 * time.Microsecond,
}

// Plan lists what Migrate would do, step by step, and changes nothing.
func (s upkeep) Plan(ctx context.Context) ([]PlannedMigration, error) {
	known, err := s.Migrations(ctx)
	if err != nil {
		return nil, err
	}

	folder := "postgres"
	if _, embedded := s.engine.(*sqliteEngine); embedded {
		folder = "sqlite"
	}

	var plan []PlannedMigration
	rows := map[string]int64{}
	err = s.still(ctx, func(l look) error {
		for _, m := range known {
			if !m.AppliedAt.IsZero() {
				continue
			}

			steps, err := schema.Steps(folder, m.Name)
			if err != nil {
				return err
			}

			p := PlannedMigration{Version: m.Version, Name: m.Name}
			for _, step := range steps {
				planned, err := s.planned(l, step, rows)
				if err != nil {
					return err
				}
				p.Steps = append(p.Steps, planned)
			}

			plan = append(plan, p)
		}

		return nil
	})

	return plan, s.classify(err)
}

// planned estimates the table of a step. A missing table is created by an earlier migration.
func (s upkeep) planned(l look, step schema.Step, rows map[string]int64) (PlannedStep, error) {
	p := PlannedStep{What: step.What, Waits: step.Waits, Rows: -1}
	if _, embedded := s.engine.(*sqliteEngine); embedded {
		p.Waits = "" // the one writer is taken for the whole migration
	}

	if step.Table != "" {
		if _, known := rows[step.Table]; !known {
			n, err := l.size(step.Table)
			if err != nil {
				return p, err
			}
			rows[step.Table] = n
		}
		p.Rows = rows[step.Table]
	}

	p.Guess = time.Duration(max(0, p.Rows)) * rowTime[step.Work]
	return p, nil
}
