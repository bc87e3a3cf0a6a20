package server

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// verifyTime bounds a verification of the ledger, which reads all of it.
const verifyTime = 90 * time.Second

// GetLedger reports what is outstanding, and proves the ledger where it is asked to.
func (a *administrationAPI) GetLedger(ctx context.Context, in administration.GetLedgerRequestObject) (administration.GetLedgerResponseObject, error) {
	l, err := a.liability(ctx)
	if err != nil {
		return nil, err
	}
	t := &l.Totals
	out := administration.Ledger{
		At: common.Instant(l.At), Months: []administration.LiabilityMonth{}, Origins: []administration.LiabilityOrigin{},
		Totals: administration.LedgerTotals{
			Earned: bigNumber(&t.Score), Spent: bigNumber(&t.Spent), Expired: bigNumber(&t.Expired), Reserved: bigNumber(&t.Reserved),
			Pending: bigNumber(&t.Pending), Debt: bigNumber(&t.Debt), Outstanding: bigNumber(&l.Outstanding),
		},
	}
	for _, m := range l.Months {
		out.Months = append(out.Months, administration.LiabilityMonth{Month: textOrNil(m.Month), Points: bigNumber(&m.Points), Lots: m.Lots})
	}
	for _, o := range l.Origins {
		out.Origins = append(out.Origins, administration.LiabilityOrigin{Origin: administration.LiabilityOriginOrigin(o.Origin.String()), Points: bigNumber(&o.Points), Lots: o.Lots})
	}
	if in.Params.Verify != nil && *in.Params.Verify {
		if out.Invariants, err = a.invariants(plain(ctx), requestOf(ctx).key.ID); err != nil {
			return nil, err
		}
	}
	return administration.GetLedger200JSONResponse{Data: out}, nil
}

// liability adds up what all customers have.
func (a *administrationAPI) liability(ctx context.Context) (l loyalty.Liability, err error) {
	leave, err := a.totals.enter(ctx, requestOf(ctx).key.ID)
	if err != nil {
		return l, err
	}
	defer leave()
	return a.admin.Liability(plain(ctx))
}

// bigNumber writes a whole number of any size.
func bigNumber(n *big.Int) json.Number { return json.Number(n.String()) }

// invariants proves the ledger, one caller at a time. It has more time than other
// requests, as long as its caller waits.
func (a *administrationAPI) invariants(ctx context.Context, keyID string) ([]administration.Invariant, error) {
	select {
	case a.verifying <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-a.verifying }()
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) { // the caller left; the deadline of others does not count
			cancel()
		}
	})()
	var list []administration.Invariant
	a.admin.VerifyLedger(own, keyID, func(c loyalty.LedgerCheck) {
		if c.Err != nil {
			a.logger.Error("an invariant could not be checked", "invariant", c.Invariant, "error", c.Err)
		}
		list = append(list, invariant(c))
	})
	return list, nil
}

// invariant renders a check. Internal ids of customers are not part of it.
func invariant(c loyalty.LedgerCheck) administration.Invariant {
	out := administration.Invariant{
		ID: c.Invariant, Title: c.Title, Broken: c.Broken, Findings: []administration.LedgerFinding{},
		Verdict: administration.InvariantVerdict(strings.ReplaceAll(string(c.Verdict), " ", "_")),
	}
	for _, f := range c.Findings {
		out.Findings = append(out.Findings, administration.LedgerFinding{Customer: textOrNil(f.Name), Row: textOrNil(f.Row), Detail: f.Detail})
	}
	return out
}
