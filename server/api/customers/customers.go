// Package customers answers the Customers API: customers, their points, and what leaves with one of them.
package customers

import (
	"cmp"
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// API answers the Customers API.
type API struct {
	Reader    loyalty.Reader
	Customers api.CustomerReader
	Submitter api.Submitter
	Bulk      api.BulkOperations
	Admin     *admin.Admin
	Exports   api.Exports
	Programme func() *programme.Programme
	Clock     func() time.Time
}

var _ customers.StrictServerInterface = (*API)(nil)

// ListCustomers lists the customers that match every filter, oldest first unless another order is requested.
func (a *API) ListCustomers(
	ctx context.Context, in customers.ListCustomersRequestObject,
) (customers.ListCustomersResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	choose, err := api.ReadFields(in.Params.Fields)
	if err != nil {
		return nil, err
	}

	var found []loyalty.Customer
	q, readable, err := a.query(ctx, in.Params.Search)
	if err != nil {
		return nil, err
	}

	if readable {
		q.Page = p.Store()
		if o := list.Ordered(in.Params.Sort, in.Params.Order); o.Column != "" || o.Descending {
			q.Sort = []loyalty.Sorting{{Field: cmp.Or(o.Column, "created_at"), Descending: o.Descending}}
		}
		if found, err = a.Reader.Customers(api.Plain(ctx), q); err != nil {
			return nil, err
		}
	}

	l := list.Linked(p, found, a.Clock(),
		func(c loyalty.Customer) list.Cursor { return list.Cursor{At: c.CreatedAt, ID: c.ID[:]} })
	out := list.Render(l, choose.Customer)
	err = api.NameReferrers(api.Plain(ctx), a.Reader, choose, l.Entries, out.Entries)
	return customers.ListCustomers200JSONResponse(api.AnswerOf(out)), err
}

// query is CustomerQuery with resolved references to customers.
func (a *API) query(ctx context.Context, search *string) (q loyalty.CustomerQuery, readable bool, err error) {
	if q, readable = api.CustomerQuery(ctx, a.Programme(), api.RequestOf(ctx).Fields(), search); readable {
		q.Conditions, readable, err = api.ByCustomer(api.Plain(ctx), a.Reader, "id", q.Conditions)
	}
	return q, readable, err
}

// CountCustomers counts the customers that match every filter.
func (a *API) CountCustomers(
	ctx context.Context, in customers.CountCustomersRequestObject,
) (customers.CountCustomersResponseObject, error) {
	var out customers.CountCustomers200JSONResponse
	q, readable, err := a.query(ctx, in.Params.Search)
	if err != nil || !readable {
		return out, err
	}
	n, err := a.Reader.CountCustomers(api.Plain(ctx), q)
	if err != nil {
		return nil, err
	}
	out.Data.Count = n
	return out, nil
}

// GetCustomer reads one customer.
func (a *API) GetCustomer(
	ctx context.Context, in customers.GetCustomerRequestObject,
) (customers.GetCustomerResponseObject, error) {
	choose, err := api.ReadFields(in.Params.Fields)
	if err != nil {
		return nil, err
	}
	c, err := a.Customers.Current(api.Plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}
	out, err := api.WithReferrer(api.Plain(ctx), a.Reader, choose, &c)
	return customers.GetCustomer200JSONResponse{Data: out}, err
}

// GetCustomerPoints reads a customer's figures and lots, now or as recorded at an instant.
func (a *API) GetCustomerPoints(
	ctx context.Context, in customers.GetCustomerPointsRequestObject,
) (customers.GetCustomerPointsResponseObject, error) {
	st, err := a.statement(api.Plain(ctx), in.CustomerID, in.Params.AsOf)
	if err != nil {
		return nil, err
	}

	zone := a.Programme().Location
	st.Sort(zone)
	if loyalty.Deref(in.Params.UsedUp) {
		used, err := a.used(api.Plain(ctx), st.Customer.ID, in.Params.AsOf)
		if err != nil {
			return nil, err
		}
		st.Lots = append(st.Lots, used...)
	}

	f, c := st.Figures, &st.Customer
	out := customers.CustomerPoints{
		Score: f.Score, Spent: f.Spent, Reserved: f.Reserved, Expired: f.Expired, Pending: f.Pending,
		Spendable: f.Spendable(), Debt: f.Debt,
		Lots: make([]customers.PointLot, len(st.Lots)), Expiring: expiring(st.Lots, c.LastActivityAt, zone),
	}

	for i, l := range st.Lots {
		out.Lots[i] = customers.PointLot{
			ID: l.ID, Points: l.Points, Remaining: l.Remaining, Reserved: l.Reserved, Spent: l.Spent, Expired: l.Expired,
			EarnedAt: common.Instant(l.EarnedAt), ExpiresAt: api.InstantOrNil(l.Expiry(c.LastActivityAt, zone)),
		}
	}

	return customers.GetCustomerPoints200JSONResponse{Data: out}, nil
}

func (a *API) statement(ctx context.Context, ref string, asOf *customers.AsOf) (st loyalty.Statement, err error) {
	if asOf == nil {
		err = a.Customers.Settled(ctx, func() (_ loyalty.Customer, err error) {
			st, err = a.Reader.Statement(ctx, loyalty.ID{}, ref)
			return st.Customer, err
		})
		return st, err
	}

	c, err := a.Customers.Current(ctx, ref)
	if err != nil {
		return st, err
	}

	at, err := loyalty.ParseInstant(*asOf)
	if err != nil {
		return st, contract.ErrInvalidParameter.With("parameter", "as_of").With("reason", "instant").At("as_of")
	}

	return a.Reader.StatementAt(ctx, c.ID, at)
}

// used returns the lots that are used up, now or as recorded at an instant.
func (a *API) used(ctx context.Context, customer loyalty.ID, asOf *customers.AsOf) ([]points.Lot, error) {
	var at time.Time
	if asOf != nil {
		var err error
		if at, err = loyalty.ParseInstant(*asOf); err != nil {
			return nil, err
		}
	}
	return a.Reader.UsedLots(ctx, customer, at)
}

// expiring sums the free points by the instant at which they expire, the earliest first. The lots are in that order;
// reserved points do not expire while they are held.
func expiring(lots []points.Lot, lastActivity time.Time, zone *time.Location) []customers.ExpiringPoints {
	out := []customers.ExpiringPoints{}
	for _, l := range lots {
		at := l.Expiry(lastActivity, zone)
		if at.IsZero() || l.Remaining == 0 {
			continue
		}
		if n := len(out); n > 0 && time.Time(out[n-1].ExpiresAt).Equal(at) {
			out[n-1].Points += l.Remaining
			continue
		}
		out = append(out, customers.ExpiringPoints{Points: l.Remaining, ExpiresAt: common.Instant(at)})
	}
	return out
}
