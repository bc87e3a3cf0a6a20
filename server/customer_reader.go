package server

import (
	"context"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// customerReader reads customers for the handlers of every API, with everything that is
// due for them applied.
type customerReader struct {
	reader loyalty.Reader
	engine Engine
	clock  func() time.Time
}

// current reads a customer after what is due was applied, so that no answer shows points
// that have expired. Where that cannot be written, such as on a read-only database, they
// are shown as they stand. It fails with loyalty.ErrCustomerNotFound.
func (r customerReader) current(ctx context.Context, ref string) (loyalty.Customer, error) {
	c, err := r.reader.Customer(ctx, ref)
	if err != nil {
		return c, err
	}
	if applied, err := r.applyDue(ctx, c); err != nil || !applied {
		return c, err
	}
	return r.reader.Customer(ctx, ref)
}

// currentID is current for an operation that needs the customer's id alone. A merged
// customer is the one they became part of.
func (r customerReader) currentID(ctx context.Context, ref string) (loyalty.ID, error) {
	c, err := r.current(ctx, ref)
	return c.ID, err
}

// applyDue applies what is due for a customer who is about to be shown, and says whether
// anything was. A database that cannot be written now is no failure: a read must not need
// that, and whether it can be read is for the read to find out.
func (r customerReader) applyDue(ctx context.Context, c loyalty.Customer) (bool, error) {
	if c.DueAt.IsZero() || c.DueAt.After(r.clock()) {
		return false, nil
	}
	err := r.engine.Settle(ctx, c.ID)
	if err != nil && loyalty.AsError(err).Kind == loyalty.Unavailable {
		err = nil
	}
	return true, err
}

// view shows the customer that a path names as the rules see one, with what is due
// applied, and records nothing. look may be called more than once and returns the
// run's errors as they are.
func (r customerReader) view(ctx context.Context, ref string, n loyalty.CustomerNeeds, look func(*engine.Run) error) error {
	name, err := r.exactName(plain(ctx), ref)
	if err != nil {
		return err
	}
	n.Ref = loyalty.Name{Kind: loyalty.NameCustomer, Value: name}
	return r.engine.View(plain(ctx), n, look)
}

// exactName gives a customer's own id for a reference in a path, which may be an
// external id written name:value. Only the engine knows whether there is such a
// customer.
func (r customerReader) exactName(ctx context.Context, ref string) (string, error) {
	if !strings.Contains(ref, ":") {
		return ref, nil
	}
	c, err := r.reader.Customer(ctx, ref)
	return c.Name, err
}
