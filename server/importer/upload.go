package importer

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/spreadsheet"
)

// maxFindings is how many findings of an upload are stored, findingsPiece the bytes of one piece of them.
const (
	maxFindings   = 100_000
	findingsPiece = 256 << 10
)

// Uploads does the ordered work on imports that came over HTTP: it checks their files, stages their rows and starts
// their operation, and compares them with the ledger. Interrupted work is repeated with the same result.
type Uploads struct {
	Store  loyalty.UploadStore
	Ledger Ledger
	// World returns what files are checked against, as it is now.
	World func(context.Context) (World, error)
	Now   func() time.Time
	// Begin starts the operation of an import with staged rows, in the name of a key.
	Begin func(ctx context.Context, keyID string, i loyalty.Import) error
}

// Work does the open orders, the oldest first, and deletes expired files.
func (w *Uploads) Work(ctx context.Context) (done int, err error) {
	open, err := w.Store.OpenUploads(ctx)
	for i := range open {
		world, failed := w.World(ctx)
		if failed == nil {
			failed = w.one(ctx, world, &open[i])
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("import %s: %w", open[i].ID, failed))
			continue
		}
		done++
	}
	return done, errors.Join(err, w.Store.ForgetUploads(ctx, w.Now().Add(-loyalty.UploadLife)))
}

func (w *Uploads) one(ctx context.Context, world World, u *loyalty.Upload) error {
	was := u.State
	files, o, err := w.files(ctx, u)
	kept := &findings{}
	if err == nil {
		switch was {
		case loyalty.UploadReconciling:
			err = w.reconcile(ctx, world, u, files, o, kept)
		default:
			err = w.take(ctx, world, u, files, o, kept)
		}
	}

	u.Fault = ""
	var why Words
	switch {
	case errors.As(err, &why) && was == loyalty.UploadReconciling:
		u.State, u.Fault = loyalty.UploadBegun, string(loyalty.JSON(why))
	case errors.As(err, &why):
		u.State, u.Fault = loyalty.UploadFaulty, string(loyalty.JSON(why))
	case err != nil:
		return err
	}

	if was != loyalty.UploadApplying || u.State != loyalty.UploadBegun {
		u.Findings = &kept.n
		if err := w.Store.KeepFindings(ctx, u.ID, kept.pieces()); err != nil {
			return err
		}
	}

	return w.Store.EndUpload(ctx, *u, was)
}

// files are the complete files of an upload.
func (w *Uploads) files(ctx context.Context, u *loyalty.Upload) (files []File, o Options, err error) {
	if err := json.Unmarshal(u.Options, &o); err != nil {
		return nil, o, err
	}

	for _, k := range kinds {
		for _, f := range u.Files {
			if f.Kind != k.name {
				continue
			}
			if f.Parts != f.Last {
				return nil, o, say("parts_missing", args{"file": f.Kind, "parts": f.Last, "arrived": f.Parts})
			}
			files = append(files, File{Kind: f.Kind, Open: func() io.ReadCloser {
				return io.NopCloser(&parts{ctx: ctx, store: w.Store, upload: u.ID, file: f.Kind})
			}})
		}
	}

	if len(files) == 0 {
		return nil, o, say("no_files", nil)
	}

	return files, o, nil
}

