package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// adminStore keeps the state of administration: keys, modules, settings, entities, and the audit trail.
type adminStore struct{ *database }

// Change runs work in one transaction that no other change overlaps: it begins by locking the row of the programme's
// version.
func (s adminStore) Change(ctx context.Context, work func(loyalty.AdminTx) error) error {
	if s.broken() {
		return loyalty.ErrDamaged
	}
	defer s.rest()

	if s.told != nil {
		defer func(began time.Time) { s.told(ctx, "change", began) }(time.Now())
	}

	var failed error
	worked := false
	err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		var locked versionRow
		if err := db.Clauses(clause.Locking{Strength: "UPDATE"}).Take(&locked, 1).Error; err != nil {
			return err
		}
		failed = work(&adminTx{s, db, locked.Version})
		if worked = failed == nil; worked {
			s.passes(ChangeWritten)
		}
		return failed
	})

	switch {
	case failed != nil:
		return failed
	case worked && err != nil && !s.refused(err):
		err = fmt.Errorf("%w: %w", loyalty.ErrOutcomeUnknown, err) // only the commit was outstanding
	case err == nil:
		s.passes(ChangeCommitted)
	}

	return s.fault(err)
}

// Snapshot reads keys, modules, settings and the entities of some types as of one version.
func (s adminStore) Snapshot(ctx context.Context, types []string) (loyalty.Snapshot, error) {
	var rows snapshotRows
	err := s.asks(ctx, append(s.patience(), rows.questions(s.read.WithContext(ctx), types)...)...)
	return s.snapshotOf(&rows), err
}

// Version is the programme's version; it grows with every change.
func (s adminStore) Version(ctx context.Context) (int64, error) {
	var row versionRow
	err := s.read.WithContext(ctx).Take(&row, 1).Error
	return row.Version, s.fault(err)
}

