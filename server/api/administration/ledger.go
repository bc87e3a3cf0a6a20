package administration

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// verifyTime bounds a verification of the ledger, which reads all of it. verifyWait bounds how long a caller waits for
// a verification that begins after the current one.
const (
	verifyTime = 90 * time.Second
	verifyWait = api.WriteTimeout - 10*time.Second
)

// GetLedger reports the outstanding points, and proves the ledger on request.
func (a *API) GetLedger(
	ctx context.Context, in administration.GetLedgerRequestObject,
) (administration.GetLedgerResponseObject, error) {
	key := api.RequestOf(ctx).Key.ID
	l, err := a.Liabilities.Get(api.Plain(ctx), key)
	if err != nil {
		return nil, err
	}

	t := &l.Totals
	out := administration.Ledger{
		At: common.Instant(l.At), Months: []administration.LiabilityMonth{}, Origins: origins(l.Origins),
		Totals: administration.LedgerTotals{
			Earned: bigNumber(&t.Score), Spent: bigNumber(&t.Spent),
			Expired: bigNumber(&t.Expired), Reserved: bigNumber(&t.Reserved),
			Pending: bigNumber(&t.Pending), Debt: bigNumber(&t.Debt), Outstanding: bigNumber(&l.Outstanding),
		},
	}

	out.Value = valueOf(a.Programme(), &l.Outstanding)
	for _, m := range l.Months {
		out.Months = append(out.Months, administration.LiabilityMonth{Month: api.TextOrNil(m.Month),
			Points: bigNumber(&m.Points), Lots: m.Lots, Origins: origins(m.Origins)})
	}

	if in.Params.Verify != nil && *in.Params.Verify {
		if out.Invariants, err = a.invariants(api.Plain(ctx), key); err != nil {
			return nil, err
		}
		api.RequestOf(ctx).Language.Speak("en") // what must hold, and where it does not
	}

	return administration.GetLedger200JSONResponse{Data: out}, nil
}

// valueOf is the value of points in money; nil if the programme defines none.
func valueOf(p *programme.Programme, points *big.Int) *administration.LedgerValue {
	value := p.Economy.PointValue
	if value == 0 {
		return nil
	}
	parts := new(big.Int).Mul(points, big.NewInt(int64(value)))
	return &administration.LedgerValue{
		Point: value, Currency: p.Settings.Currency,
		Outstanding: json.Number(decimal.NewFromBigInt(parts, -money.Scale).String()),
	}
}

// origins renders the origins of points.
func origins(all []*loyalty.LiabilityOrigin) []administration.LiabilityOrigin {
	out := make([]administration.LiabilityOrigin, len(all))
	for i, o := range all {
		out[i] = administration.LiabilityOrigin{Origin: administration.LiabilityOriginOrigin(o.Origin.String()),
			Points: bigNumber(&o.Points), Lots: o.Lots}
	}
	return out
}

// bigNumber writes a whole number of any size.
func bigNumber(n *big.Int) json.Number { return json.Number(n.String()) }

// Liability adds up the points of all customers.
func (a *API) Liability(ctx context.Context, _ string) (loyalty.Liability, error) {
	ctx, cancel := context.WithTimeout(ctx, api.WaitTime)
	defer cancel()
	return a.Admin.Liability(ctx)
}

// invariants returns a proof of the ledger that began after the request. Its callers may wait longer than those of
// other requests.
func (a *API) invariants(ctx context.Context, key string) ([]administration.Invariant, error) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyWait)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) { // the caller left; the deadline of another caller does not count
			cancel()
		}
	})()
	return a.Proofs.Get(own, key)
}

// Prove proves the ledger, in the name of the first caller.
func (a *API) Prove(ctx context.Context, key string) ([]administration.Invariant, error) {
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	var list []administration.Invariant
	a.Admin.VerifyLedger(ctx, key, func(c loyalty.LedgerCheck) {
		if c.Err != nil {
			a.Logger.Error("an invariant could not be checked", "invariant", c.Invariant, "error", c.Err)
		}
		list = append(list, invariant(c))
	})
	return list, nil
}

// invariant renders a check, without internal ids of customers.
func invariant(c loyalty.LedgerCheck) administration.Invariant {
	out := administration.Invariant{
		ID: c.Invariant, Title: c.Title, Broken: c.Broken, Findings: []administration.LedgerFinding{},
		Verdict: administration.InvariantVerdict(strings.ReplaceAll(string(c.Verdict), " ", "_")),
	}
	for _, f := range c.Findings {
		out.Findings = append(out.Findings,
			administration.LedgerFinding{Customer: api.TextOrNil(f.Name), Row: api.TextOrNil(f.Row), Detail: f.Detail})
	}
	return out
}
