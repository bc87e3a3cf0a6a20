// Package admin changes the configuration: keys and their rights, users, modules, settings,
// webhooks, entities one by one and as a whole, and codes of pools. It also has the directory by
// which every node follows such changes. Each change is one transaction with its line in the audit
// trail.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// CommandLine is the access key id under which the program's own commands
// appear in the audit.
const CommandLine = loyalty.CommandLine

// Admin changes access keys, modules and settings. Every change is audited in its own transaction,
// never with a secret, and this node's Directory sees it at once.
type Admin struct {
	store     loyalty.AdminStore
	registry  *programme.Registry
	directory *Directory
	apis      []string
	clock     func() time.Time

	lastLock sync.Mutex
	last     loyalty.ID // so that audit entries and entities of one millisecond keep their order
}

// AdminOptions is what an Admin needs.
type AdminOptions struct {
	Store     loyalty.AdminStore
	Registry  *programme.Registry
	Directory *Directory       // refreshed after every change; nil: none runs in this process
	APIs      []string         // the documents a key can be limited to
	Clock     func() time.Time // nil: time.Now
}

// NewAdmin makes an Admin.
func NewAdmin(o AdminOptions) *Admin {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Admin{store: o.Store, registry: o.Registry, directory: o.Directory, apis: o.APIs, clock: o.Clock}
}

// Call is the caller of a change, and the idempotency key under which the change may be repeated.
type Call struct {
	KeyID       string            // the caller: an access key, a user's (loyalty.User.KeyID), or CommandLine
	Idempotency *AdminIdempotency // nil: the caller sent no Idempotency-Key
}

// AdminIdempotency lets a change be repeated without a second effect.
type AdminIdempotency struct {
	loyalty.AnswerKey
	Hash [32]byte // of method, path and body
	// Render makes the answer to store from the result of the change or its failure. It gets a key
	// without its secrets, so that a stored answer can never show one.
	Render func(result any, err error) (status int, body []byte)
	// Language names the languages of what Render rendered; nil: the answer has no texts.
	Language func() string
}

// Done is the outcome of a change.
type Done[T any] struct {
	Value T
	// Replayed is the stored answer of an earlier call under the same idempotency key, whether
	// successful or refused; Value is not set then.
	Replayed *loyalty.Answer
}

// change is one administrative transaction: work decides and saves, and the answer is stored with
// it. public returns the part of the result that may be stored.
func change[T any](
	ctx context.Context, a *Admin, call Call, work func(*adminRun) (T, error), public func(T) any,
) (Done[T], error) {
	var done Done[T]
	err := within(ctx, a.store, func(tx loyalty.AdminTx) error {
		done = Done[T]{}
		run := a.run(tx, call)
		var err error
		if done.Replayed, err = run.earlier(); err != nil || done.Replayed != nil {
			return err
		}
		if run.Snapshot, err = tx.Snapshot(a.registry.SnapshotTypes()); err != nil {
			return err
		}
		if done.Value, err = work(run); err == nil {
			err = run.tell()
		}
		if err != nil {
			return err
		}

		return run.answer(public(done.Value), nil)
	})
	if err != nil {
		replayed, err := a.refused(ctx, call, err)
		if err != nil {
			err = loyalty.OutcomeError(err)
		}
		return Done[T]{Replayed: replayed}, err
	}

	if done.Replayed == nil && a.directory != nil {
		// The change is committed; if it cannot be read back now, Watch will read it.
		if err := a.directory.Refresh(ctx); err != nil {
			a.directory.report(err)
		}
	}

	return done, nil
}

// within is one transaction. If an event took the idempotency key between the look for a stored answer and the commit,
// it is tried a second time, which finds that answer.
func within(ctx context.Context, store loyalty.AdminStore, work func(loyalty.AdminTx) error) error {
	err := store.Change(ctx, work)
	if errors.Is(err, loyalty.ErrBatchConflict) {
		err = store.Change(ctx, work)
	}
	return err
}

// refused stores the answer of a refusal in a transaction of its own, because the refusal's was rolled back. It stores
// only refusals that a repetition would meet again.
func (a *Admin) refused(ctx context.Context, call Call, cause error) (*loyalty.Answer, error) {
	if call.Idempotency == nil || errors.Is(cause, loyalty.ErrKeyReused) || !loyalty.WorthStoring(cause) {
		return nil, cause
	}

	var replayed *loyalty.Answer
	err := within(ctx, a.store, func(tx loyalty.AdminTx) error {
		run := a.run(tx, call)
		var err error
		if replayed, err = run.earlier(); err != nil || replayed != nil {
			return err
		}
		if followed, err := a.followed(tx); err != nil || !followed {
			return err
		}
		return run.answer(nil, cause)
	})

	switch {
	case err != nil:
		return nil, err
	case replayed != nil:
		return replayed, nil
	}

	return nil, cause
}

// followed reports whether this node has the configuration in force. A request that was checked
// against the previous one may have been refused wrongly, and its refusal is not stored.
func (a *Admin) followed(tx loyalty.AdminTx) (bool, error) {
	if a.directory == nil {
		return true, nil
	}
	s, err := tx.Snapshot(nil)
	return err == nil && s.Version == a.directory.Programme().Version, err
}

func (a *Admin) now() time.Time { return a.clock().UTC().Truncate(time.Millisecond) }

// AuditLog lists changes, newest first.
func (a *Admin) AuditLog(ctx context.Context, q loyalty.AuditQuery) ([]loyalty.AuditEntry, error) {
	return a.store.AuditLog(ctx, q)
}

// Exported is the audit record of an export with personal data.
type Exported struct {
	From   time.Time `json:"from,omitzero"`
	To     time.Time `json:"to,omitzero"`
	After  string    `json:"after,omitempty"`
	Format string    `json:"format"`
}