// KeysUsed records when keys were last used. It ignores an instant earlier than the recorded one.
func (s adminStore) KeysUsed(ctx context.Context, used map[string]time.Time) error {
	return s.fault(s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		for _, id := range slices.Sorted(maps.Keys(used)) { // same order on every node: no deadlock
			at := Millis(used[id])
			err := db.Model(&accessKeyRow{}).Where("id = ? AND (last_used_at IS NULL OR last_used_at < ?)", id, at).
				Update("last_used_at", at).Error
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// snapshotRows are the rows of everything that is configured.
type snapshotRows struct {
	version  []versionRow
	settings []settingsRow
	modules  []moduleRow
	keys     []accessKeyRow
	secrets  []secretRow
	entities []entityRow
}

// questions returns the queries that read the rows.
func (r *snapshotRows) questions(db *gorm.DB, types []string) []question {
	entities := db.Order("created_at, id")
	if !slices.Contains(types, loyalty.EveryType) {
		entities = entities.Where("type IN ?", types)
	}
	return []question{
		modelled(db, &r.version), modelled(db, &r.settings), modelled(db.Order("name"), &r.modules),
		modelled(db.Order("created_at, id"), &r.keys), modelled(db.Order("key_id, id DESC"), &r.secrets), modelled(entities, &r.entities),
	}
}

func (s adminStore) snapshotOf(r *snapshotRows) (snapshot loyalty.Snapshot) {
	for _, v := range r.version {
		snapshot.Version = v.Version
	}

	for _, v := range r.settings {
		snapshot.Settings = loyalty.Settings{
			Currency: v.Currency, TimeZone: v.TimeZone, AcceptanceWindow: time.Duration(v.AcceptanceWindow) * time.Millisecond,
		}
	}

	for _, m := range r.modules {
		snapshot.Modules = append(snapshot.Modules, loyalty.ModuleState{Name: m.Name, Enabled: m.Enabled, Config: json.RawMessage(m.Config)})
	}

	snapshot.Entities = entitiesOf(r.entities)
	snapshot.Keys, snapshot.Unreadable = s.keys(r.keys, r.secrets)
	return snapshot
}

// keys joins the keys with their secrets, newest first. A secret that cannot be opened is left out and its key is
// named: it must not make the other keys unusable.
func (s adminStore) keys(rows []accessKeyRow, secrets []secretRow) (all []loyalty.AccessKey, unreadable []string) {
	opened := map[string][]loyalty.Secret{}
	for _, r := range secrets {
		value, err := s.sealer.open(secretID(r.KeyID, r.ID), r.Sealed)
		if err != nil {
			unreadable = append(unreadable, r.KeyID)
			continue
		}
		opened[r.KeyID] = append(opened[r.KeyID], loyalty.Secret{
			Value: string(value), CreatedAt: r.CreatedAt.Time(), ExpiresAt: r.ExpiresAt.Time(),
		})
	}

	keys := make([]loyalty.AccessKey, len(rows))
	for i, r := range rows {
		keys[i] = loyalty.AccessKey{
			ID: r.ID, Label: r.Label, APIs: r.APIs.V, ReadOnly: r.ReadOnly, Addresses: r.Addresses.V, RateLimit: r.RateLimit,
			CreatedAt: r.CreatedAt.Time(), ExpiresAt: r.ExpiresAt.Time(), RevokedAt: r.RevokedAt.Time(),
			LastUsedAt: r.LastUsedAt.Time(), Secrets: opened[r.ID],
		}
	}

	return keys, unreadable
}

// adminTx is an administrative transaction in progress.
type adminTx struct {
	s       adminStore
	db      *gorm.DB
	version int64 // of the programme
}

// Version is the programme's version as the transaction found it.
func (t *adminTx) Version() int64 { return t.version }

func (t *adminTx) Snapshot(types []string) (loyalty.Snapshot, error) {
	var rows snapshotRows
	err := runAll(t.db.Statement.Context, t.db.Statement.ConnPool, rows.questions(t.db, types))
	return t.s.snapshotOf(&rows), t.s.fault(err)
}

// grow increments the version, so that every node sees that its snapshot is old.
func (t *adminTx) grow(err error) error {
	if err == nil {
		err = t.db.Model(&versionRow{ID: 1}).Update("version", gorm.Expr("version + 1")).Error
	}
	return t.s.fault(err)
}

func upsert(db *gorm.DB) *gorm.DB { return db.Clauses(clause.OnConflict{UpdateAll: true}) }

// SaveKey writes a key and exactly its secrets. It leaves the time of last use, which KeysUsed records.
func (t *adminTx) SaveKey(k loyalty.AccessKey) error {
	row := accessKeyRow{
		ID: k.ID, Label: k.Label, APIs: Document[[]string]{k.APIs}, ReadOnly: k.ReadOnly,
		Addresses: Document[[]string]{k.Addresses}, RateLimit: k.RateLimit,
		CreatedAt: Millis(k.CreatedAt), ExpiresAt: Millis(k.ExpiresAt), RevokedAt: Millis(k.RevokedAt),
	}

	changing := clause.AssignmentColumns([]string{"label", "apis", "read_only", "addresses", "rate_limit", "expires_at", "revoked_at"})
	err := t.db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: changing}).Create(&row).Error
	if err == nil {
		err = t.db.Where("key_id = ?", k.ID).Delete(&secretRow{}).Error
	}
	if err == nil && len(k.Secrets) > 0 {
		err = t.db.Create(t.s.seal(k)).Error
	}

	return t.grow(err)
}

// seal makes the rows of a key's secrets, with ids that sort by age.
func (s adminStore) seal(k loyalty.AccessKey) []secretRow {
	var rows []secretRow
	var last loyalty.ID
	for _, secret := range slices.Backward(k.Secrets) {
		last = loyalty.NewID(secret.CreatedAt, last)
		rows = append(rows, secretRow{
			KeyID: k.ID, ID: UUID(last), Sealed: s.sealer.seal(secretID(k.ID, UUID(last)), []byte(secret.Value)),
			CreatedAt: Millis(secret.CreatedAt), ExpiresAt: Millis(secret.ExpiresAt),
		})
	}
	return rows
}

func (t *adminTx) SaveModule(m loyalty.ModuleState) error {
	return t.grow(upsert(t.db).Create(&moduleRow{Name: m.Name, Enabled: m.Enabled, Config: Raw(m.Config)}).Error)
}

func (t *adminTx) SaveSettings(v loyalty.Settings) error {
	return t.grow(upsert(t.db).Create(&settingsRow{
		ID: 1, Currency: v.Currency, TimeZone: v.TimeZone, AcceptanceWindow: v.AcceptanceWindow.Milliseconds(),
	}).Error)
}

func (t *adminTx) Audit(e loyalty.AuditEntry) error {
	return t.s.fault(t.db.Create(&auditRow{
		ID: UUID(e.ID), At: Millis(e.At), Actor: e.Actor, ActorKind: string(e.ActorKind), Action: e.Action, Target: e.Target,
		Before: Raw(e.Before), After: Raw(e.After),
	}).Error)
}

// auditColumns are the fields of an audit entry that can be filtered.
var auditColumns = map[string]filterColumn{
	"action":     {expression: "action", few: true},
	"target":     {expression: "target"},
	"key_id":     {expression: "actor"},
	"actor_kind": {expression: "actor_kind"},
	"at":         {expression: "at"},
}

// AuditLog lists administrative changes, the newest first.
func (s adminStore) AuditLog(ctx context.Context, q loyalty.AuditQuery) ([]loyalty.AuditEntry, error) {
	where, err := sqlFragment{}.andAll(auditColumns, q.Conditions)
	if err != nil {
		return nil, err
	}

	text, backwards := newestFirst("audit", where, q.Page).sql()
	rows, err := readPage[auditRow](s.read.WithContext(ctx).Raw(text.text, text.args...))
	if err != nil {
		return nil, s.fault(err)
	}

	list := make([]loyalty.AuditEntry, len(rows))
	for i, r := range rows {
		list[i] = loyalty.AuditEntry{
			ID: loyalty.ID(r.ID), At: r.At.Time(), Actor: r.Actor, ActorKind: loyalty.ActorKind(r.ActorKind), Action: r.Action, Target: r.Target,
			Before: json.RawMessage(r.Before), After: json.RawMessage(r.After),
		}
	}

	return inOrder(list, backwards), nil
}

// Notify stores a notice about an administrative change.
func (t *adminTx) Notify(n loyalty.Notice) error { return t.s.fault(tell(t.db, n)) }
