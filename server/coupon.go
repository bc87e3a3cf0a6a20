package server

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/coupon"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// couponAPI answers the Coupon API.
type couponAPI struct{ *Server }

var _ coupon.StrictServerInterface = (*couponAPI)(nil)

// maxHistory bounds the history of one coupon: a gift card may be used any number
// of times.
const maxHistory = 1000

// GetCoupon reads one coupon by its code, with the events that changed it.
func (a *couponAPI) GetCoupon(ctx context.Context, in coupon.GetCouponRequestObject) (coupon.GetCouponResponseObject, error) {
	c, holder, err := a.reader.Coupon(plain(ctx), in.Code)
	if err != nil {
		return nil, err
	}
	// One more than are shown: the oldest shown one tells what it changed.
	moves, err := a.reader.CouponHistory(plain(ctx), c.ID, maxHistory+1)
	if err != nil {
		return nil, err
	}
	one := a.couponOf(requestOf(ctx).language, &c, &holder)
	return coupon.GetCoupon200JSONResponse{Data: coupon.CouponRecord{
		Code: one.Code, Name: one.Name, Type: one.Type, Value: one.Value, Currency: one.Currency, Balance: one.Balance,
		Status: one.Status, CreatedAt: one.CreatedAt, ClaimedAt: one.ClaimedAt, RedeemedAt: one.RedeemedAt, ExpiresAt: one.ExpiresAt,
		Pool: one.Pool, Reward: one.Reward, Customer: one.Customer, Stores: one.Stores, Products: one.Products,
		Events: couponEvents(moves),
	}}, nil
}

// couponOf words a coupon as it stands now. Of a holder who left nothing is shown.
func (s *Server) couponOf(language *tongue, c *loyalty.Coupon, holder *loyalty.Customer) common.Coupon {
	out := common.Coupon{
		Code: c.Code, Name: textOrNil(s.text(language, c.Name.Texts)), Type: common.CouponType(c.Type), Value: worth(c),
		Currency: textOrNil(c.Currency), Status: common.CouponStatus(c.StateAt(s.clock())),
		CreatedAt: common.Instant(c.CreatedAt), ClaimedAt: instantOrNil(c.ClaimedAt),
		RedeemedAt: instantOrNil(c.RedeemedAt), ExpiresAt: instantOrNil(c.ExpiresAt),
		Pool: textOrNil(c.Pool), Reward: textOrNil(c.Reward), Stores: orEmpty(c.Stores), Products: orEmpty(c.Products),
		Customer: couponOwner(holder),
	}
	if c.Type == loyalty.CouponGiftCard {
		out.Balance = &c.Balance
	}
	return out
}

// couponOwner names a customer; nil: nobody, or somebody who left.
func couponOwner(c *loyalty.Customer) *common.CouponOwner {
	if c.ID == (loyalty.ID{}) || c.Status == loyalty.OptedOut {
		return nil
	}
	return &common.CouponOwner{ID: c.Name}
}

// couponEvents words the history of a coupon, the last event first.
func couponEvents(moves []loyalty.CouponMove) []coupon.CouponEvent {
	list := make([]coupon.CouponEvent, min(len(moves), maxHistory))
	for i := range list {
		m := &moves[i]
		list[i] = coupon.CouponEvent{
			ID: m.ID, Action: m.Action, Timestamp: common.Instant(m.At), Customer: couponOwner(&m.Customer),
			Status: common.CouponStatus(m.After.State), TransactionID: textOrNil(m.Transaction),
		}
		if m.After.Type != loyalty.CouponGiftCard {
			continue
		}
		balance := money.Amount(m.After.Balance)
		list[i].Balance = &balance
		if i+1 < len(moves) && moves[i+1].After.Type == loyalty.CouponGiftCard {
			list[i].Amount = changedBy(balance, money.Amount(moves[i+1].After.Balance))
		}
	}
	return list
}

// changedBy is by how much a balance changed; nil: it did not.
func changedBy(after, before money.Amount) *money.Amount {
	change := max(after-before, before-after)
	if change == 0 {
		return nil
	}
	return &change
}

// orEmpty is a list that is never null on the wire.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// couponStates are the names of where a coupon can stand.
var couponStates = func() (names []string) {
	for _, s := range loyalty.CouponStates {
		names = append(names, string(s))
	}
	return names
}()

// couponTypes are the names of what a coupon can give.
var couponTypes = []string{loyalty.CouponAmount, loyalty.CouponPercentage, loyalty.CouponFreeShipping, loyalty.CouponGiftCard}

// couponFields are what coupons can be filtered by.
var couponFields = map[string]list.Field{
	"code":       {Kind: list.Text},
	"status":     {Kind: list.Choice, Choices: couponStates},
	"pool":       {Kind: list.Text},
	"type":       {Kind: list.Choice, Choices: couponTypes},
	"customer":   {Kind: list.Text},
	"created_at": {Kind: list.Instant},
}

