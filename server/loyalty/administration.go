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
	Secrets    []Secret // the newest first; several while a rotation overlaps
}

// Secret is a signing secret. The store keeps it sealed under the master key.
type Secret struct {
	Value     string
	Public    string // of a webhook's: what verifies its signatures; empty: the value does
	CreatedAt time.Time
	ExpiresAt time.Time // zero: with the key
}

// ModuleState is a module as it is stored.
type ModuleState struct {
	Name    string
	Enabled bool
	Config  json.RawMessage
}

// Settings are what a programme says of itself.
type Settings struct {
	Currency         string        // ISO 4217
	TimeZone         string        // IANA name; calendar days of the programme
	AcceptanceWindow time.Duration // how far a request's date may be off
}

// EveryType stands for the entities of all types, where types are named.
const EveryType = "*"

// Snapshot is everything that changes rarely, read at once.
type Snapshot struct {
	Version int64 // grows with every administrative change
	Keys    []AccessKey
	// Unreadable names the keys of which a secret does not open: it was damaged. Such
	// a secret is not among those of its key.
	Unreadable []string
	Modules    []ModuleState
	Settings   Settings
	Entities   []Entity // those of the types that were asked for (Registry.SnapshotTypes), archived ones too, by creation, then id
}

// Entity is one thing a programme is made of: a reward, a tier, a campaign. It is
// kept when it is archived, because history names it.
type Entity struct {
	Type       string // such as rewards/reward
	ID         string // unique within its type
	Data       json.RawMessage
	CreatedAt  time.Time
	UpdatedAt  time.Time
	ArchivedAt time.Time // zero: in force
}

// EntityQuery selects entities of one type, by creation, the oldest first, where
// it says nothing else.
type EntityQuery struct {
	Type       string
	Archived   bool        // archived ones too
	Conditions []Condition // fields: id, created_at, updated_at
	// Fits decides by what stands in an entity; nil: all. Only Admin asks it.
	Fits       func(Entity) bool
	Sort       string // created_at (also when empty), updated_at or id
	Descending bool
	Page       Page // only its Limit (0: no limit) and Offset count
	// After and Before are positions in a list by creation, in place of an offset:
	// entries behind one, or those just before one.
	After, Before *EntityPlace
}

// EntityPlace is where an entity stands in the list of its type by creation.
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
	Before    json.RawMessage // null where there was nothing
	After     json.RawMessage
}

// AuditQuery selects audit entries, the newest first. Fields: action, target,
// key_id (the actor), actor_kind, at.
type AuditQuery struct {
	Conditions []Condition
	Page       Page
}

// AdminTx is one administrative transaction. Every Save also makes the
// programme's version grow.
type AdminTx interface {
	Version() int64 // of the programme, as the transaction found it
	Snapshot(types []string) (Snapshot, error)
	SaveKey(AccessKey) error
	SaveModule(ModuleState) error
	SaveSettings(Settings) error
	// Entity finds one by type and id; false: there is none, not even archived.
	Entity(kind, id string) (Entity, bool, error)
	Entities(q EntityQuery) ([]Entity, error)
	SaveEntity(Entity) error
	// AddCoupons adds coupons with their codes, but none whose code is taken, and
	// says which those are. CountCodes counts a pool's codes that no customer holds.
	AddCoupons([]Coupon) (taken []string, err error)
	CountCodes(pool string) (int64, error)
	// AddBulk stores a bulk operation with its items: customers by name, or the
	// members of a list as they are now. Of an operation that has items it sets Total,
	// and where there are none, State and FinishedAt.
	AddBulk(o BulkOperation, customers []string, list string) (BulkOperation, error)
	// OpenBulks counts the operations of a kind that are not done.
	OpenBulks(kind string) (int64, error)
	// Bulk reads an operation. SaveBulk writes how far it came, makes its Version grow,
	// and adds the items that were refused.
	Bulk(batch ID) (BulkOperation, error)
	SaveBulk(o BulkOperation, refused []BulkItem) error
	// TakeCodes gives and deletes the codes kept for a fill from a place on, as far as
	// they are one piece; nil: there are none.
	TakeCodes(batch ID, place int64) ([]string, error)
	UserByLogin(login string) (User, bool, error)
	// UserBySubject finds the user whom a provider of sign-ins knows by a name.
	UserBySubject(issuer, subject string) (User, bool, error)
	// User finds a user and locks their row.
	User(id ID) (User, bool, error)
	// Owners counts the owners who are not disabled.
	Owners() (int64, error)
	SaveUser(User) error
	// SaveInvitation writes an invitation; those that the user had before are over.
	SaveInvitation(Invitation) error
	// EndSession ends one session and gives it; EndSessions ends all sessions and invitations of a user.
	EndSession(TokenHash) (Session, bool, error)
	EndSessions(user ID) error
	Audit(AuditEntry) error
	// Notify tells webhooks of the change.
	Notify(Notice) error
	Answer(AnswerKey) (Answer, bool, error)
	// SaveAnswer stores an answer. It fails with ErrBatchConflict where there is one that
	// has not outlived AnswerLife.
	SaveAnswer(Answer) error
}

// SignatureStore keeps the signatures of writes for the replay guard.
type SignatureStore interface {
	// TakeSignature takes a signature; false: it was taken before, on whichever node.
	// It is kept until it cannot be good any more.
	TakeSignature(ctx context.Context, signature [32]byte, goodUntil time.Time) (fresh bool, err error)
}

// AdminStore keeps keys, modules, settings and their audit.
type AdminStore interface {
	LedgerReader
	FailureStore
	UserStore
	// Change runs work in one transaction that no other change overlaps; an
	// error rolls all of it back.
	Change(ctx context.Context, work func(AdminTx) error) error
	Snapshot(ctx context.Context, types []string) (Snapshot, error)
	Version(ctx context.Context) (int64, error)
	AuditLog(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	Entity(ctx context.Context, kind, id string) (Entity, bool, error)
	Entities(ctx context.Context, q EntityQuery) ([]Entity, error)
	// KeysUsed records when keys were last used.
	KeysUsed(ctx context.Context, used map[string]time.Time) error
	// NoteProof remembers what became of a verification of the ledger.
	NoteProof(ctx context.Context, v LedgerVerification) error
	// Proofs lists the verifications of the ledger that are remembered, the newest first.
	Proofs(ctx context.Context, page Page) ([]LedgerVerification, error)
	// KeepCodes keeps codes for a fill that is about to begin, in one transaction of
	// their own.
	KeepCodes(ctx context.Context, batch ID, at time.Time, pieces []KeptCodes) error
}
