package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The results of checks; see loyalty.LedgerCheck.
type (
	LedgerVerdict = loyalty.LedgerVerdict
	LedgerFinding = loyalty.LedgerFinding
	LedgerCheck   = loyalty.LedgerCheck
)

// The verdicts of a check.
const (
	LedgerHeld      = loyalty.LedgerHeld
	LedgerBroken    = loyalty.LedgerBroken
	LedgerUnchecked = loyalty.LedgerUnchecked
)

// MaxFindings is how many findings a check reports at most.
const MaxFindings = 20

// proof proves what is stored: invariants, rebuilds from the journal, anchors.
type proof struct{ *database }

// VerifyLedger proves the ledger's invariants over a live database, all as of one instant. The database adds up and
// returns only faults, so memory does not grow with the ledger. Every check is reported, even if it could not be
// made.
func (s proof) VerifyLedger(ctx context.Context, report func(LedgerCheck)) {
	checks := ledgerChecks()
	reported := 0
	err := s.current(ctx)
	if err == nil {
		err = s.consistent(ctx, func(db *gorm.DB) error {
			if err := errors.Join(s.unhurried(db), sound(db)); err != nil {
				return err
			}
			for _, c := range checks {
				report(c.verify(db))
				reported++
			}
			return nil
		})
	}

	for _, c := range checks[reported:] {
		report(LedgerCheck{Invariant: c.invariant, Title: c.title, Verdict: LedgerUnchecked, Err: orUnknown(err)})
	}
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("unknown reason")
	}
	return err
}

// ledgerCheck is one claim about the whole ledger. Each query returns the places where it does not hold.
type ledgerCheck struct {
	invariant, title string
	queries          []ledgerQuery
	custom           func(*gorm.DB, func(LedgerFinding)) error
}

// ledgerQuery finds faults of one kind. Its rows are: customer, row id, row name, and two numbers for each label, the
// actual and the expected one.
type ledgerQuery struct {
	fault  string
	labels []string
	sql    string
}

// verify makes one check. A savepoint keeps its failure from ending the transaction that the other checks need.
func (c ledgerCheck) verify(db *gorm.DB) LedgerCheck {
	result := LedgerCheck{Invariant: c.invariant, Title: c.title, Verdict: LedgerHeld}
	found := func(f LedgerFinding) {
		if result.Broken++; len(result.Findings) < MaxFindings {
			result.Findings = append(result.Findings, f)
		}
	}

	err := db.SavePoint("ledger").Error
	for _, q := range c.queries {
		if err == nil {
			err = q.run(db, found)
		}
	}

	if err == nil && c.custom != nil {
		err = c.custom(db, found)
	}
	if err == nil {
		err = addNames(db, result.Findings)
	}

	switch {
	case err != nil:
		result.Verdict, result.Err = LedgerUnchecked, errors.Join(err, db.RollbackTo("ledger").Error)
	case result.Broken > 0:
		result.Verdict = LedgerBroken
	}

	return result
}

func (q ledgerQuery) run(db *gorm.DB, found func(LedgerFinding)) error {
	text := q.sql
	if db.Name() == "citus" {
		text = apart(text)
	}

	rows, err := db.Raw(text).Rows()
	if err != nil {
		return fmt.Errorf("%s: %w", q.fault, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	for rows.Next() {
		f, err := q.finding(rows)
		if err != nil {
			return fmt.Errorf("%s: %w", q.fault, err)
		}
		found(f)
	}

	return rows.Err()
}

func (q ledgerQuery) finding(rows *sql.Rows) (LedgerFinding, error) {
	var customer, row UUID
	var rowName Text
	figures := make([]sql.NullInt64, 2*len(q.labels))
	targets := []any{&customer, &row, &rowName}
	for i := range figures {
		targets = append(targets, &figures[i])
	}

	if err := rows.Scan(targets...); err != nil {
		return LedgerFinding{}, err
	}

	f := LedgerFinding{Customer: loyalty.ID(customer), Row: string(rowName), Detail: q.fault}
	if row != (UUID{}) && f.Row == "" {
		f.Row = loyalty.ID(row).String()
	}

	for i, label := range q.labels {
		if is, should := figures[2*i], figures[2*i+1]; is != should {
			f.Detail += fmt.Sprintf("; %s is %s, should be %s", label, figureText(is), figureText(should))
		}
	}

	return f, nil
}

func figureText(n sql.NullInt64) string {
	if !n.Valid {
		return "missing"
	}
	return fmt.Sprint(n.Int64)
}

// addNames adds the customers' identifiers.
func addNames(db *gorm.DB, findings []LedgerFinding) error {
	ids := make([]UUID, len(findings))
	for i, f := range findings {
		ids[i] = UUID(f.Customer)
	}

	if len(ids) == 0 {
		return nil
	}

	rows, err := accountTable.some("id", "name").find(db.Where("id IN ?", ids))
	if err != nil {
		return err
	}

	names := map[loyalty.ID]string{}
	for _, r := range rows {
		names[r.ID] = r.Name
	}

	for i := range findings {
		findings[i].Name = names[findings[i].Customer]
	}

	return nil
}