// NoteExport records in the audit trail that a caller exports a table with personal data. It does
// so before the first row is read: if it fails, there is no export.
func (a *Admin) NoteExport(ctx context.Context, call Call, table string, e Exported) error {
	_, err := change(ctx, a, call, func(r *adminRun) (struct{}, error) {
		return struct{}{}, r.audit("export.personal", table, nil, e)
	}, func(struct{}) any { return nil })
	return err
}

// Seen is the audit record of personal data shown to a user: the operation and the names of its filters. Values of
// filters are left out, because they may name a person.
type Seen struct {
	Operation string   `json:"operation"`
	Query     []string `json:"query,omitempty"`
}

// NotePersonal records in the audit trail which personal data a user is about to see. It does so before they see it: if
// it fails, they see nothing.
func (a *Admin) NotePersonal(ctx context.Context, call Call, of string, s Seen) error {
	_, err := change(ctx, a, call, func(r *adminRun) (struct{}, error) {
		return struct{}{}, r.audit("personal.show", of, nil, s)
	}, func(struct{}) any { return nil })
	return err
}

// NoteJob records in the audit trail that a caller runs a job by hand. It does so before the work
// begins: if it fails, nothing is done.
func NoteJob(ctx context.Context, a *Admin, call Call, job string) error {
	_, err := change(ctx, a, call, func(r *adminRun) (struct{}, error) {
		return struct{}{}, r.audit("job.run", job, nil, nil)
	}, func(struct{}) any { return nil })
	return err
}

// The audit actions of a user's questions, which change nothing.
const (
	SearchNoted  = "personal.search"  // a customer was searched for by a whole value
	PreviewNoted = "personal.preview" // rules were tried
)

// NoteQuestion records in the audit trail a question that a user who may not see personal data asks about a customer: a
// search by a whole value, or a preview of rules. It does so before the answer: if it fails, there is no answer. action
// is SearchNoted or PreviewNoted.
func NoteQuestion(ctx context.Context, a *Admin, call Call, action, of string, s Seen) error {
	_, err := change(ctx, a, call, func(r *adminRun) (struct{}, error) {
		return struct{}{}, r.audit(action, of, nil, s)
	}, func(struct{}) any { return nil })
	return err
}

// NoteMasterKey records in the audit trail that nothing is sealed under an older master key any more. fingerprint
// identifies the key in use without revealing it; anew and already count what was sealed anew, and what was sealed
// under it before.
func (a *Admin) NoteMasterKey(ctx context.Context, call Call, fingerprint string, anew, already int64) error {
	_, err := change(ctx, a, call, func(r *adminRun) (struct{}, error) {
		return struct{}{}, r.audit("master_key.rotate", "master key", nil,
			map[string]any{"fingerprint": fingerprint, "anew": anew, "already": already})
	}, func(struct{}) any { return nil })
	return err
}

// adminRun is one administrative transaction.
type adminRun struct {
	loyalty.AdminTx
	registry *programme.Registry
	Snapshot loyalty.Snapshot     // as the transaction found it
	compiled *programme.Programme // of Snapshot, for this run alone; nil: not compiled yet
	changed  bool                 // Snapshot is no longer what the transaction found
	series   *series              // nil: one change
	call     Call
	now      time.Time
	next     func(time.Time) loyalty.ID // ids of audit entries
	told     []altered                  // changes of the configuration
}

func (a *Admin) run(tx loyalty.AdminTx, call Call) *adminRun {
	return &adminRun{AdminTx: tx, registry: a.registry, call: call, now: a.now(), next: a.nextID}
}

// nextID returns an id that sorts after every one that this process returned before.
func (a *Admin) nextID(now time.Time) loyalty.ID {
	a.lastLock.Lock()
	defer a.lastLock.Unlock()
	a.last = loyalty.NewID(now, a.last)
	return a.last
}

// earlier finds the stored answer of the same call. It fails with ErrKeyReused if the key was used
// for another call.
func (r *adminRun) earlier() (*loyalty.Answer, error) {
	i := r.call.Idempotency
	if i == nil {
		return nil, nil
	}

	answer, found, err := r.Answer(i.AnswerKey)
	switch {
	case err != nil:
		return nil, err
	case !found || !r.now.Before(answer.At.Add(loyalty.AnswerLife)):
		return nil, nil
	case answer.Hash != i.Hash:
		return nil, loyalty.ErrKeyReused
	}

	return &answer, nil
}

func (r *adminRun) answer(result any, cause error) error {
	i := r.call.Idempotency
	if i == nil {
		return nil
	}
	answer := loyalty.Answer{AnswerKey: i.AnswerKey, Hash: i.Hash, At: r.now}
	answer.Status, answer.Body = i.Render(result, cause)
	if i.Language != nil {
		answer.Language = i.Language()
	}
	return r.SaveAnswer(answer)
}

// audit records the change. Before and after are what may be shown, nil if there was nothing.
func (r *adminRun) audit(action, target string, before, after any) error {
	e := loyalty.AuditEntry{ID: r.next(r.now), At: r.now, Action: action, Target: target}
	e.Actor, e.ActorKind = loyalty.ActorOf(r.call.KeyID)
	var err error
	if e.Before, err = auditDocument(before); err != nil {
		return err
	}
	if e.After, err = auditDocument(after); err != nil {
		return err
	}
	r.note(action, target)
	return r.Audit(e)
}

// unchanged reports whether two records of the audit trail are equal: a change without a difference is neither saved
// nor recorded.
func unchanged(before, after any) bool {
	_, differs := differing(loyalty.JSON(before), loyalty.JSON(after))
	return !differs
}

func auditDocument(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return raw, nil
}
