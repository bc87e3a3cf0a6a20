package loyalty

import (
	"context"
	"encoding/json"
	"time"
)

// BulkImport is the kind of a bulk operation that imports rows from another system. Each item has an ImportRow.
const BulkImport = "import"

// Import is a set of files to import. Its id is that of its bulk operation, and names it in the events.
type Import struct {
	ID        ID
	Digest    string // of the files and the options for reading them; an equal digest is the same import
	Total     int64  // rows of all files
	Staged    int64  // rows that are stored as items
	CreatedAt time.Time
	BegunAt   time.Time // zero: the operation has not begun
	KeyID     string
}

// ImportRow is a row of a file, as it is submitted.
type ImportRow struct {
	File     string          `json:"file"` // the kind of the file
	Line     int             `json:"line"`
	Customer string          `json:"-"` // kept apart, so that opt_out finds it
	Action   string          `json:"action,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	List     string          `json:"list,omitempty"` // in place of an action: the customer list to be put on
}

// ImportLife is how long the rows of an import that never began are kept.
const ImportLife = 24 * time.Hour

// ImportStore keeps imports, and looks up existing names and customers.
type ImportStore interface {
	// Import finds the import of some files; false: there is none.
	Import(ctx context.Context, digest string) (Import, bool, error)
	// StageImport stores the next rows of an import and moves Staged on; it creates the import if there is none. It
	// fails with ErrBatchConflict if another process staged rows meanwhile.
	StageImport(ctx context.Context, i Import, rows []ImportRow) error
	// ForgetStaged deletes the rows of imports that were made before an instant and have not begun.
	ForgetStaged(ctx context.Context, before time.Time) error
	// NamesTaken returns which names of a kind are claimed.
	NamesTaken(ctx context.Context, kind NameKind, values []string) (map[string]bool, error)
	// Inactive returns which customers are not enrolled, by their ids.
	Inactive(ctx context.Context, customers []string) (map[string]bool, error)
	// EmailsTaken returns the names of the customers with some e-mail addresses, by EmailKey. Customers who left, and
	// merged ones, do not count.
	EmailsTaken(ctx context.Context, keys []string) (map[string][]string, error)
}

// UploadState is the state of an import over HTTP.
type UploadState string

// The states of an upload.
const (
	UploadOpen        UploadState = "open"        // files are arriving
	UploadChecking    UploadState = "checking"    // they are to be checked
	UploadFaulty      UploadState = "faulty"      // they cannot be imported
	UploadReady       UploadState = "ready"       // they can be imported
	UploadApplying    UploadState = "applying"    // they are to be imported
	UploadBegun       UploadState = "begun"       // the bulk operation of their rows has begun
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
	Options json.RawMessage // how the files are read; see importer.Options
	State   UploadState
	Plan    json.RawMessage // of the last check; nil: there was none
	Account json.RawMessage // of the last comparison with the ledger; nil: there was none
	Fault   string          // why the last of them failed, as intake.Words in JSON; empty: it did not
	// Findings is the number of findings of the last of them; nil: there was none.
	Findings  *int64
	Import    ID // the import of its rows; zero: it has not begun
	KeyID     string
	CreatedAt time.Time
	UpdatedAt time.Time // of the last call that changed it
	Files     []UploadFile
}

// UploadFile is a file of an upload, as far as it has arrived.
type UploadFile struct {
	Kind  string
	Parts int   // number of parts
	Last  int   // highest number of a part
	Bytes int64 // of all parts
}

// UploadFindings is the name of the file in which findings are kept.
const UploadFindings = "findings"

// The bounds of an upload.
const (
	UploadLife  = 7 * 24 * time.Hour // after the last change its files are deleted
	UploadsKept = 1000               // at most so many are listed
)

// UploadAdminTx changes uploads within an administrative transaction.
type UploadAdminTx interface {
	// Upload reads one and locks its row.
	Upload(id ID) (u Upload, found bool, err error)
	SaveUpload(u Upload) error
	// PutPart stores a part, replacing an earlier one.
	PutPart(id ID, file string, part int, content []byte) error
}

// UploadStore reads uploads, and keeps the findings about them.
type UploadStore interface {
	// Uploads lists a page of the newest UploadsKept by its offset, newest first, and returns their bulk operations by
	// id.
	Uploads(ctx context.Context, p Page) ([]Upload, map[ID]BulkOperation, error)
	// UploadByID fails with ErrImportNotFound.
	UploadByID(ctx context.Context, id ID) (Upload, error)
	// UploadPart reads a part of a file; nil if there is none.
	UploadPart(ctx context.Context, id ID, file string, part int) ([]byte, error)
	// OpenUploads lists the uploads with something to do, oldest first.
	OpenUploads(ctx context.Context) ([]Upload, error)
	// KeepFindings replaces the stored findings.
	KeepFindings(ctx context.Context, id ID, pieces [][]byte) error
	// EndUpload writes State, Plan, Account, Fault, Findings and Import of an upload that still has a given state.
	EndUpload(ctx context.Context, u Upload, was UploadState) error
	// ForgetUploads deletes the files of uploads that were last changed before an instant.
	ForgetUploads(ctx context.Context, before time.Time) error
}
