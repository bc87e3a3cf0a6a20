package loyalty

import (
	"context"
	"encoding/json"
	"time"
)

// BulkImport is the kind of a bulk operation that takes over what happened in another
// system. Its items have an ImportRow each.
const BulkImport = "import"

// Import is a set of files that is taken over. Its id is that of its bulk operation, and
// names it in the events.
type Import struct {
	ID        ID
	Digest    string // of the files and how they were read: the same twice is the same import
	Total     int64  // rows of all files
	Staged    int64  // so many of them are stored as items
	CreatedAt time.Time
	BegunAt   time.Time // zero: the operation did not begin yet
	KeyID     string
}

// ImportRow is a row of a file, as it is submitted.
type ImportRow struct {
	File     string          `json:"file"` // the kind of the file
	Line     int             `json:"line"`
	Customer string          `json:"-"` // kept apart, so that opt_out finds it
	Action   string          `json:"action,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	List     string          `json:"list,omitempty"` // instead of an action: the customer list to be put on
}

// ImportLife is how long the rows of an import are kept that never began.
const ImportLife = 24 * time.Hour

// ImportStore keeps imports, and says what is there already.
type ImportStore interface {
	// Import finds the import of some files; false: there is none.
	Import(ctx context.Context, digest string) (Import, bool, error)
	// StageImport stores the next rows of an import, with it where there is none, and moves
	// Staged on. It fails with ErrBatchConflict where another process staged meanwhile.
	StageImport(ctx context.Context, i Import, rows []ImportRow) error
	// ForgetStaged deletes the rows of imports that were made before an instant and did
	// not begin.
	ForgetStaged(ctx context.Context, before time.Time) error
	// NamesTaken says which names of a kind are claimed.
	NamesTaken(ctx context.Context, kind NameKind, values []string) (map[string]bool, error)
	// EmailsTaken gives the customers who have e-mails, by EmailKey: what they are called.
	EmailsTaken(ctx context.Context, keys []string) (map[string]string, error)
}
