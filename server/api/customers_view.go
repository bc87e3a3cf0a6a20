package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// CustomerQuery reads the filters of a list or a count on fields; readable is false if one of them can find nothing.
func CustomerQuery(
	ctx context.Context, p *programme.Programme, fields map[string]list.Field, search *string,
) (q loyalty.CustomerQuery, readable bool) {
	if search != nil {
		if strings.TrimSpace(*search) == "" {
			return q, false // blank text finds nothing
		}
		q.Search, q.SearchIn = *search, p.Searchable(programme.TypeCustomer)
		q.Whole = RequestOf(ctx).PersonalHidden() // then it is an address; see questions
	}
	if q.Custom, readable = list.CustomFilter(p, programme.TypeCustomer, RequestOf(ctx).Query); !readable {
		return q, false
	}
	q.Conditions, readable = list.Conditions(RequestOf(ctx).Query, fields)
	q.Conditions = WithoutOptedOut(q.Conditions)
	return q, readable
}

// WithoutOptedOut removes customers who opted out from a list without a filter on the status: only figures are left of
// them.
func WithoutOptedOut(conditions []loyalty.Condition) []loyalty.Condition {
	if slices.ContainsFunc(conditions, func(c loyalty.Condition) bool { return c.Field == "status" }) {
		return conditions
	}
	return append(conditions,
		loyalty.Condition{Field: "status", Operator: loyalty.Ne, Values: []any{string(loyalty.OptedOut)}})
}

// FieldSelection are the properties that a caller asked for; nil means all.
type FieldSelection []string

// customerProperties are the declared properties of a customer.
var customerProperties = append([]string{
	"id", "created_at", "updated_at", "status", "labels", "external_ids",
	"referrer", "score", "spent", "reserved", "expired", "pending", "spendable",
}, profileTexts()...)

func profileTexts() (names []string) {
	for _, field := range loyalty.ProfileTexts {
		names = append(names, field.Name)
	}
	return names
}

// ReadFields reads the parameter fields. It refuses a name that no customer can have; custom attributes begin with cf_.
func ReadFields(text *common.Fields) (FieldSelection, error) {
	if text == nil {
		return nil, nil
	}
	choose := FieldSelection{}
	for name := range strings.SplitSeq(*text, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(customerProperties, name) && !strings.HasPrefix(name, "cf_") {
			return nil, loyalty.ErrPropertyUnknown.With("property", name).At("fields")
		}
		choose = append(choose, name)
	}
	return choose, nil
}

func (f FieldSelection) has(name string) bool { return f == nil || slices.Contains(f, name) }

func (f FieldSelection) text(name, value string) *string {
	if !f.has(name) {
		return nil
	}
	return TextOrNil(value)
}

func (f FieldSelection) points(name string, value int64) *int64 {
	if !f.has(name) {
		return nil
	}
	return &value
}

func (f FieldSelection) instant(name string, value time.Time) *common.Instant {
	if !f.has(name) {
		return nil
	}
	return InstantOrNil(value)
}

// Customer renders a customer, always with the id. For a customer who opted out it shows only properties that do not
// identify a person.
func (f FieldSelection) Customer(c *loyalty.Customer) common.Customer {
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

func (f FieldSelection) profile(p *loyalty.Profile, out *common.Customer) {
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

// WithReferrer is one customer for callers, with its referrer.
func WithReferrer(
	ctx context.Context, reader loyalty.Reader, choose FieldSelection, c *loyalty.Customer,
) (common.Customer, error) {
	out := []common.Customer{choose.Customer(c)}
	err := NameReferrers(ctx, reader, choose, []loyalty.Customer{*c}, out)
	return out[0], err
}

// NameReferrers adds the referrers of customers by their public names. Referrers who opted out are not named, and
// customers who opted out get none.
func NameReferrers(
	ctx context.Context, reader loyalty.Reader, choose FieldSelection, list []loyalty.Customer, out []common.Customer,
) error {
	var ids []loyalty.ID
	for i := range list {
		if id := list[i].Profile.Referrer; id != (loyalty.ID{}) &&
			list[i].Status != loyalty.OptedOut && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}

	if len(ids) == 0 || !choose.has("referrer") {
		return nil
	}

	names, err := reader.CustomerNames(ctx, ids)
	if err != nil {
		return err
	}

	for i := range list {
		if list[i].Status != loyalty.OptedOut {
			out[i].Referrer = TextOrNil(names[list[i].Profile.Referrer])
		}
	}

	return nil
}
