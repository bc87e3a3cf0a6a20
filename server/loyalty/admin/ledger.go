package admin

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Liability returns the outstanding points by the month in which they expire, those that never do
// at the end, and by origin. Lots whose expiry depends on activity count by their expiry as of now.
func (a *Admin) Liability(ctx context.Context) (loyalty.Liability, error) {
	l := loyalty.Liability{At: a.now()}
	snapshot, err := a.store.Snapshot(ctx, nil)
	if err != nil {
		return l, loyalty.OutcomeError(err)
	}

	zone, err := programme.CheckSettings(programme.SettingsOrDefaults(snapshot.Settings))
	if err != nil {
		return l, err
	}

	totals, groups, err := a.store.Outstanding(ctx)
	if err != nil {
		return l, loyalty.OutcomeError(err)
	}

	l.Totals = totals
	l.Months, l.Origins = months(groups, zone), origins(groups)
	for _, o := range l.Origins {
		l.Outstanding.Add(&l.Outstanding, &o.Points)
	}

	return l, nil
}

// origins adds up lots by what they were given for. Sums are big integers, because those of all
// customers may exceed 64 bits.
func origins(groups []loyalty.LotGroup) []*loyalty.LiabilityOrigin {
	by := map[points.Origin]*loyalty.LiabilityOrigin{}
	for i := range groups {
		g := &groups[i]
		of := by[g.Origin]
		if of == nil {
			of = &loyalty.LiabilityOrigin{Origin: g.Origin}
			by[g.Origin] = of
		}
		of.Points.Add(&of.Points, &g.Points)
		of.Lots += g.Lots
	}

	return slices.SortedFunc(maps.Values(by), func(a, b *loyalty.LiabilityOrigin) int {
		return cmp.Or(b.Points.Cmp(&a.Points), cmp.Compare(a.Origin, b.Origin))
	})
}

// months adds up the same lots by month, and in each month by origin.
func months(groups []loyalty.LotGroup, zone *time.Location) (list []*loyalty.LiabilityMonth) {
	by := map[string][]loyalty.LotGroup{}
	for _, g := range groups {
		lot := points.Lot{ExpiresAt: g.ExpiresAt, Idle: g.Idle}
		month := ""
		if at := lot.Expiry(g.LastActivity, zone); !at.IsZero() {
			month = at.In(zone).Format("2006-01")
		}
		by[month] = append(by[month], g)
	}

	for month, groups := range by {
		m := &loyalty.LiabilityMonth{Month: month, Origins: origins(groups)}
		for _, o := range m.Origins {
			m.Points.Add(&m.Points, &o.Points)
			m.Lots += o.Lots
		}
		list = append(list, m)
	}

	slices.SortFunc(list, func(a, b *loyalty.LiabilityMonth) int {
		if (a.Month == "") != (b.Month == "") {
			return cmp.Compare(b.Month, a.Month) // never comes last
		}
		return cmp.Compare(a.Month, b.Month)
	})

	return list
}

// VerifyLedger proves the invariants of the ledger in the name of a key or user (as in Call); see
// LedgerReader.
func (a *Admin) VerifyLedger(ctx context.Context, keyID string, report func(loyalty.LedgerCheck)) {
	v := loyalty.LedgerVerification{}
	v.Actor, v.ActorKind = loyalty.ActorOf(keyID)
	a.store.VerifyLedger(ctx, func(c loyalty.LedgerCheck) {
		v.Count(c)
		report(c)
	})
	tellBroken(ctx, a, v.BrokenIDs)
	v.At = a.now()
	// the proof was made and reported, so it is recorded even if its caller did not wait
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	_ = a.store.NoteProof(ctx, v) // it was reported; a failure to store it is reported elsewhere
}

// Proofs lists the stored verifications of the ledger, newest first.
func (a *Admin) Proofs(ctx context.Context, page loyalty.Page) ([]loyalty.LedgerVerification, error) {
	return a.store.Proofs(ctx, page)
}

// noteTime limits how long recording a verification may take once its caller has left.
const noteTime = 3 * time.Second

// Failures lists the latest failed requests of all nodes, newest first.
func (a *Admin) Failures(ctx context.Context, q loyalty.FailureQuery) ([]loyalty.FailedRequest, error) {
	q.Conditions = append([]loyalty.Condition{{Field: "at", Operator: loyalty.Gte,
		Values: []any{a.now().Add(-loyalty.FailureLife)}}}, q.Conditions...)
	return a.store.Failures(ctx, q)
}

// KeepFailures stores failed requests and gives each an id.
func (a *Admin) KeepFailures(ctx context.Context, all []loyalty.FailedRequest) error {
	for i := range all {
		all[i].ID = a.nextID(all[i].At)
	}
	return a.store.AddFailures(ctx, all)
}

// KeepRefusals adds to the counts of refused events.
func (a *Admin) KeepRefusals(ctx context.Context, all map[loyalty.RefusedAs]int64) error {
	return a.store.AddRefusals(ctx, all)
}

// ForgetFailures deletes failed requests that are older than FailureLife or exceed MaxFailures.
func (a *Admin) ForgetFailures(ctx context.Context) error {
	return a.store.ForgetFailures(ctx, a.now().Add(-loyalty.FailureLife), loyalty.MaxFailures)
}

// tellBroken notifies webhooks that a proof of the ledger failed. The proof stands, whatever
// happens to the notice.
func tellBroken(ctx context.Context, a *Admin, invariants []string) {
	if len(invariants) == 0 {
		return
	}
	err := a.store.Change(ctx, func(tx loyalty.AdminTx) error {
		return tx.Notify(loyalty.NewNotice(loyalty.LedgerFailed, a.now(), map[string]any{"invariants": invariants}))
	})
	if err != nil && a.directory != nil {
		a.directory.report(err)
	}
}
