package admin

import (
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// entitiesAtOnce is how many entities are read at a time if their contents decide whether they are
// listed.
const entitiesAtOnce = 1000

// Entities lists entities of a type. It fails with ErrEntityUnknown or
// ErrModuleOffPath.
func (a *Admin) Entities(ctx context.Context, q loyalty.EntityQuery) ([]loyalty.Entity, error) {
	if err := a.directory.Programme().CheckEntityType(q.Type); err != nil {
		return nil, err
	}

	switch {
	// the database filters and pages by itself
	case q.Fits == nil:
		return a.store.Entities(ctx, q)
	case q.Sort == "" || q.Sort == loyalty.SortCreated:
		return a.walkEntities(ctx, q)
	}

	// an order other than that of creation has no position to continue from, so all entities are read, sorted by the
	// database
	all := q
	all.Page = loyalty.Page{}
	list, err := a.store.Entities(ctx, all)
	list = slices.DeleteFunc(list, func(e loyalty.Entity) bool { return !q.Fits(e) })
	list = list[min(q.Page.Offset, len(list)):]
	if q.Page.Limit > 0 {
		list = list[:min(q.Page.Limit, len(list))]
	}

	return list, err
}

// walkEntities reads from the page's place until the page is full. It reads a thousand at a time
// and keeps those that fit, so that a page of a large catalogue needs no memory for the rest.
func (a *Admin) walkEntities(ctx context.Context, q loyalty.EntityQuery) ([]loyalty.Entity, error) {
	var found []loyalty.Entity
	skip := q.Page.Offset
	if q.After != nil || q.Before != nil {
		skip = 0
	}

	part, back := q, q.After == nil && q.Before != nil
	part.Page = loyalty.Page{Limit: entitiesAtOnce}
	for {
		list, err := a.store.Entities(ctx, part)
		if err != nil || len(list) == 0 {
			return found, err
		}

		edge := list[len(list)-1]
		if back {
			edge = list[0]
		}

		at := &loyalty.EntityPlace{At: edge.CreatedAt, ID: edge.ID}
		more := len(list) == entitiesAtOnce
		// the list is this call's own, but its ends were needed before
		fitting := slices.DeleteFunc(list, func(e loyalty.Entity) bool { return !q.Fits(e) })
		if back {
			found, part.Before = append(fitting, found...), at
		} else {
			from := min(skip, len(fitting))
			skip -= from
			found, part.After = append(found, fitting[from:]...), at
		}

		if n := q.Page.Limit; n > 0 && len(found) >= n {
			if back {
				return found[len(found)-n:], nil
			}
			return found[:n], nil
		}

		if !more {
			return found, nil
		}
	}
}
