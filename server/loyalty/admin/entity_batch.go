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

// The methods of a change in a series.
const (
	MethodCreate  = "create"
	MethodUpdate  = "update"
	MethodArchive = "archive"
)

// EntityResult is the fate of one change of a series.
type EntityResult struct {
	ID  string // of the entity
	Err error  // nil: the change was made
}

func (r EntityResult) failed() bool { return r.Err != nil }

// ChangeEntities makes a series of changes in one transaction, each on what those
// before it left. With skip a change that is refused is left out, and so are those
// that need it; without, the first refusal undoes all of them and is the error.
// Errors name their fields from the series, such as entities[3].data.title.
func (a *Admin) ChangeEntities(ctx context.Context, call Call, changes []EntityChange, skip bool) (Done[[]EntityResult], error) {
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

// series is a series of changes that is being decided. To compile the programme
// for every change would take long, so what changes in it is checked in the end,
// late, and one by one only when something was refused.
type series struct {
	strict bool // each change is checked when its turn comes
	late   bool // a change waits for the check in the end
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

// put is how an entity comes into the programme of the series. What is there cannot
// need a new one, so only the new one is read.
func (s *series) put(r *adminRun, isNew bool) func(loyalty.Entity) error {
	switch {
	case isNew:
		return r.add
	case s.strict:
		return r.put
	}
	return func(e loyalty.Entity) error {
		if e.Type == programme.AttributeType { // what follows is read by it
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

// checkSeries makes sure that what a series left makes a programme.
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
	return loyalty.Entity{}, programme.Fault("method", "must_be_one_of", map[string]any{"values": []any{MethodCreate, MethodUpdate, MethodArchive}})
}

// refuses says whether an error speaks about the change: a fault of the database
// ends the whole series.
func refuses(err error) bool {
	var e *loyalty.Error
	return errors.As(err, &e) && (e.Kind == loyalty.Invalid || loyalty.WorthStoring(err))
}

// inSeries names the fields of an error from the series. What speaks of no field
// is about the type or the id, or about the change as a whole.
func inSeries(i int, err error) error {
	var e *loyalty.Error
	if !errors.As(err, &e) {
		return err
	}
	at := fmt.Sprintf("entities[%d]", i)
	switch {
	case errors.Is(err, loyalty.ErrEntityUnknown), errors.Is(err, loyalty.ErrModuleOffPath), errors.Is(err, loyalty.ErrEntityElsewhere):
		return e.At(at + ".type")
	case errors.Is(err, loyalty.ErrEntityNotFound), errors.Is(err, loyalty.ErrEntityArchived), errors.Is(err, loyalty.ErrEntityInUse):
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
