package display

import (
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// catalogue is a type of entity whose entities are listed as activities. E is the generated type of an entry.
type catalogue[T, E any] struct {
	entities *programme.EntityType[T]
	// render shows an entity to a customer. Its entry is an E, or nil if the entity is not for this customer.
	render func(r *engine.Run, language *api.Localizer, entity T) (api.Activity, error)
	// needs is what render reads of the customer.
	needs loyalty.CustomerNeeds
	// listNeeds is what a list reads in one round trip; nil for needs.
	listNeeds func(p *programme.Programme) loyalty.CustomerNeeds
}

// activities renders all entities that are for the customer.
func (c *catalogue[T, E]) activities(r *engine.Run, language *api.Localizer) ([]api.Activity, error) {
	all, err := api.ActivitiesOf(c.entities.Of(r.Programme), func(entity T) (api.Activity, error) {
		return c.render(r, language, entity)
	})
	return slices.DeleteFunc(all, func(e api.Activity) bool { return e.Entry == nil }), err
}

// overview renders the active entities, without filters.
func (c *catalogue[T, E]) overview(r *engine.Run, language *api.Localizer) ([]any, error) {
	all, err := c.activities(r, language)
	return api.Entries[any](api.ActiveOnly(nil, all)), err
}

// one reads the entity that a path names, as the customer sees it. It fails with ErrEntityNotFound.
func (c *catalogue[T, E]) one(ctx context.Context, a *API, customer, id string) (entry E, err error) {
	err = a.Customers.View(ctx, customer, c.needs, func(r *engine.Run) error {
		entity, err := api.Lookup(c.entities.Of(r.Programme), c.entities.Type, id)
		if err != nil {
			return err
		}
		one, err := c.render(r, api.RequestOf(ctx).Language, entity)
		if err != nil {
			return err
		}
		entry = one.Entry.(E)
		return nil
	})
	return entry, err
}

// listRequest is what a request for a list of a customer's activities says.
type listRequest struct {
	customer string
	limit    *common.Limit
	offset   *common.Offset
	order    list.Order
}

// page reads a page of the catalogue.
func (c *catalogue[T, E]) page(ctx context.Context, a *API, q listRequest) (l list.Links[E], err error) {
	p, err := api.PageOf(ctx, q.limit, q.offset, nil)
	if err != nil {
		return l, err
	}

	needs := c.needs
	if c.listNeeds != nil {
		needs = c.listNeeds(a.Programme())
	}

	err = a.Customers.View(ctx, q.customer, needs, func(r *engine.Run) error {
		all, err := c.activities(r, api.RequestOf(ctx).Language)
		if err != nil {
			return err
		}
		l = api.ChosenActivities[E](p, r.Programme, c.entities.Type, all, q.order, a.Clock())
		return nil
	})
	return l, err
}
