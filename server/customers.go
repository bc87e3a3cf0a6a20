package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// customersAPI answers the Customers API.
type customersAPI struct {
	reader    loyalty.Reader
	customers customerReader
	submitter submitter
	bulk      bulkOperations
	admin     *admin.Admin
	exports   exportsAPI
	programme func() *programme.Programme
	clock     func() time.Time
}

var _ customers.StrictServerInterface = (*customersAPI)(nil)

// ListCustomers lists the customers that match every filter, oldest first unless another order is requested.
func (a *customersAPI) ListCustomers(ctx context.Context, in customers.ListCustomersRequestObject) (customers.ListCustomersResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	choose, err := readFields(in.Params.Fields)
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
		if found, err = a.reader.Customers(plain(ctx), q); err != nil {
			return nil, err
		}
	}

	l := list.Linked(p, found, a.clock(), func(c loyalty.Customer) list.Cursor { return list.Cursor{At: c.CreatedAt, ID: c.ID[:]} })
	out := list.Render(l, choose.customer)
	return customerPage{out}, nameReferrers(plain(ctx), a.reader, choose, l.Entries, out.Entries)
}

// query is customerQuery with resolved references to customers.
func (a *customersAPI) query(ctx context.Context, search *string) (q loyalty.CustomerQuery, readable bool, err error) {
	if q, readable = customerQuery(ctx, a.programme(), requestOf(ctx).fields(), search); readable {
		q.Conditions, readable, err = byCustomer(plain(ctx), a.reader, "id", q.Conditions)
	}
	return q, readable, err
}

// customerQuery reads the filters of a list or a count on fields; readable is false if one of them can find nothing.
func customerQuery(ctx context.Context, p *programme.Programme, fields map[string]list.Field, search *string) (q loyalty.CustomerQuery, readable bool) {
	if search != nil {
		if strings.TrimSpace(*search) == "" {
			return q, false // blank text finds nothing
		}
		q.Search, q.SearchIn = *search, p.Searchable(programme.TypeCustomer)
		q.Whole = requestOf(ctx).sightless() // then it is an address; see questions
	}
	if q.Custom, readable = list.CustomFilter(p, programme.TypeCustomer, requestOf(ctx).query); !readable {
		return q, false
	}
	q.Conditions, readable = list.Conditions(requestOf(ctx).query, fields)
	q.Conditions = withoutOptedOut(q.Conditions)
	return q, readable
}

// withoutOptedOut removes customers who opted out from a list without a filter on the status: only figures are left of
// them.
func withoutOptedOut(conditions []loyalty.Condition) []loyalty.Condition {
	if slices.ContainsFunc(conditions, func(c loyalty.Condition) bool { return c.Field == "status" }) {
		return conditions
	}
	return append(conditions, loyalty.Condition{Field: "status", Operator: loyalty.Ne, Values: []any{string(loyalty.OptedOut)}})
}

// CountCustomers counts the customers that match every filter.
func (a *customersAPI) CountCustomers(ctx context.Context, in customers.CountCustomersRequestObject) (customers.CountCustomersResponseObject, error) {
	var out customers.CountCustomers200JSONResponse
	q, readable, err := a.query(ctx, in.Params.Search)
	if err != nil || !readable {
		return out, err
	}
	n, err := a.reader.CountCustomers(plain(ctx), q)
	if err != nil {
		return nil, err
	}
	out.Data.Count = n
	return out, nil
}

// GetCustomer reads one customer.
func (a *customersAPI) GetCustomer(ctx context.Context, in customers.GetCustomerRequestObject) (customers.GetCustomerResponseObject, error) {
	choose, err := readFields(in.Params.Fields)
	if err != nil {
		return nil, err
	}
	c, err := a.customers.current(plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}
	out, err := withReferrer(plain(ctx), a.reader, choose, &c)
	return customerAnswer(out), err
}

// GetCustomerPoints reads a customer's figures and lots, now or as recorded at an instant.
func (a *customersAPI) GetCustomerPoints(ctx context.Context, in customers.GetCustomerPointsRequestObject) (customers.GetCustomerPointsResponseObject, error) {
	st, err := a.statement(plain(ctx), in.CustomerID, in.Params.AsOf)
	if err != nil {
		return nil, err
	}

	zone := a.programme().Location
	st.Sort(zone)
	if loyalty.Deref(in.Params.UsedUp) {
		used, err := a.used(plain(ctx), st.Customer.ID, in.Params.AsOf)
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
			EarnedAt: common.Instant(l.EarnedAt), ExpiresAt: instantOrNil(l.Expiry(c.LastActivityAt, zone)),
		}
	}

	return pointsAnswer(out), nil
}

