package admin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// EntityChange is a change of one entity.
type EntityChange struct {
	Method string // of ChangeEntities: MethodCreate, MethodUpdate or MethodArchive
	Type   string
	ID     string          // on creation: empty lets the platform choose
	Data   json.RawMessage // the fields that are sent; in an update null removes one
	Sent   int             // of ChangeEntities: how many fields are sent; archiving takes none
	// Check checks the complete fields against the schema of the type and returns them in canonical
	// form.
	Check func(json.RawMessage) (json.RawMessage, error)
	// Read, if set, replaces Data and Check: it makes the complete fields from the present ones
	// (nil if the entity is created), by the types and attributes that the programme declares at
	// this point of a series of changes.
	Read func(p *programme.Programme, before json.RawMessage) (json.RawMessage, error)
}

// fields returns the entity's fields after the change, its days as instants of the programme's zone.
func (c EntityChange) fields(p *programme.Programme, before json.RawMessage) (json.RawMessage, error) {
	read := c.Read
	if read == nil {
		read = func(_ *programme.Programme, before json.RawMessage) (json.RawMessage, error) {
			if before == nil {
				return c.Check(c.Data)
			}
			return c.Check(PatchEntity(before, c.Data))
		}
	}

	data, err := read(p, before)
	if err != nil {
		return nil, err
	}

	return programme.Dated(data, p.Location), nil
}

// Entity returns an entity, even if it is archived. It fails with ErrEntityUnknown,
// ErrModuleOffPath or ErrEntityNotFound.
func (a *Admin) Entity(ctx context.Context, kind, id string) (loyalty.Entity, error) {
	if err := a.directory.Programme().CheckEntityType(kind); err != nil {
		return loyalty.Entity{}, err
	}
	e, ok, err := a.store.Entity(ctx, kind, id)
	if err == nil && !ok {
		err = loyalty.ErrEntityNotFound.With("type", kind).With("id", id)
	}
	return e, err
}

// CreateEntity adds an entity. Besides the failures of Entity it fails with
// ErrEntityExists, or with an error of kind Invalid that names the field.
func (a *Admin) CreateEntity(ctx context.Context, call Call, c EntityChange) (Done[loyalty.Entity], error) {
	return change(ctx, a, call, func(r *adminRun) (loyalty.Entity, error) { return a.create(r, c) },
		func(e loyalty.Entity) any { return e })
}

// create adds an entity. It refuses an id that an archived entity has, too: the journal names
// entities by id, and an id must mean one thing for ever.
func (a *Admin) create(r *adminRun, c EntityChange) (loyalty.Entity, error) {
	e := loyalty.Entity{Type: c.Type, ID: c.ID, CreatedAt: r.now, UpdatedAt: r.now}
	p, err := a.typeOf(r, c.Type)
	if err != nil {
		return e, err
	}

	if e.ID == "" {
		e.ID = a.nextID(r.now).String()
	} else if err := checkEntityID(e.Type, e.ID); err != nil {
		return e, err
	}

	if _, taken, err := r.entity(e.Type, e.ID); err != nil || taken {
		return e, errors.Join(err, taken409(taken, e.ID))
	}
	if e.Data, err = c.fields(p, nil); err != nil {
		return e, err
	}

	return e, r.saveEntity(e, "entity.create", nil)
}

func taken409(taken bool, id string) error {
	if !taken {
		return nil
	}
	return loyalty.ErrEntityExists.With("id", id).At("id")
}

// checkEntityID refuses an id that could not be addressed later: /rewards/claims/, for example, is
// the path of claims.
func checkEntityID(kind, id string) error {
	if kind == loyalty.RewardType && id == "claims" {
		return loyalty.ErrReservedName.With("property", "id").With("value", id).At("id")
	}
	err := loyalty.CheckName("id", id)
	var e *loyalty.Error
	if errors.As(err, &e) && len(e.Details) > 0 {
		return e.At("id")
	}
	return err
}

// UpdateEntity replaces the fields that are sent; null removes a field.
func (a *Admin) UpdateEntity(ctx context.Context, call Call, c EntityChange) (Done[loyalty.Entity], error) {
	return change(ctx, a, call, func(r *adminRun) (loyalty.Entity, error) { return a.update(r, c) },
		func(e loyalty.Entity) any { return e })
}

// update puts the changed fields over the present ones, so that a request names only what changes. Fields that must
// never change, because events depend on them, are compared before and after.
func (a *Admin) update(r *adminRun, c EntityChange) (loyalty.Entity, error) {
	e, err := a.found(r, c)
	if err != nil {
		return e, err
	}

	p, err := a.programme(r)
	if err != nil {
		return e, err
	}

	before := e.Data
	if e.Data, err = c.fields(p, before); err != nil {
		return e, err
	}
	if err := programme.CheckFixed(e.Type, before, e.Data); err != nil {
		return e, err
	}

	if unchanged(before, e.Data) {
		e.Data = before
		return e, nil
	}

	e.UpdatedAt = r.now
	return e, r.saveEntity(e, "entity.update", before)
}

