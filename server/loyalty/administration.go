package loyalty

import (
	"context"
	"encoding/json"
	"time"
)

// AnswerLife is how long the answer of an idempotent request is kept.
const AnswerLife = 24 * time.Hour

// AccessKey lets an integrator sign requests.
type AccessKey struct {
	ID         string
	Label      string
	APIs       []string // names of the documents it may use; empty: all
	ReadOnly   bool
	Addresses  []string // CIDR; empty: any
	RateLimit  int      // requests a minute over all endpoints; 0: the default
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: in force
	LastUsedAt time.Time
	Secrets    []Secret // newest first; several while a rotation overlaps
}

// Secret is a signing secret. The store keeps it sealed under the master key.
type Secret struct {
	Value     string
	Public    string // the key that verifies a webhook's signatures; empty: Value does
	CreatedAt time.Time
	ExpiresAt time.Time // zero: when the key does
}

// ModuleState is a module as it is stored.
type ModuleState struct {
	Name    string
	Enabled bool
	Config  json.RawMessage
}

// Settings are the general settings of a programme.
type Settings struct {
	Currency         string        // ISO 4217
	TimeZone         string        // IANA name; calendar days of the programme
	AcceptanceWindow time.Duration // how far a request's date may be off
}

// EveryType stands for all types of entities.
const EveryType = "*"

// Snapshot is the configuration that changes rarely, as of one instant.
type Snapshot struct {
	Version int64 // grows with every administrative change
	Keys    []AccessKey
	// Unreadable names the keys with a damaged secret that does not open. Such a secret is not among the key's secrets.
	Unreadable []string
	Modules    []ModuleState
	Settings   Settings
	Entities   []Entity // of the requested types (Registry.SnapshotTypes), archived ones too, by creation, then id
}

// Entity is one part of a programme: a reward, a tier, a campaign. An archived entity is kept, because the journal
// names it.
type Entity struct {
	Type       string // such as rewards/reward
	ID         string // unique within its type
	Data       json.RawMessage
	CreatedAt  time.Time
	UpdatedAt  time.Time
	ArchivedAt time.Time // zero: in force
}

// EntityQuery selects entities of one type, by default by creation, oldest first.
type EntityQuery struct {
	Type       string
	Archived   bool        // archived ones too
	Conditions []Condition // fields: id, created_at, updated_at
	// Fits decides by the content of an entity; nil: all fit. Only Admin evaluates it.
	Fits       func(Entity) bool
	Sort       string // created_at (also when empty), updated_at or id
	Descending bool
	Page       Page // only its Limit (0: no limit) and Offset count
	// After and Before are positions in a list by creation, in place of an offset: entries after one, or those just
	// before one.
	After, Before *EntityPlace
}

// EntityPlace is the position of an entity in the list of its type by creation.
type EntityPlace struct {
	At time.Time // of its creation
	ID string
}

// AuditEntry records one administrative change. Secrets never appear in it.
type AuditEntry struct {
	ID        ID
	At        time.Time
	Actor     string // the key's id, the user's login, or "command line"
	ActorKind ActorKind
	Action    string // such as key.create, module.update
	Target    string
	Before    json.RawMessage // null if there was nothing
	After     json.RawMessage
}

// AuditQuery selects audit entries, newest first. Fields: action, target, key_id (the actor), actor_kind, at.
type AuditQuery struct {
	Conditions []Condition
	Page       Page
}

// AdminTx is one administrative transaction. Every Save also increments the programme's version.
type AdminTx interface {
	Version() int64 // of the programme, as the transaction found it
	Snapshot(types []string) (Snapshot, error)
	SaveKey(AccessKey) error
	SaveModule(ModuleState) error
	SaveSettings(Settings) error
	// Entity finds an entity by type and id, archived ones too; false: there is none.
	Entity(kind, id string) (Entity, bool, error)
	Entities(q EntityQuery) ([]Entity, error)
	SaveEntity(Entity) error
	// AddCoupons adds coupons with their codes, except those whose code is taken, and returns the taken codes.
	// CountCodes counts a pool's codes that no customer holds.
	AddCoupons([]Coupon) (taken []string, err error)
	CountCodes(pool string) (int64, error)
	// AddBulk stores a bulk operation with its items: customers by name, or the present members of a list. For an
	// operation with items it sets Total, and if there are none, State and FinishedAt.
	AddBulk(o BulkOperation, customers []string, list string) (BulkOperation, error)
	// OpenBulks counts the operations of a kind that are not done.
	OpenBulks(kind string) (int64, error)
	// Bulk reads an operation. SaveBulk writes its progress, increments its Version, and adds the refused items.
	Bulk(batch ID) (BulkOperation, error)
	SaveBulk(o BulkOperation, refused []BulkItem) error
	// TakeCodes returns and deletes the next piece of the codes kept for a fill, from a position on; nil: there are
	// none.
	TakeCodes(batch ID, place int64) ([]string, error)
	UserByLogin(login string) (User, bool, error)
	// UserBySubject finds the user that a sign-in provider knows by a subject.
	UserBySubject(issuer, subject string) (User, bool, error)
	// User finds a user and locks their row.
	User(id ID) (User, bool, error)
	// Owners counts the owners who are not disabled.
	Owners() (int64, error)
	SaveUser(User) error
	// SaveInvitation writes an invitation; earlier ones of the user end.
	SaveInvitation(Invitation) error
	// EndSession ends one session and returns it; EndSessions ends all sessions and invitations of a user.
	EndSession(TokenHash) (Session, bool, error)
	EndSessions(user ID) error
	Audit(AuditEntry) error
	// Notify tells webhooks of the change.
	Notify(Notice) error
	Answer(AnswerKey) (Answer, bool, error)
	// SaveAnswer stores an answer. It fails with ErrBatchConflict if there is one that is younger than AnswerLife.
	SaveAnswer(Answer) error
}

// SignatureStore keeps the signatures of writes for the replay guard.
type SignatureStore interface {
	// TakeSignature records a signature; false: it was recorded before, on any node. It is kept until it cannot be
	// valid any more.
	TakeSignature(ctx context.Context, signature [32]byte, goodUntil time.Time) (fresh bool, err error)
}

// AdminStore keeps keys, modules, settings and their audit.
type AdminStore interface {
	LedgerReader
	FailureStore
	UserStore
	// Change runs work in one transaction that no other change overlaps; an error rolls all of it back.
	Change(ctx context.Context, work func(AdminTx) error) error
	Snapshot(ctx context.Context, types []string) (Snapshot, error)
	Version(ctx context.Context) (int64, error)
	AuditLog(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	Entity(ctx context.Context, kind, id string) (Entity, bool, error)
	Entities(ctx context.Context, q EntityQuery) ([]Entity, error)
	// KeysUsed records when keys were last used.
	KeysUsed(ctx context.Context, used map[string]time.Time) error
	// NoteProof stores the result of a verification of the ledger.
	NoteProof(ctx context.Context, v LedgerVerification) error
	// Proofs lists the stored verifications of the ledger, newest first.
	Proofs(ctx context.Context, page Page) ([]LedgerVerification, error)
	// KeepCodes keeps codes for a fill that is about to begin, in a transaction of their own.
	KeepCodes(ctx context.Context, batch ID, at time.Time, pieces []KeptCodes) error
}