func (a *customersAPI) statement(ctx context.Context, ref string, asOf *customers.AsOf) (st loyalty.Statement, err error) {
	if asOf == nil {
		err = a.customers.settled(ctx, func() (_ loyalty.Customer, err error) {
			st, err = a.reader.Statement(ctx, loyalty.ID{}, ref)
			return st.Customer, err
		})
		return st, err
	}

	c, err := a.customers.current(ctx, ref)
	if err != nil {
		return st, err
	}

	at, err := loyalty.ParseInstant(*asOf)
	if err != nil {
		return st, contract.ErrInvalidParameter.With("parameter", "as_of").With("reason", "instant").At("as_of")
	}

	return a.reader.StatementAt(ctx, c.ID, at)
}

// used returns the lots that are used up, now or as recorded at an instant.
func (a *customersAPI) used(ctx context.Context, customer loyalty.ID, asOf *customers.AsOf) ([]points.Lot, error) {
	var at time.Time
	if asOf != nil {
		var err error
		if at, err = loyalty.ParseInstant(*asOf); err != nil {
			return nil, err
		}
	}
	return a.reader.UsedLots(ctx, customer, at)
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

// fieldSelection are the properties that a caller asked for; nil means all.
type fieldSelection []string

// customerProperties are the declared properties of a customer.
var customerProperties = append([]string{
	"id", "created_at", "updated_at", "status", "labels", "external_ids", "referrer", "score", "spent", "reserved", "expired", "pending", "spendable",
}, profileTexts()...)

func profileTexts() (names []string) {
	for _, field := range loyalty.ProfileTexts {
		names = append(names, field.Name)
	}
	return names
}

// readFields reads the parameter fields. It refuses a name that no customer can have; custom attributes begin with cf_.
func readFields(text *common.Fields) (fieldSelection, error) {
	if text == nil {
		return nil, nil
	}
	choose := fieldSelection{}
	for name := range strings.SplitSeq(*text, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(customerProperties, name) && !strings.HasPrefix(name, "cf_") {
			return nil, loyalty.ErrPropertyUnknown.With("property", name).At("fields")
		}
		choose = append(choose, name)
	}
	return choose, nil
}

func (f fieldSelection) has(name string) bool { return f == nil || slices.Contains(f, name) }

func (f fieldSelection) text(name, value string) *string {
	if !f.has(name) {
		return nil
	}
	return textOrNil(value)
}

func (f fieldSelection) points(name string, value int64) *int64 {
	if !f.has(name) {
		return nil
	}
	return &value
}

func (f fieldSelection) instant(name string, value time.Time) *common.Instant {
	if !f.has(name) {
		return nil
	}
	return instantOrNil(value)
}

// customer renders a customer, always with the id. For a customer who opted out it shows only properties that do not
// identify a person.
func (f fieldSelection) customer(c *loyalty.Customer) common.Customer {
	out := common.Customer{
		ID:        c.Name,
		CreatedAt: f.instant("created_at", c.CreatedAt), UpdatedAt: f.instant("updated_at", c.ChangedAt()),
		Score: f.points("score", c.Figures.Score), Spent: f.points("spent", c.Figures.Spent),
		Reserved: f.points("reserved", c.Figures.Reserved), Expired: f.points("expired", c.Figures.Expired),
		Pending: f.points("pending", c.Figures.Pending), Spendable: f.points("spendable", c.Figures.Spendable()),
	}

	if f.has("status") {
		status := common.CustomerStatus(c.Status)
		out.Status = &status
	}

	if c.Status != loyalty.OptedOut {
		f.profile(&c.Profile, &out)
	}

	return out
}

func (f fieldSelection) profile(p *loyalty.Profile, out *common.Customer) {
	out.Handler, out.Email = f.text("handler", p.Handler), f.text("email", p.Email)
	out.FirstName, out.LastName = f.text("first_name", p.FirstName), f.text("last_name", p.LastName)
	out.Gender, out.BirthDate = f.text("gender", p.Gender), f.text("birth_date", p.BirthDate)
	out.ImageURL = f.text("image_url", p.ImageURL)
	out.Language, out.Currency = f.text("language", p.Language), f.text("currency", p.Currency)
	if f.has("labels") {
		out.Labels = p.Labels
	}
	if f.has("external_ids") && p.ExternalIDs != nil {
		out.ExternalIds = &p.ExternalIDs
	}

	for name, value := range p.Custom {
		if !f.has(name) || slices.Contains(customerProperties, name) {
			continue // an attribute must not replace a property of ours
		}
		if out.AdditionalProperties == nil {
			out.AdditionalProperties = map[string]any{}
		}
		out.AdditionalProperties[name] = value
	}
}
