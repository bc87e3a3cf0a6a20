package store

import (
	"context"
	"math/big"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Photograph reads the state of the programme as of one instant: one pass over the balances, and one over the
// customers with a tier.
func (s statisticsStore) Photograph(ctx context.Context, now, since time.Time) (loyalty.Photograph, error) {
	p := loyalty.Photograph{At: now, Tiers: map[string]int64{}}
	sums := figureSums()
	member := "c.status IN ('" + string(loyalty.Active) + "', '" + string(loyalty.Suspended) + "')"
	members := sqlFragment{text: "SELECT count(*) FROM customers c WHERE " + member}.one((*number)(&p.Members))
	active := sqlFragment{`SELECT count(*) FROM customers c JOIN balances b ON b.customer_id = c.id WHERE c.status = ? AND b.last_activity_at >= ?`,
		[]any{loyalty.Active, Millis(since)}}.one((*number)(&p.Active))
	var name Text
	var n number
	tiers := sqlFragment{text: `SELECT x.tier, count(*) FROM progress x JOIN customers c ON c.id = x.customer_id
WHERE x.tier IS NOT NULL AND ` + member + ` GROUP BY 1`}.reads(func() bool {
		if name != "" {
			p.Tiers[string(name)] = int64(n)
		}
		return false
	}, &name, &n)

	if err := s.asks(ctx, append(s.patience(), sums.question(), members, active, tiers)...); err != nil {
		return p, err
	}

	var t loyalty.LedgerTotals
	sums.add(&t)
	p.Debt.Set(&t.Debt)
	// outstanding = score - spent - expired + debt
	p.Outstanding.Sub(&t.Score, &t.Spent)
	p.Outstanding.Sub(&p.Outstanding, &t.Expired)
	p.Outstanding.Add(&p.Outstanding, new(big.Int).Set(&t.Debt))
	return p, nil
}