// ListCoupons lists the coupons that match every filter, the newest first.
func (a *couponAPI) ListCoupons(ctx context.Context, in coupon.ListCouponsRequestObject) (coupon.ListCouponsResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	q := loyalty.CouponQuery{At: a.clock(), Page: p.Store()}
	var readable bool
	if q.Conditions, readable = list.Conditions(p.Query, couponFields); readable {
		err = a.findHolders(plain(ctx), q.Conditions)
	}
	if err != nil {
		return nil, err
	}
	list, err := a.couponList(ctx, p, q, readable)
	return coupon.ListCoupons200JSONResponse(list), err
}

// couponList answers a page of coupons; a filter that cannot be read finds none.
func (s *Server) couponList(ctx context.Context, p list.Page, q loyalty.CouponQuery, readable bool) (common.CouponList, error) {
	var found []loyalty.HeldCoupon
	var err error
	if readable {
		found, err = s.reader.Coupons(plain(ctx), q)
	}
	at := func(c loyalty.HeldCoupon) list.Cursor { return list.Cursor{At: c.CreatedAt, ID: c.ID[:]} }
	if q.Holder != (loyalty.ID{}) {
		at = func(c loyalty.HeldCoupon) list.Cursor { return list.Cursor{At: c.ClaimedAt, ID: c.ID[:]} }
	}
	if len(q.Sort) > 0 {
		at = nil
	}
	l := list.Linked(p, found, s.clock(), at)
	out := common.CouponList{Data: make([]common.Coupon, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time}
	for i := range l.Entries {
		out.Data[i] = s.couponOf(requestOf(ctx).language, &l.Entries[i].Coupon, &l.Entries[i].Holder)
	}
	return out, err
}

// findHolders puts the ids of customers for what callers name them. Who does not
// exist holds nothing.
func (a *couponAPI) findHolders(ctx context.Context, list []loyalty.Condition) error {
	for i := range list {
		if list[i].Field != "customer" {
			continue
		}
		found := []any{}
		for _, name := range list[i].Values {
			c, err := a.reader.Customer(ctx, name.(string))
			if errors.Is(err, loyalty.ErrCustomerNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if !slices.Contains(found, any(c.ID)) {
				found = append(found, c.ID)
			}
		}
		list[i].Values = found
	}
	return nil
}

// AddCodes fills a pool with codes that nobody holds yet: at once, or as a bulk
// operation where they are many.
func (a *couponAPI) AddCodes(ctx context.Context, in coupon.AddCodesRequestObject) (coupon.AddCodesResponseObject, error) {
	generate := 0
	if in.Body.Generate != nil {
		generate = *in.Body.Generate
	}
	if max(len(in.Body.Codes), generate) > loyalty.MaxCodesAtOnce {
		return a.begin(ctx, func(ctx context.Context, call loyalty.Call) (loyalty.Done[loyalty.BulkOperation], error) {
			return a.admin.FillPool(ctx, call, in.PoolID, in.Body.Codes, generate)
		})
	}
	return change(a.Server, ctx, http.StatusCreated, addedCodes, func(ctx context.Context, call loyalty.Call) (loyalty.Done[loyalty.AddedCodes], error) {
		return a.admin.AddCodes(ctx, call, in.PoolID, in.Body.Codes, generate)
	})
}

func addedCodes(d loyalty.AddedCodes) any {
	return coupon.CodesAnswer{Data: coupon.AddedCodes{Pool: d.Pool, Added: int64(d.Added), Available: d.Available}}
}

// GetPoolFillStatus says how far such an operation is.
func (a *couponAPI) GetPoolFillStatus(ctx context.Context, in coupon.GetPoolFillStatusRequestObject) (coupon.GetPoolFillStatusResponseObject, error) {
	return a.bulkStatus(ctx, in.BatchID, loyalty.BulkPoolFill)
}

// ListPoolFillErrors lists the codes that such an operation refused.
func (a *couponAPI) ListPoolFillErrors(ctx context.Context, in coupon.ListPoolFillErrorsRequestObject) (coupon.ListPoolFillErrorsResponseObject, error) {
	at := bulkPlace{batch: in.BatchID, limit: in.Params.Limit, offset: in.Params.Offset, cursor: in.Params.Cursor}
	l, err := a.bulkRefused(ctx, at, loyalty.BulkPoolFill)
	if err != nil {
		return nil, err
	}
	out := coupon.PoolFillErrorList{Data: make([]coupon.PoolFillError, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time}
	language := requestOf(ctx).language
	for i := range l.Entries {
		_, fault := a.envelope(language, l.Entries[i].Failure())
		out.Data[i] = coupon.PoolFillError{Code: textOrNil(l.Entries[i].Code), Count: l.Entries[i].Count, Error: fault}
	}
	return written{status: http.StatusOK, body: marshal(out)}, nil
}
