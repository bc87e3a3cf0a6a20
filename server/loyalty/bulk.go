package loyalty

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// BulkState is the state of a bulk operation.
type BulkState string

// The states of a bulk operation.
const (
	BulkQueued     BulkState = "queued"     // nothing is done yet
	BulkProcessing BulkState = "processing" // some of it is done
	BulkDone       BulkState = "done"       // nothing is left; it never changes again
)

// BulkLife is how long a bulk operation can be looked at after its end.
const BulkLife = 30 * 24 * time.Hour

// BulkOperation is work on many things at once, which continues after its request was answered: the job bulk does it
// piece by piece. It survives a kill at any instant, and nothing of it is done twice.
type BulkOperation struct {
	ID         ID // the batch_id of its answers
	Kind       string
	Target     string // what it is about, such as a reward's id
	State      BulkState
	Done       int64 // items that are done, including refused ones
	Total      int64
	Errors     int64 // items that were refused
	CreatedAt  time.Time
	FinishedAt time.Time       // zero: it has not ended
	KeyID      string          // the access key of the request
	Parameters json.RawMessage // of its kind, as in the request; nil: none
	// Progress is what a kind without items (bulkKind.step) keeps from piece to piece and ends with, in the kind's own
	// format.
	Progress json.RawMessage
	Version  int64 // grows whenever Progress is saved
}

// The kinds of bulk operations.
const (
	BulkRewardClaim = "reward_claim"         // Target is a reward
	BulkListAdd     = "customer_list_add"    // Target is a customer list
	BulkListRemove  = "customer_list_remove" // likewise
)

// BulkNotice is the notice that an operation has ended.
func BulkNotice(o *BulkOperation) Notice {
	kind := BulkEnded
	if o.Kind == BulkImport {
		kind = ImportEnded
	}
	return NewNotice(kind, o.FinishedAt,
		map[string]any{"batch_id": o.ID, "kind": o.Kind, "target": o.Target, "done": o.Done, "errors": o.Errors})
}

// BulkRequest asks for a bulk operation on customers, named or of a list, or on the things that its kind works on by
// steps.
type BulkRequest struct {
	Kind, Target string
	// Customers are ids, or external ids as name:value; a repeated one counts once. Each item finds out whether its
	// customer exists.
	Customers []string
	// List names a customer list instead: its present members.
	List       string
	Total      int64 // of an operation by steps, as far as it is known
	Most       int64 // operations of the kind that wait or run, this one included; 0: any number
	Parameters json.RawMessage
}

// BulkKey names one item of an operation; items count from 1 in the order of the
// request.
type BulkKey struct {
	Batch ID
	Seq   int64
}

// BulkItem is one customer of a bulk operation, or a refused item of a kind that writes.
type BulkItem struct {
	BulkKey
	Customer string          // as in the request; for a list's member their present id; "": they have left
	Ref      Name            // where the engine finds them; set if the item is to be done
	Code     string          // of a pool's fill: the code; "": all codes from this place on
	Count    int64           // how many it stands for
	Data     json.RawMessage // what is done for them, if the operation alone does not say it; removed once done
	Error    json.RawMessage
	DoneAt   time.Time // zero: it is to be done
}

// BulkMark marks an item as ended, and is written with its effect.
type BulkMark struct {
	BulkKey
	Error json.RawMessage // nil: it succeeded
	At    time.Time
}

// BulkStore keeps bulk operations for the job.
type BulkStore interface {
	// OpenBulk lists the operations that are not done, oldest first.
	OpenBulk(ctx context.Context) ([]BulkOperation, error)
	// BulkItems lists at most limit items of an operation that are to be done, in order, after one of them (0: from the
	// first).
	BulkItems(ctx context.Context, batch ID, after int64, limit int) ([]BulkItem, error)
	// SaveBulk writes State, Done, Total, FinishedAt and Progress of an operation by steps, and increments its Version,
	// if Version is the stored one; false: another node was faster, and nothing was written.
	SaveBulk(ctx context.Context, o BulkOperation) (bool, error)
	// ForgetBulk deletes operations that ended before an instant, with their items.
	ForgetBulk(ctx context.Context, before time.Time) error
	// ForgetCodes deletes codes that were kept for fills that have ended, and those kept before an instant for fills
	// that were never begun.
	ForgetCodes(ctx context.Context, before time.Time) error
	// ForgetStaged is ImportStore's.
	ForgetStaged(ctx context.Context, before time.Time) error
	// Change is AdminStore's.
	Change(ctx context.Context, work func(AdminTx) error) error
}

// BulkReader answers questions about bulk operations.
type BulkReader interface {
	// BulkOperation finds an operation of the given kinds. It fails with ErrBatchNotFound.
	BulkOperation(ctx context.Context, batch ID, kinds ...string) (BulkOperation, error)
	// BulkErrors lists the refused items, in the order of the request: after the item after, or before the item before,
	// or from offset on; 0 stands for none.
	BulkErrors(ctx context.Context, batch ID, q BulkPage) ([]BulkItem, error)
}

// BulkPage is a page of items, by their numbers.
type BulkPage struct {
	Limit, Offset int
	After, Before int64 // 0: not set; After wins
}

// KeptCodes is a piece of an upload that waits to be added.
type KeptCodes struct {
	Place int64 // of the first of them in the list, from 0
	Codes []string
}

// StoredError keeps a failure so that it can be worded in any language later.
func StoredError(err error) json.RawMessage {
	e := *AsError(err)
	e.cause = nil
	return JSON(e)
}

// Failure returns the failure that ended a refused item.
func (i *BulkItem) Failure() error {
	return FailureOf(i.Error)
}

// FailureOf returns the failure that StoredError kept.
func FailureOf(stored json.RawMessage) error {
	var e Error
	if err := json.Unmarshal(stored, &e); err != nil {
		return fmt.Errorf("a stored error: %w", err)
	}
	return &e
}
