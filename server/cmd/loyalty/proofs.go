package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/backup"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// proofTime is the time of day of the daily proof of the ledger; off: there is none.
func proofTime(s *settings) (at time.Duration, off bool, err error) {
	if s.ledgerProof == "off" {
		return 0, true, nil
	}
	clock, err := time.Parse("15:04", s.ledgerProof)
	return time.Duration(clock.Hour())*time.Hour + time.Duration(clock.Minute())*time.Minute, false, err
}

// How long many waiting callers may delay a daily proof, and how long one may take: it reads everything, and on SQLite
// it blocks checkpoints meanwhile.
const (
	proofPatience = 6 * time.Hour
	longestProof  = time.Hour
)

// proofs is the server's work on the proof of the ledger.
type proofs struct {
	app *app
	at  time.Duration
}

// proofsOf is nil without a daily proof.
func proofsOf(s *settings, a *app) *proofs {
	at, off, err := proofTime(s)
	if off || err != nil {
		return nil
	}
	return &proofs{app: a, at: at}
}

// make proves the ledger for the job, at a low priority, if it is due since the last proof by any node or caller.
func (p *proofs) make(ctx context.Context, asked bool) (bool, error) {
	if !asked {
		last, err := p.app.store.LastProof(ctx)
		if err != nil {
			return false, err
		}
		due := proofDue(p.app.engine.Now().In(p.app.directory.Programme().Location), p.at)
		if last.At.After(due) && last.Unchecked == 0 {
			return false, nil
		}
		if p.app.engine.Crowded() && p.app.engine.Now().Sub(due) < proofPatience {
			return false, nil // callers first
		}
	}

	return true, backup.Quietly(func() error { return p.prove(ctx) })
}

func (p *proofs) prove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longestProof)
	defer cancel()
	o := admin.AdminOptions{Registry: action.Registry(), Store: p.app.store,
		Directory: p.app.directory, APIs: openapi.Names()}
	var broken, unchecked error
	admin.NewAdmin(o).VerifyLedger(ctx, loyalty.OwnJob, func(c loyalty.LedgerCheck) {
		switch {
		case c.Err != nil:
			unchecked = errors.Join(unchecked, fmt.Errorf("%s could not be checked: %w", c.Invariant, c.Err))
		case c.Verdict != loyalty.LedgerHeld:
			broken = errors.Join(broken, fmt.Errorf("%s is broken: %s", c.Invariant, c.Title))
		}
	})

	if broken != nil { // reported once and loudly; the job itself succeeded
		p.app.logger.Error("the ledger does not hold", "broken", broken.Error(), "see", "loyalty ledger verify")
	}

	return unchecked
}

// proofDue is the last instant of a time of day, in the zone of now.
func proofDue(now time.Time, at time.Duration) time.Time {
	day := func(back int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()-back, int(at.Hours()), int(at.Minutes())%60, 0, 0, now.Location())
	}
	if due := day(0); !due.After(now) {
		return due
	}
	return day(1)
}
