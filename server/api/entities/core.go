package entities

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/entities"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// elsewhere refuses a change of customers and purchases, which only events can change.
func elsewhere(kind, method string) error {
	if kind != programme.TypeCustomer && kind != programme.TypeTransaction {
		return nil
	}
	return loyalty.ErrEntityElsewhere.With("type", kind).With("method", method)
}

// coreRecord writes a record of another API as an entity.
func coreRecord(kind string, record any) json.RawMessage {
	own := api.Marshal(struct {
		Module string `json:"module"`
		Entity string `json:"entity"`
	}{"core", kind})
	return api.JoinObjects(own, api.Marshal(record))
}

func customerRecord(c loyalty.Customer) json.RawMessage {
	return coreRecord("customer", api.FieldSelection(nil).Customer(&c))
}

// listCustomers lists customers as entities.
func (a *API) listCustomers(
	ctx context.Context, p list.Page, in entities.ListEntitiesParams,
) (entities.ListEntitiesResponseObject, error) {
	if err := onlyFilters(ctx, "status", "created_at", "search"); err != nil {
		return nil, err
	}
	var found []loyalty.Customer
	if q, readable := api.CustomerQuery(ctx, a.Programme(), a.CustomerFields, in.Search); readable {
		q.Page = p.Store()
		var err error
		if found, err = a.Reader.Customers(api.Plain(ctx), q); err != nil {
			return nil, err
		}
	}
	l := list.Linked(p, found, a.Clock(),
		func(c loyalty.Customer) list.Cursor { return list.Cursor{At: c.CreatedAt, ID: c.ID[:]} })
	return entitiesPage(l, customerRecord), nil
}

// onlyFilters refuses filters of entities that a list lacks. Filters on declared attributes were checked before.
func onlyFilters(ctx context.Context, names ...string) error {
	for _, q := range api.RequestOf(ctx).Query {
		name, _ := list.SplitOperator(q.Name)
		if !slices.Contains(names, name) &&
			!slices.Contains([]string{"limit", "offset", "cursor"}, name) && !contract.IsCustom(name) {
			return api.ErrUnknownParameter.With("parameter", q.Name).At(q.Name)
		}
	}
	return nil
}

// updateCustomer changes a profile by an event, so that the journal has the change and rules react to it.
func (a *API) updateCustomer(ctx context.Context, id string) (entities.UpdateEntityResponseObject, error) {
	event, err := a.profileEvent(ctx, id)
	if err != nil {
		return nil, err
	}

	r := api.RequestOf(ctx)
	event.Sender = r.Key.ID
	language := r.Language
	render := func(o loyalty.Outcome, err error) (int, []byte) {
		if err != nil {
			return api.ErrorBody(language, api.CustomerAction{}.InRequest(err))
		}
		return http.StatusOK, recordAnswer(customerRecord(o.Customer))
	}

	if key, hash, ok := r.Idempotency(api.HTTPRequest(ctx)); ok {
		event.Idempotency = &loyalty.Idempotency{AnswerKey: key, Hash: hash, Render: render, Language: language.Texts}
	}

	outcome, err := a.Engine.Submit(api.Plain(ctx), event)
	switch {
	case err != nil:
		return nil, api.CustomerAction{}.InRequest(err)
	case outcome.Replayed != nil:
		return api.Replay(language, outcome.Replayed), nil
	}

	status, body := render(outcome, nil)
	return api.RawResponse{Status: status, Body: body}, nil
}

// recordAnswer is the answer of one record.
func recordAnswer(record json.RawMessage) []byte {
	return api.Marshal(struct {
		Data json.RawMessage `json:"data"`
	}{record})
}

// purchaseFields are the fields to filter purchases by as entities.
var purchaseFields = map[string]list.Field{
	"id":         {Kind: list.Text, ID: true},
	"status":     {Kind: list.Choice, Choices: api.TransactionStates()},
	"created_at": {Kind: list.Instant},
}

// listTransactions lists the purchases of a customer as entities, the newest first. It needs a customer, because there
// is no index to read all purchases by.
func (a *API) listTransactions(
	ctx context.Context, p list.Page, customer *string,
) (entities.ListEntitiesResponseObject, error) {
	if err := onlyFilters(ctx, "id", "status", "created_at", "customer"); err != nil {
		return nil, err
	}
	if customer == nil {
		return nil, loyalty.ErrPropertyEmpty.With("property", "customer").At("customer")
	}
	if *customer == "" {
		return nil, loyalty.ErrCustomerNotFound
	}

	filters, readable := list.Conditions(api.RequestOf(ctx).Query, purchaseFields)
	found, c, err := a.Journal.PurchasesOf(ctx, p, loyalty.TransactionQuery{Ref: *customer, Conditions: filters}, readable)
	if err != nil {
		return nil, err
	}

	return entitiesPage(found, func(t common.Transaction) json.RawMessage { return purchaseRecord(c, t) }), nil
}

// readTransaction reads a purchase as an entity.
func (a *API) readTransaction(ctx context.Context, id string) (entities.GetEntityResponseObject, error) {
	t, c, err := a.Journal.Purchase(ctx, "", id)
	return api.RawResponse{Status: http.StatusOK, Body: recordAnswer(purchaseRecord(c, t))}, err
}

// purchaseRecord renders a purchase as an entity, with its customer unless the customer left.
func purchaseRecord(c loyalty.Customer, t common.Transaction) json.RawMessage {
	own := coreRecord("transaction", t)
	if c.Status == loyalty.OptedOut {
		return own
	}
	return api.JoinObjects(own, api.Marshal(map[string]string{"customer": c.Name}))
}

// profileAction is the action of the event that changes a profile.
const profileAction = "profile"

// profileEvent makes the event of an update. Its properties are those of the action, without those that belong to no
// profile.
func (a *API) profileEvent(ctx context.Context, id string) (loyalty.Submission, error) {
	s := loyalty.Submission{Action: profileAction, Checked: true}
	body, err := api.ParseBody(api.HTTPRequest(ctx).Header, api.RequestOf(ctx).Body)
	if err != nil {
		return s, err
	}

	sent, cleared, err := a.Vocabulary.Update(profileAction, body, "opt_in", contract.TimestampProperty)
	if err != nil {
		return s, err
	}

	if _, all := cleared["external_ids"]; all {
		if cleared["external_ids"], err = a.noExternalIDs(api.Plain(ctx), id); err != nil {
			return s, err
		}
	}

	maps.Copy(sent, cleared) // an e-mail address must have the format, unless it is removed
	s.Data = contract.AppendJSON(nil, sent)
	s.Customer, err = a.Customers.ExactName(api.Plain(ctx), id)
	return s, err
}

// noExternalIDs is the change that removes every external id of a customer.
func (a *API) noExternalIDs(ctx context.Context, id string) (map[string]any, error) {
	c, err := a.Reader.Customer(ctx, id)
	none := make(map[string]any, len(c.Profile.ExternalIDs))
	for name := range c.Profile.ExternalIDs {
		none[name] = nil
	}
	return none, err
}