// found returns the entity of a change. An archived one cannot be changed.
func (a *Admin) found(r *adminRun, c EntityChange) (loyalty.Entity, error) {
	if _, err := a.typeOf(r, c.Type); err != nil {
		return loyalty.Entity{}, err
	}
	e, ok, err := r.entity(c.Type, c.ID)
	switch {
	case err != nil:
		return e, err
	case !ok:
		return e, loyalty.ErrEntityNotFound.With("type", c.Type).With("id", c.ID)
	case !e.ArchivedAt.IsZero():
		return e, loyalty.ErrEntityArchived.With("id", c.ID)
	}
	return e, nil
}

// typeOf returns the programme at this point of the transaction, if it has the type; see
// CheckEntityType.
func (a *Admin) typeOf(r *adminRun, kind string) (*programme.Programme, error) {
	p, err := a.programme(r)
	if err != nil {
		return nil, err
	}
	return p, p.CheckEntityType(kind)
}

// programme returns the programme at this point of the transaction.
func (a *Admin) programme(r *adminRun) (*programme.Programme, error) {
	if r.compiled != nil {
		return r.compiled, nil
	}
	if a.directory != nil && !r.changed {
		if p := a.directory.Programme(); p != nil && p.Version == r.Snapshot.Version {
			return p, nil
		}
	}
	var err error
	r.compiled, err = r.registry.Compile(r.Snapshot)
	return r.compiled, err
}

// PatchEntity puts the changed fields over those of an entity: null removes one, any other value
// replaces it as a whole.
func PatchEntity(old, sent json.RawMessage) json.RawMessage {
	var fields, changes map[string]json.RawMessage
	if json.Unmarshal(old, &fields) != nil || json.Unmarshal(sent, &changes) != nil {
		return sent // not an object: the schema reports it
	}
	for name, value := range changes {
		if string(value) == "null" {
			delete(fields, name)
		} else {
			fields[name] = value
		}
	}
	return loyalty.JSON(fields)
}

// ArchiveEntity puts an entity out of force and keeps it. Archiving it again is no error. It fails
// with ErrEntityInUse while another entity refers to it.
func (a *Admin) ArchiveEntity(ctx context.Context, call Call, c EntityChange) (Done[loyalty.Entity], error) {
	return change(ctx, a, call, func(r *adminRun) (loyalty.Entity, error) { return a.archive(r, c) },
		func(e loyalty.Entity) any { return e })
}

func (a *Admin) archive(r *adminRun, c EntityChange) (loyalty.Entity, error) {
	if c.Sent > 0 {
		return loyalty.Entity{}, programme.NotWith("data", "method", MethodArchive)
	}
	e, err := a.found(r, c)
	if errors.Is(err, loyalty.ErrEntityArchived) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	e.ArchivedAt, e.UpdatedAt = r.now, r.now
	return e, r.saveEntity(e, "entity.archive", e.Data)
}

// saveEntity saves an entity if it makes a programme together with everything else. In a series it
// is written once the whole series is known.
func (r *adminRun) saveEntity(e loyalty.Entity, action string, before json.RawMessage) error {
	if r.registry.Reads(e.Type) {
		put := r.put
		if r.series != nil {
			put = r.series.put(r, before == nil)
		}
		if err := put(e); err != nil {
			return err
		}
	}

	write := func() error {
		if err := r.SaveEntity(e); err != nil {
			return err
		}
		after := any(e.Data)
		if !e.ArchivedAt.IsZero() {
			after = nil
		}
		return r.audit(action, e.Type+"/"+e.ID, rawOrNil(before), after)
	}

	if r.series == nil {
		return write()
	}

	r.series.saved[entityKey{e.Type, e.ID}] = e
	r.series.writes = append(r.series.writes, write)
	return nil
}

// entity returns an entity as it is at this point of the transaction.
func (r *adminRun) entity(kind, id string) (loyalty.Entity, bool, error) {
	if r.series != nil {
		if e, ok := r.series.saved[entityKey{kind, id}]; ok {
			return e, true, nil
		}
	}
	return r.Entity(kind, id)
}

// put puts an entity that rules read into the programme of the transaction.
func (r *adminRun) put(e loyalty.Entity) error {
	next := r.Snapshot
	next.Entities = r.with(e)
	compiled, err := r.registry.Compile(next)
	var f *programme.EntityFault
	if errors.As(err, &f) && (f.Type != e.Type || f.ID != e.ID) {
		return loyalty.ErrEntityInUse.With("by", f.Type+" "+f.ID).Because(err)
	}
	if err != nil {
		return err
	}
	r.Snapshot, r.compiled, r.changed = next, compiled, true
	return nil
}

// with returns what the programme is made of, together with an entity. The changed one comes last
// of its type, so that a conflict between two is reported on it.
func (r *adminRun) with(e loyalty.Entity) []loyalty.Entity {
	same := func(o loyalty.Entity) bool { return o.Type == e.Type && o.ID == e.ID }
	return append(slices.DeleteFunc(slices.Clone(r.Snapshot.Entities), same), e)
}

func rawOrNil(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return raw
}
