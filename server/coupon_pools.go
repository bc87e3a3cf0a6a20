package server

import (
	"context"
	"encoding/json"
	"net/http"

	domaincoupon "github.com/loyalty-platform/loyalty/server/loyalty/coupon"

	"github.com/loyalty-platform/loyalty/gen/coupon"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// poolType is the entity type of pools.
const poolType = domaincoupon.PoolType

// ListCouponPools lists the pools with the counts of their codes, the oldest first.
func (a *couponAPI) ListCouponPools(ctx context.Context, in coupon.ListCouponPoolsRequestObject) (coupon.ListCouponPoolsResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	q := loyalty.EntityQuery{Type: poolType, Page: p.Store(), Archived: in.Params.Archived != nil && *in.Params.Archived}
	found, err := a.admin.Entities(plain(ctx), q)
	if err != nil {
		return nil, err
	}

	l := list.Linked(p, found, a.clock(), nil)
	out := entityList{Data: make([]json.RawMessage, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: l.Time}
	ids := make([]string, len(l.Entries))
	for i := range l.Entries {
		ids[i] = l.Entries[i].ID
	}

	stock, err := a.reader.PoolStock(plain(ctx), ids, a.clock())
	for i := range l.Entries {
		out.Data[i] = poolRecord(&l.Entries[i], stock[l.Entries[i].ID])
	}

	return rawResponse{status: http.StatusOK, body: marshal(out)}, err
}

// poolRecord writes a pool as the Entities API does, followed by its counts.
func poolRecord(e *loyalty.Entity, n loyalty.PoolStock) json.RawMessage {
	own := recordOf("coupons", "pool", e, "")
	counts := marshal(struct {
		Total     int64 `json:"total"`
		Available int64 `json:"available"`
		Claimed   int64 `json:"claimed"`
		Redeemed  int64 `json:"redeemed"`
		Given     int64 `json:"given_30_days"`
	}{n.Total, n.Available, n.Claimed, n.Redeemed, n.Given})
	return joinObjects(own, counts)
}

// poolAnswer renders one pool.
func poolAnswer(n loyalty.PoolStock) func(loyalty.Entity) any {
	return func(e loyalty.Entity) any {
		return struct {
			Data json.RawMessage `json:"data"`
		}{poolRecord(&e, n)}
	}
}

// stockOf counts the codes of one pool.
func (a *couponAPI) stockOf(ctx context.Context, pool string) (loyalty.PoolStock, error) {
	stock, err := a.reader.PoolStock(ctx, []string{pool}, a.clock())
	return stock[pool], err
}

// GetCouponPool reads one pool, archived or not.
func (a *couponAPI) GetCouponPool(ctx context.Context, in coupon.GetCouponPoolRequestObject) (coupon.GetCouponPoolResponseObject, error) {
	e, err := a.admin.Entity(plain(ctx), poolType, in.PoolID)
	if err != nil {
		return nil, err
	}
	n, err := a.stockOf(plain(ctx), e.ID)
	return rawResponse{status: http.StatusOK, body: marshal(poolAnswer(n)(e))}, err
}

// CreateCouponPool adds a pool without codes.
func (a *couponAPI) CreateCouponPool(ctx context.Context, in coupon.CreateCouponPoolRequestObject) (coupon.CreateCouponPoolResponseObject, error) {
	c, err := a.changes.read(ctx, poolType, (*contract.Schema).Creation)
	if err != nil {
		return nil, err
	}
	if in.Body.ID != nil {
		c.ID = *in.Body.ID
	}
	return change(ctx, http.StatusCreated, poolAnswer(loyalty.PoolStock{}), func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
		return a.admin.CreateEntity(ctx, call, c)
	})
}

// UpdateCouponPool changes the sent properties of a pool. It moves no codes.
func (a *couponAPI) UpdateCouponPool(ctx context.Context, in coupon.UpdateCouponPoolRequestObject) (coupon.UpdateCouponPoolResponseObject, error) {
	c, err := a.changes.read(ctx, poolType, (*contract.Schema).Patch)
	if err != nil {
		return nil, err
	}
	c.ID = in.PoolID
	n, err := a.stockOf(plain(ctx), c.ID)
	if err != nil {
		return nil, err
	}
	return change(ctx, http.StatusOK, poolAnswer(n), func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
		return a.admin.UpdateEntity(ctx, call, c)
	})
}
