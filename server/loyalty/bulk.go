package loyalty

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// BulkState says where a bulk operation stands.
type BulkState string

// The states of a bulk operation.
const (
	BulkQueued     BulkState = "queued"     // nothing of it is done yet
	BulkProcessing BulkState = "processing" // some of it is done
	BulkDone       BulkState = "done"       // nothing is left; it never changes again
)

// BulkLife is how long a bulk operation can be looked at after its end.
const BulkLife = 30 * 24 * time.Hour

// BulkOperation is work on many things at once, which goes on after its request
// was answered: the job bulk does it piece by piece. It survives a kill at any
// instant, and nothing of it is done twice.
type BulkOperation struct {
	ID         ID // the batch_id of its answers
	Kind       string
	Target     string // what it is about, such as a reward's id
	State      BulkState
	Done       int64 // items that are done, those that were refused included
	Total      int64
	Errors     int64 // items that were refused
	CreatedAt  time.Time
	FinishedAt time.Time       // zero: it goes on
	KeyID      string          // the access key that asked for it
	Parameters json.RawMessage // of its kind, as the request gave them; nil: none
	// Progress is what a kind that has no items (bulkKind.step) keeps from piece to
	// piece, and what it ends with: a document of the kind's own.
	Progress json.RawMessage
	Version  int64 // grows whenever Progress is saved
}

// The kinds of bulk operations.
const (
	BulkRewardClaim = "reward_claim"         // Target is a reward
	BulkListAdd     = "customer_list_add"    // Target is a customer list
	BulkListRemove  = "customer_list_remove" // likewise
)

// BulkNotice tells that an operation has ended.
func BulkNotice(o *BulkOperation) Notice {
	kind := BulkEnded
	if o.Kind == BulkImport {
		kind = ImportEnded
	}
	return NewNotice(kind, o.FinishedAt, map[string]any{"batch_id": o.ID, "kind": o.Kind, "target": o.Target, "done": o.Done, "errors": o.Errors})
}

// BulkRequest asks for a bulk operation: on customers, named or of a list, or on
// whatever its kind works on by steps.
type BulkRequest struct {
	Kind, Target string
	// Customers are ids, or external ids as name:value; one that is repeated counts
	// once. Whether there is such a customer is found out item by item.
	Customers []string
	// List names a customer list instead: its members at this moment.
	List       string
	Total      int64 // of an operation by steps, as far as it is known
	Most       int64 // operations of the kind that wait or are at work, this one included; 0: any number
	Parameters json.RawMessage
}

// BulkKey names one item of an operation; items count from 1 in the order of the
// request.
type BulkKey struct {
	Batch ID
	Seq   int64
}

// BulkItem is one customer of a bulk operation, or what a kind that writes refused.
type BulkItem struct {
	BulkKey
	Customer string          // as the request named them; of a list's member their id now; "": they left since
	Ref      Name            // where the engine finds them; set where the item is to be done
	Code     string          // of a pool's fill: the code; "": all from this place on
	Count    int64           // how many it stands for
	Data     json.RawMessage // what is done for them, where the operation alone does not say it; gone when it is done
	Error    json.RawMessage
	DoneAt   time.Time // zero: it is to be done
}

// BulkMark is the end of an item, written with what was done for it.
type BulkMark struct {
	BulkKey
	Error json.RawMessage // nil: it succeeded
	At    time.Time
}

// BulkStore keeps bulk operations for the job.
type BulkStore interface {
	// OpenBulk lists the operations that are not done, the oldest first.
	OpenBulk(ctx context.Context) ([]BulkOperation, error)
	// BulkItems lists the items of an operation that are to be done, in their order,
	// behind one of them (0: from the first), limit at most.
	BulkItems(ctx context.Context, batch ID, after int64, limit int) ([]BulkItem, error)
	// SaveBulk writes State, Done, Total, FinishedAt and Progress of an operation by
	// steps, and makes its Version grow, only if that is the stored one; false:
	// another node was faster, and nothing was written.
	SaveBulk(ctx context.Context, o BulkOperation) (bool, error)
	// ForgetBulk deletes operations that ended before an instant, with their items.
	ForgetBulk(ctx context.Context, before time.Time) error
	// ForgetCodes deletes codes that were kept for fills that have ended, and those
	// kept before an instant for fills that were never begun.
	ForgetCodes(ctx context.Context, before time.Time) error
	// ForgetStaged is ImportStore's.
	ForgetStaged(ctx context.Context, before time.Time) error
	// Change is AdminStore's.
	Change(ctx context.Context, work func(AdminTx) error) error
}

// BulkReader answers questions about bulk operations.
type BulkReader interface {
	// BulkOperation finds one of the given kinds. It fails with ErrBatchNotFound.
	BulkOperation(ctx context.Context, batch ID, kinds ...string) (BulkOperation, error)
	// BulkErrors lists the items that were refused, in the order of the request:
	// behind the item after, or before the item before, or from offset on, where 0
	// stands for none.
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
