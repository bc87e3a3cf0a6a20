package coupon

import (
	"context"
	"encoding/json"
	"net/http"

	domaincoupon "github.com/loyalty-platform/loyalty/server/loyalty/coupon"

	"github.com/loyalty-platform/loyalty/gen/coupon"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// poolType is the entity type of pools.
const poolType = domaincoupon.PoolType

// ListCouponPools lists the pools with the counts of their codes, the oldest first.
func (a *API) ListCouponPools(
	ctx context.Context, in coupon.ListCouponPoolsRequestObject,
) (coupon.ListCouponPoolsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	q := loyalty.EntityQuery{Type: poolType, Page: p.Store(), Archived: in.Params.Archived != nil && *in.Params.Archived}
	found, err := a.Admin.Entities(api.Plain(ctx), q)
	if err != nil {
		return nil, err
	}

	l := list.Linked(p, found, a.Clock(), nil)
	out := api.EntityList{Data: make([]json.RawMessage, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: l.Time}
	ids := make([]string, len(l.Entries))
	for i := range l.Entries {
		ids[i] = l.Entries[i].ID
	}

	stock, err := a.Reader.PoolStock(api.Plain(ctx), ids, a.Clock())
	for i := range l.Entries {
		out.Data[i] = poolRecord(&l.Entries[i], stock[l.Entries[i].ID])
	}

	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(out)}, err
}

// poolRecord writes a pool as the Entities API does, followed by its counts.
func poolRecord(e *loyalty.Entity, n loyalty.PoolStock) json.RawMessage {
	own := api.RecordOf("coupons", "pool", e, "")
	counts := api.Marshal(struct {
		Total     int64 `json:"total"`
		Available int64 `json:"available"`
		Claimed   int64 `json:"claimed"`
		Redeemed  int64 `json:"redeemed"`
		Given     int64 `json:"given_30_days"`
	}{n.Total, n.Available, n.Claimed, n.Redeemed, n.Given})
	return api.JoinObjects(own, counts)
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
func (a *API) stockOf(ctx context.Context, pool string) (loyalty.PoolStock, error) {
	stock, err := a.Reader.PoolStock(ctx, []string{pool}, a.Clock())
	return stock[pool], err
}

// GetCouponPool reads one pool, archived or not.
func (a *API) GetCouponPool(
	ctx context.Context, in coupon.GetCouponPoolRequestObject,
) (coupon.GetCouponPoolResponseObject, error) {
	e, err := a.Admin.Entity(api.Plain(ctx), poolType, in.PoolID)
	if err != nil {
		return nil, err
	}
	n, err := a.stockOf(api.Plain(ctx), e.ID)
	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(poolAnswer(n)(e))}, err
}

// CreateCouponPool adds a pool without codes.
func (a *API) CreateCouponPool(
	ctx context.Context, in coupon.CreateCouponPoolRequestObject,
) (coupon.CreateCouponPoolResponseObject, error) {
	c, err := a.Changes.Read(ctx, poolType, (*contract.Schema).Creation)
	if err != nil {
		return nil, err
	}
	if in.Body.ID != nil {
		c.ID = *in.Body.ID
	}
	return api.Change(ctx, http.StatusCreated, poolAnswer(loyalty.PoolStock{}),
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
			return a.Admin.CreateEntity(ctx, call, c)
		})
}

// UpdateCouponPool changes the sent properties of a pool. It moves no codes.
func (a *API) UpdateCouponPool(
	ctx context.Context, in coupon.UpdateCouponPoolRequestObject,
) (coupon.UpdateCouponPoolResponseObject, error) {
	c, err := a.Changes.Read(ctx, poolType, (*contract.Schema).Patch)
	if err != nil {
		return nil, err
	}
	c.ID = in.PoolID
	n, err := a.stockOf(api.Plain(ctx), c.ID)
	if err != nil {
		return nil, err
	}
	return api.Change(ctx, http.StatusOK, poolAnswer(n),
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
			return a.Admin.UpdateEntity(ctx, call, c)
		})
}
