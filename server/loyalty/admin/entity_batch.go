package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// The kinds of change in a series.
const (
	MethodCreate  = "create"
	MethodUpdate  = "update"
	MethodArchive = "archive"
)

// EntityResult is the outcome of one change of a series.
type EntityResult struct {
	ID  string // of the entity
	Err error  // nil: the change was made
}

func (r EntityResult) failed() bool { return r.Err != nil }

// ChangeEntities makes a series of changes in one transaction, each on the result of those before it. With skip, a
// refused change is left out, and so are those that depend on it; without skip, the first refusal undoes all of them
// and is returned. Errors name fields by their place in the series, such as entities[3].data.title.
func (a *Admin) ChangeEntities(
	ctx context.Context, call Call, changes []EntityChange, skip bool,
) (Done[[]EntityResult], error) {
	return change(ctx, a, call, func(r *adminRun) ([]EntityResult, error) {
		found := r.Snapshot
		results, err := a.decide(r, changes, skip, false)
		if r.series.late && (err != nil || slices.ContainsFunc(results, EntityResult.failed) || r.checkSeries() != nil) {
			r.Snapshot, r.compiled, r.changed = found, nil, false
			results, err = a.decide(r, changes, skip, true)
		}
		for i := 0; err == nil && i < len(r.series.writes); i++ {
			err = r.series.writes[i]()
		}
		return results, err
	}, func(results []EntityResult) any { return results })
}

// series is a series of changes that is being decided. Compiling the programme for every change would take long, so the
// result is checked once at the end, and change by change only if that check refused something.
type series struct {
	strict bool // each change is checked in turn
	late   bool // a change waits for the check at the end
	saved  map[entityKey]loyalty.Entity
	writes []func() error
}

type entityKey struct{ kind, id string }

// decide decides each change, writing nothing.
func (a *Admin) decide(r *adminRun, changes []EntityChange, skip, strict bool) ([]EntityResult, error) {
	r.series = &series{strict: strict, saved: map[entityKey]loyalty.Entity{}}
	results := make([]EntityResult, len(changes))
	for i, c := range changes {
		e, err := a.changeOne(r, c)
		if err != nil {
			err = inSeries(i, err)
		}
		if err != nil && (!skip || !refuses(err)) {
			return nil, err
		}
		results[i] = EntityResult{e.ID, err}
	}
	return results, nil
}

// put adds an entity to the programme of the series. Nothing that exists can depend on a new
// entity, so only the new one is read.
func (s *series) put(r *adminRun, isNew bool) func(loyalty.Entity) error {
	switch {
	case isNew:
		return r.add
	case s.strict:
		return r.put
	}
	return func(e loyalty.Entity) error {
		if e.Type == programme.AttributeType { // later entities are read by it
			return r.put(e)
		}
		s.late, r.changed, r.Snapshot.Entities = true, true, r.with(e)
		return nil
	}
}

// add adds a new entity to the programme of the transaction.
func (r *adminRun) add(e loyalty.Entity) error {
	if r.compiled == nil {
		var err error
		if r.compiled, err = r.registry.Compile(r.Snapshot); err != nil {
			return err
		}
	}
	if err := r.compiled.Add(e); err != nil {
		r.compiled = nil // it may have been read in part
		return err
	}
	r.Snapshot.Entities, r.changed = append(slices.Clip(r.Snapshot.Entities), e), true
	return nil
}

// checkSeries checks that the result of a series makes a programme.
func (r *adminRun) checkSeries() error {
	_, err := r.registry.Compile(r.Snapshot)
	return err
}

func (a *Admin) changeOne(r *adminRun, c EntityChange) (loyalty.Entity, error) {
	switch {
	case c.Type == programme.TypeCustomer, c.Type == programme.TypeTransaction:
		return loyalty.Entity{}, loyalty.ErrEntityElsewhere.With("type", c.Type).With("method", c.Method)
	case c.Method != MethodCreate && c.ID == "":
		return loyalty.Entity{}, programme.Fault("id", loyalty.ErrPropertyEmpty.Name, nil)
	}

	switch c.Method {
	case MethodCreate:
		return a.create(r, c)
	case MethodUpdate:
		return a.update(r, c)
	case MethodArchive:
		return a.archive(r, c)
	}

	return loyalty.Entity{}, programme.Fault("method",
		"must_be_one_of", map[string]any{"values": []any{MethodCreate, MethodUpdate, MethodArchive}})
}

// refuses reports whether an error is about the change. A database fault is not, and ends the whole
// series.
func refuses(err error) bool {
	var e *loyalty.Error
	return errors.As(err, &e) && (e.Kind == loyalty.Invalid || loyalty.WorthStoring(err))
}

// inSeries names the fields of an error by their place in the series. An error without fields is
// about the type or the id, or about the change as a whole.
func inSeries(i int, err error) error {
	var e *loyalty.Error
	if !errors.As(err, &e) {
		return err
	}

	at := fmt.Sprintf("entities[%d]", i)
	switch {
	case errors.Is(err, loyalty.ErrEntityUnknown), errors.Is(err, loyalty.ErrModuleOffPath),
		errors.Is(err, loyalty.ErrEntityElsewhere):
		return e.At(at + ".type")
	case errors.Is(err, loyalty.ErrEntityNotFound), errors.Is(err, loyalty.ErrEntityArchived),
		errors.Is(err, loyalty.ErrEntityInUse):
		return e.At(at + ".id")
	case len(e.Details) == 0:
		return e.At(at)
	}

	own := *e
	own.Details = make([]loyalty.Detail, len(e.Details))
	for n, d := range e.Details {
		if d.Field != "id" && d.Field != "method" && d.Field != "data" && !strings.HasPrefix(d.Field, "data.") {
			d.Field = "data." + d.Field
		}
		d.Field = at + "." + d.Field
		own.Details[n] = d
	}

	return &own
}
