package server

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/entities"
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
	own := marshal(struct {
		Module string `json:"module"`
		Entity string `json:"entity"`
	}{"core", kind})
	return joinObjects(own, marshal(record))
}

func customerRecord(c loyalty.Customer) json.RawMessage {
	return coreRecord("customer", fieldSelection(nil).customer(&c))
}

// listCustomers lists customers as entities.
func (a *entitiesAPI) listCustomers(ctx context.Context, p list.Page, in entities.ListEntitiesParams) (entities.ListEntitiesResponseObject, error) {
	if err := onlyFilters(ctx, "status", "created_at", "search"); err != nil {
		return nil, err
	}
	var found []loyalty.Customer
	if q, readable := customerQuery(ctx, a.programme(), a.customerFields, in.Search); readable {
		q.Page = p.Store()
		var err error
		if found, err = a.reader.Customers(plain(ctx), q); err != nil {
			return nil, err
		}
	}
	l := list.Linked(p, found, a.clock(), func(c loyalty.Customer) list.Cursor { return list.Cursor{At: c.CreatedAt, ID: c.ID[:]} })
	return entitiesPage(l, customerRecord), nil
}

// onlyFilters refuses filters of entities that a list lacks. Filters on declared attributes were checked before.
func onlyFilters(ctx context.Context, names ...string) error {
	for _, q := range requestOf(ctx).query {
		name, _ := list.SplitOperator(q.Name)
		if !slices.Contains(names, name) && !slices.Contains([]string{"limit", "offset", "cursor"}, name) && !contract.IsCustom(name) {
			return errUnknownParameter.With("parameter", q.Name).At(q.Name)
		}
	}
	return nil
}

// updateCustomer changes a profile by an event, so that the journal has the change and rules react to it.
func (a *entitiesAPI) updateCustomer(ctx context.Context, id string) (entities.UpdateEntityResponseObject, error) {
	event, err := a.profileEvent(ctx, id)
	if err != nil {
		return nil, err
	}

	r := requestOf(ctx)
	event.Sender = r.key.ID
	language := r.language
	render := func(o loyalty.Outcome, err error) (int, []byte) {
		if err != nil {
			return errorBody(language, customerAction{}.inRequest(err))
		}
		return http.StatusOK, recordAnswer(customerRecord(o.Customer))
	}

	if key, hash, ok := r.idempotency(httpRequest(ctx)); ok {
		event.Idempotency = &loyalty.Idempotency{AnswerKey: key, Hash: hash, Render: render, Language: language.texts}
	}

	outcome, err := a.engine.Submit(plain(ctx), event)
	switch {
	case err != nil:
		return nil, customerAction{}.inRequest(err)
	case outcome.Replayed != nil:
		return replay(language, outcome.Replayed), nil
	}

	status, body := render(outcome, nil)
	return rawResponse{status: status, body: body}, nil
}

// recordAnswer is the answer of one record.
func recordAnswer(record json.RawMessage) []byte {
	return marshal(struct {
		Data json.RawMessage `json:"data"`
	}{record})
}

// purchaseFields are the fields to filter purchases by as entities.
var purchaseFields = map[string]list.Field{
	"id":         {Kind: list.Text, ID: true},
	"status":     {Kind: list.Choice, Choices: transactionStates()},
	"created_at": {Kind: list.Instant},
}

// listTransactions lists the purchases of a customer as entities, the newest first. It needs a customer, because there
// is no index to read all purchases by.
func (a *entitiesAPI) listTransactions(ctx context.Context, p list.Page, customer *string) (entities.ListEntitiesResponseObject, error) {
	if err := onlyFilters(ctx, "id", "status", "created_at", "customer"); err != nil {
		return nil, err
	}
	if customer == nil {
		return nil, loyalty.ErrPropertyEmpty.With("property", "customer").At("customer")
	}
	if *customer == "" {
		return nil, loyalty.ErrCustomerNotFound
	}

	filters, readable := list.Conditions(requestOf(ctx).query, purchaseFields)
	found, c, err := a.journal.purchasesOf(ctx, p, loyalty.TransactionQuery{Ref: *customer, Conditions: filters}, readable)
	if err != nil {
		return nil, err
	}

	return entitiesPage(found, func(t common.Transaction) json.RawMessage { return purchaseRecord(c, t) }), nil
}

// readTransaction reads a purchase as an entity.
func (a *entitiesAPI) readTransaction(ctx context.Context, id string) (entities.GetEntityResponseObject, error) {
	t, c, err := a.journal.purchase(ctx, "", id)
	return rawResponse{status: http.StatusOK, body: recordAnswer(purchaseRecord(c, t))}, err
}

// purchaseRecord renders a purchase as an entity, with its customer unless the customer left.
func purchaseRecord(c loyalty.Customer, t common.Transaction) json.RawMessage {
	own := coreRecord("transaction", t)
	if c.Status == loyalty.OptedOut {
		return own
	}
	return joinObjects(own, marshal(map[string]string{"customer": c.Name}))
}

// profileAction is the action of the event that changes a profile.
const profileAction = "profile"

// profileEvent makes the event of an update. Its properties are those of the action, without those that belong to no
// profile.
func (a *entitiesAPI) profileEvent(ctx context.Context, id string) (loyalty.Submission, error) {
	s := loyalty.Submission{Action: profileAction, Checked: true}
	body, err := parseBody(httpRequest(ctx).Header, requestOf(ctx).body)
	if err != nil {
		return s, err
	}

	sent, cleared, err := a.vocabulary.Update(profileAction, body, "opt_in", contract.TimestampProperty)
	if err != nil {
		return s, err
	}

	if _, all := cleared["external_ids"]; all {
		if cleared["external_ids"], err = a.noExternalIDs(plain(ctx), id); err != nil {
			return s, err
		}
	}

	maps.Copy(sent, cleared) // an e-mail address must have the format, unless it is removed
	s.Data = contract.AppendJSON(nil, sent)
	s.Customer, err = a.customers.exactName(plain(ctx), id)
	return s, err
}

// noExternalIDs is the change that removes every external id of a customer.
func (a *entitiesAPI) noExternalIDs(ctx context.Context, id string) (map[string]any, error) {
	c, err := a.reader.Customer(ctx, id)
	none := make(map[string]any, len(c.Profile.ExternalIDs))
	for name := range c.Profile.ExternalIDs {
		none[name] = nil
	}
	return none, err
}
