// Package coupon answers the Coupon API: coupons without their customers, and pools of codes.
package coupon

import (
	"context"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/coupon"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	domaincoupon "github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// API answers the Coupon API.
type API struct {
	Admin   *admin.Admin
	Reader  loyalty.Reader
	Coupons api.CouponReader
	Bulk    api.BulkOperations
	Changes api.EntityChanges

	Programme func() *programme.Programme
	Clock     func() time.Time
}

var _ coupon.StrictServerInterface = (*API)(nil)

// maxHistory bounds the history of one coupon in an answer: a gift card may be used any number of times.
const maxHistory = 1000

// GetCoupon reads one coupon by its code, with the events that changed it.
func (a *API) GetCoupon(ctx context.Context, in coupon.GetCouponRequestObject) (coupon.GetCouponResponseObject, error) {
	// one more than shown, because the oldest shown event needs its predecessor to show what it changed
	c, err := a.Reader.CouponRecord(api.Plain(ctx), in.Code, maxHistory+1)
	if err != nil {
		return nil, err
	}
	domaincoupon.AsPoolSays(a.Programme(), &c.Coupon)
	one := api.CouponOf(api.RequestOf(ctx).Language, &c.Coupon, c.Holder, a.Clock())
	record := api.Alike[coupon.CouponRecord](&one)
	record.Events = couponEvents(c.Moves)
	return coupon.GetCoupon200JSONResponse{Data: record}, nil
}

// couponEvents renders the history of a coupon, the last event first.
func couponEvents(moves []loyalty.CouponMove) []coupon.CouponEvent {
	list := make([]coupon.CouponEvent, min(len(moves), maxHistory))
	for i := range list {
		m := &moves[i]
		list[i] = coupon.CouponEvent{
			ID: m.ID, Action: m.Action, Timestamp: common.Instant(m.At), Customer: api.CouponOwner(m.Customer),
			Status: common.CouponStatus(m.After.StateAt(m.At)), TransactionID: api.TextOrNil(m.Transaction),
		}

		if m.After.Type != loyalty.CouponGiftCard {
			continue
		}

		balance := money.Amount(m.After.Balance)
		list[i].Balance = &balance
		before := money.Amount(0) // a card begins unused
		if i+1 < len(moves) {
			before = usedOf(&moves[i+1].After)
		}

		list[i].Amount = changedBy(usedOf(&m.After), before)
	}

	return list
}

// usedOf is the amount used of a gift card. Its balance cannot show what an event used or gave back: a code without a
// holder has no balance before its first use, and a reissued code has a new one.
func usedOf(c *loyalty.Coupon) (used money.Amount) {
	for _, u := range c.Uses {
		used += u.Amount
	}
	return used
}

// changedBy is by how much an amount changed; nil if it did not.
func changedBy(after, before money.Amount) *money.Amount {
	change := max(after-before, before-after)
	if change == 0 {
		return nil
	}
	return &change
}

// ListCoupons lists the coupons that match every filter, the newest first.
func (a *API) ListCoupons(
	ctx context.Context, in coupon.ListCouponsRequestObject,
) (coupon.ListCouponsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	q := loyalty.CouponQuery{At: a.Clock(), Page: p.Store()}
	var readable bool
	q.Conditions, readable = p.Conditions()
	l, err := a.Coupons.Page(ctx, p, q, readable)
	return coupon.ListCoupons200JSONResponse(api.AnswerOf(l)), err
}

// AddCodes fills a pool with codes that no customer holds yet: at once, or as a bulk operation if there are many.
func (a *API) AddCodes(ctx context.Context, in coupon.AddCodesRequestObject) (coupon.AddCodesResponseObject, error) {
	generate := 0
	if in.Body.Generate != nil {
		generate = *in.Body.Generate
	}
	if max(len(in.Body.Codes), generate) > admin.MaxCodesAtOnce {
		return a.Bulk.Begin(ctx, func(ctx context.Context, call admin.Call) (admin.Done[loyalty.BulkOperation], error) {
			return a.Admin.FillPool(ctx, call, in.PoolID, in.Body.Codes, generate)
		})
	}
	return api.Change(ctx, http.StatusCreated, addedCodes,
		func(ctx context.Context, call admin.Call) (admin.Done[admin.AddedCodes], error) {
			return a.Admin.AddCodes(ctx, call, in.PoolID, in.Body.Codes, generate)
		})
}

func addedCodes(d admin.AddedCodes) any {
	return coupon.CodesAnswer{Data: coupon.AddedCodes{Pool: d.Pool, Added: int64(d.Added), Available: d.Available}}
}

// GetPoolFillStatus shows the progress of such an operation.
func (a *API) GetPoolFillStatus(
	ctx context.Context, in coupon.GetPoolFillStatusRequestObject,
) (coupon.GetPoolFillStatusResponseObject, error) {
	return a.Bulk.Status(ctx, in.BatchID, admin.BulkPoolFill)
}

// ListPoolFillErrors lists the codes that such an operation refused.
func (a *API) ListPoolFillErrors(
	ctx context.Context, in coupon.ListPoolFillErrorsRequestObject,
) (coupon.ListPoolFillErrorsResponseObject, error) {
	at := api.BulkPlace{Batch: in.BatchID, Limit: in.Params.Limit, Offset: in.Params.Offset, Cursor: in.Params.Cursor}
	l, err := a.Bulk.Refused(ctx, at, admin.BulkPoolFill)
	if err != nil {
		return nil, err
	}
	out := coupon.PoolFillErrorList{Data: make([]coupon.PoolFillError, len(l.Entries)),
		Next: l.Next, Previous: l.Previous, Time: &l.Time}
	language := api.RequestOf(ctx).Language
	for i := range l.Entries {
		_, fault := api.Envelope(language, l.Entries[i].Failure())
		out.Data[i] = coupon.PoolFillError{Code: api.TextOrNil(l.Entries[i].Code), Count: l.Entries[i].Count, Error: fault}
	}
	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(out)}, nil
}