// take checks the files; if they are to be applied, it stages their rows and starts the operation.
func (w *Uploads) take(
	ctx context.Context, world World, u *loyalty.Upload, files []File, o Options, kept *findings,
) error {
	i, there, err := w.staged(ctx, world, files, o)
	if err != nil {
		return err
	}

	if there && !i.BegunAt.IsZero() {
		if u.State == loyalty.UploadChecking {
			return say("files_taken", args{"import": i.ID.String()})
		}
		u.Import, u.State = i.ID, loyalty.UploadBegun // by this upload before an interruption, or by another one
		return nil
	}

	plan, err := Check(ctx, world, files, o, kept.tell)
	if err != nil {
		return err
	}

	u.Plan = loyalty.JSON(plan)
	switch {
	case plan.Errors > 0:
		u.State = loyalty.UploadFaulty
		return nil
	case plan.Total() == 0:
		return say("no_rows", nil)
	case u.State == loyalty.UploadChecking:
		u.State = loyalty.UploadReady
		return nil
	}

	if !there {
		i = loyalty.Import{ID: u.ID, Digest: i.Digest, Total: plan.Total(),
			CreatedAt: world.Now.UTC().Truncate(time.Millisecond), KeyID: u.KeyID}
	}
	if i, err = Stage(ctx, world, files, o, i); err != nil {
		return err
	}
	if err := w.Begin(ctx, u.KeyID, i); err != nil {
		return err
	}

	u.Import, u.State = i.ID, loyalty.UploadBegun
	return nil
}

// staged is the import of the files if it exists; its Digest is always set.
func (w *Uploads) staged(ctx context.Context, world World, files []File, o Options) (loyalty.Import, bool, error) {
	digest, err := Digest(files, o)
	if err != nil {
		return loyalty.Import{}, false, err
	}
	i, there, err := world.Store.Import(ctx, digest)
	i.Digest = digest
	return i, there, err
}

func (w *Uploads) reconcile(
	ctx context.Context, world World, u *loyalty.Upload, files []File, o Options, kept *findings,
) error {
	i, there, err := w.staged(ctx, world, files, o)
	if err != nil {
		return err
	}
	if !there || i.ID != u.Import {
		return say("files_other", nil)
	}
	account, err := Reconcile(ctx, world, w.Ledger, files, o, i, kept.tell)
	if err != nil {
		return err
	}
	u.Account, u.State = loyalty.JSON(account), loyalty.UploadBegun
	return nil
}

// parts reads a file part by part, with one part in memory.
type parts struct {
	ctx    context.Context
	store  loyalty.UploadStore
	upload loyalty.ID
	file   string
	read   int // parts
	now    bytes.Reader
}

func (p *parts) Read(into []byte) (int, error) {
	for p.now.Len() == 0 {
		text, err := p.store.UploadPart(p.ctx, p.upload, p.file, p.read+1)
		if err != nil {
			return 0, err
		}
		if text == nil {
			return 0, io.EOF
		}
		p.read++
		p.now.Reset(text)
	}
	return p.now.Read(into)
}

// findings stores findings as lines of JSON, in pieces of whole lines, so that they can be shown in any language.
// Values are left out: the sender of the files has them.
type findings struct {
	n   int64
	all [][]byte
	now bytes.Buffer
}

func (f *findings) tell(found Finding) {
	if f.n >= maxFindings {
		return
	}
	f.n++
	f.now.Write(append(loyalty.JSON(found), '\n'))
	if f.now.Len() >= findingsPiece {
		f.cut()
	}
}

func (f *findings) cut() {
	f.all = append(f.all, bytes.Clone(f.now.Bytes()))
	f.now.Reset()
}

func (f *findings) pieces() [][]byte {
	if f.now.Len() > 0 {
		f.cut()
	}
	return f.all
}

// FindingsCSV writes the findings of a piece as CSV, in the language of say. The first line, with the names of the
// columns, is FindingsHeader.
func FindingsCSV(piece []byte, say func(name string, args map[string]any) string) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	lines := json.NewDecoder(bytes.NewReader(piece))
	lines.UseNumber() // a whole number stays one, however long
	for {
		var f Finding
		err := lines.Decode(&f)
		if errors.Is(err, io.EOF) {
			w.Flush()
			return out.Bytes(), w.Error()
		}

		if err != nil {
			return nil, err
		}

		severity := "fault"
		if f.Warning {
			severity = "warning"
		}

		// Error returns the error
		_ = w.Write([]string{f.File, strconv.Itoa(f.Line), spreadsheet.Guard(f.Column), severity,
			spreadsheet.Guard(f.Text(say))})
	}
}

// FindingsHeader names the columns of FindingsCSV.
const FindingsHeader = "file,line,column,severity,message\n"
