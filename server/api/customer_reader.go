package api

import (
	"context"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// CustomerReader reads customers for the handlers of every API, after applying everything that is due for them.
type CustomerReader struct {
	Reader loyalty.Reader
	Engine Engine
	Clock  func() time.Time
}

// Current reads a customer after applying what is due, so that no answer shows expired points. If that cannot be
// written, for example on a read-only database, it returns the customer as stored. It fails with
// loyalty.ErrCustomerNotFound.
func (r CustomerReader) Current(ctx context.Context, ref string) (loyalty.Customer, error) {
	var c loyalty.Customer
	err := r.Settled(ctx, func() (_ loyalty.Customer, err error) {
		c, err = r.Reader.Customer(ctx, ref)
		return c, err
	})
	return c, err
}

// Settled runs read, which also returns the customer. If anything is due for that customer, it applies it and runs read
// again. So a customer with nothing due is read once.
func (r CustomerReader) Settled(ctx context.Context, read func() (loyalty.Customer, error)) error {
	c, err := read()
	if err != nil {
		return err
	}
	if applied, err := r.applyDue(ctx, c); err != nil || !applied {
		return err
	}
	_, err = read()
	return err
}

// page reads a page of a list. ref names the customer of the list, who is settled; without it the list is of all
// customers. A list that can find nothing is not read, but its customer must exist.
func (r CustomerReader) page(
	ctx context.Context, ref string, readable bool, read func() (loyalty.Customer, error),
) (err error) {
	switch {
	case readable && ref != "":
		return r.Settled(ctx, read)
	case readable:
		_, err = read()
	case ref != "":
		_, err = r.Current(ctx, ref)
	}
	return err
}

// applyDue applies what is due for a customer who is about to be shown, and reports whether it applied anything. A
// database that cannot be written is no failure, because a read must not need that.
func (r CustomerReader) applyDue(ctx context.Context, c loyalty.Customer) (bool, error) {
	if c.DueAt.IsZero() || c.DueAt.After(r.Clock()) {
		return false, nil
	}
	err := r.Engine.Settle(ctx, c.ID)
	if err != nil && loyalty.AsError(err).Kind == loyalty.Unavailable {
		err = nil
	}
	return true, err
}

// View runs look on the customer of a path as the rules see it, with what is due applied, and records nothing. look may
// be called more than once and must return the run's errors unchanged.
func (r CustomerReader) View(
	ctx context.Context, ref string, n loyalty.CustomerNeeds, look func(*engine.Run) error,
) error {
	name, err := r.ExactName(Plain(ctx), ref)
	if err != nil {
		return err
	}
	n.Ref = loyalty.Name{Kind: loyalty.NameCustomer, Value: name}
	return r.Engine.View(Plain(ctx), n, look)
}

// ExactName returns a customer's own id for a reference in a path, which may be an external id written name:value. Only
// the engine knows whether the customer exists.
func (r CustomerReader) ExactName(ctx context.Context, ref string) (string, error) {
	if !strings.Contains(ref, ":") {
		return strings.TrimSpace(ref), nil
	}
	c, err := r.Reader.Customer(ctx, ref)
	return c.Name, err
}

// ByCustomer replaces references to customers in the conditions on a field by internal ids; ok is false if none of the
// customers exists.
func ByCustomer(
	ctx context.Context, reader loyalty.Reader, field string, conditions []loyalty.Condition,
) (_ []loyalty.Condition, ok bool, err error) {
	for i := range conditions {
		c := &conditions[i]
		if c.Field != field {
			continue
		}

		refs := make([]string, len(c.Values))
		for k, v := range c.Values {
			refs[k] = v.(string)
		}

		known, err := reader.CustomerIDs(ctx, refs)
		if err != nil {
			return nil, false, err
		}

		var ids []any
		for _, ref := range refs {
			if id, ok := known[ref]; ok {
				ids = append(ids, id)
			}
		}

		if c.Values = ids; len(ids) == 0 {
			return nil, false, nil
		}
	}

	return conditions, true, nil
}
