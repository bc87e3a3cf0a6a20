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
	// Inactive says which customers are not enrolled, by their ids.
	Inactive(ctx context.Context, customers []string) (map[string]bool, error)
	// EmailsTaken gives the customers who have e-mails, by EmailKey: what they are called. Those who left, and those
	// who became part of another one, do not count.
	EmailsTaken(ctx context.Context, keys []string) (map[string][]string, error)
}

// UploadState says where an import over HTTP stands.
type UploadState string

// The states of an upload.
const (
	UploadOpen        UploadState = "open"        // files come in
	UploadChecking    UploadState = "checking"    // they are to be checked
	UploadFaulty      UploadState = "faulty"      // they cannot be taken over
	UploadReady       UploadState = "ready"       // they can
	UploadApplying    UploadState = "applying"    // they are to be taken over
	UploadBegun       UploadState = "begun"       // the bulk operation of their rows began
	UploadReconciling UploadState = "reconciling" // they are to be compared with the ledger
)

// Working reports whether the job imports has something to do for it.
func (s UploadState) Working() bool {
	return s == UploadChecking || s == UploadApplying || s == UploadReconciling
}

// Upload is an import whose files come over HTTP, in parts.
type Upload struct {
	ID      ID
	Label   string
	Options json.RawMessage // how the files are read; see intake.Options
	State   UploadState
	Plan    json.RawMessage // of the last check; nil: there was none
	Account json.RawMessage // of the last comparison with the ledger; nil: there was none
	Fault   string          // why the last of them could not be made, as intake.Words in JSON; empty: it was
	// Findings are those of the last of them; nil: there was none.
	Findings  *int64
	Import    ID // whose rows are theirs; zero: it did not begin
	KeyID     string
	CreatedAt time.Time
	UpdatedAt time.Time // of the last call that changed it
	Files     []UploadFile
}

// UploadFile is a file of an upload as far as it has arrived.
type UploadFile struct {
	Kind  string
	Parts int   // how many
	Last  int   // the highest number of a part
	Bytes int64 // of all parts
}

// UploadFindings is the name of the file in which findings are kept.
const UploadFindings = "findings"

// The bounds of an upload.
const (
	UploadLife  = 7 * 24 * time.Hour // after the last change its files are deleted
	UploadsKept = 1000               // so many are listed
)

// UploadAdminTx changes uploads within an administrative transaction.
type UploadAdminTx interface {
	// Upload reads one and locks its row.
	Upload(id ID) (u Upload, found bool, err error)
	SaveUpload(u Upload) error
	// PutPart stores a part in the place of the one before.
	PutPart(id ID, file string, part int, content []byte) error
}

// UploadStore reads uploads, and keeps what working on them finds.
type UploadStore interface {
	// Uploads lists a page of the newest UploadsKept by its offset, the newest first, and
	// gives the bulk operations that take them over, by their ids.
	Uploads(ctx context.Context, p Page) ([]Upload, map[ID]BulkOperation, error)
	// UploadByID fails with ErrImportNotFound.
	UploadByID(ctx context.Context, id ID) (Upload, error)
	// UploadPart reads a part of a file; nil if there is none.
	UploadPart(ctx context.Context, id ID, file string, part int) ([]byte, error)
	// OpenUploads lists those with something to do, the oldest first.
	OpenUploads(ctx context.Context) ([]Upload, error)
	// KeepFindings puts findings in the place of those that were kept before.
	KeepFindings(ctx context.Context, id ID, pieces [][]byte) error
	// EndUpload writes State, Plan, Account, Fault, Findings and Import of an upload that still is
	// in a state.
	EndUpload(ctx context.Context, u Upload, was UploadState) error
	// ForgetUploads deletes the files of uploads that were last changed before an instant.
	ForgetUploads(ctx context.Context, before time.Time) error
}
