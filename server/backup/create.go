package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/loyalty-platform/loyalty/store"
)

// partialSuffix is the suffix of an unfinished file.
const partialSuffix = ".partial"

// namePrefix is the prefix of generated names.
const namePrefix = "loyalty-"

// Options select the database to copy, and the target.
type Options struct {
	Store *store.Store
	URL   string // of the database, for PostgreSQL's own programs
	// Path is the file to create; empty: one in Folder, named by the time.
	Path, Folder string
	// Keep is how many backups with generated names stay in the folder; 0: all.
	Keep int
	// Steps is called with the next step; nil: not called.
	Steps func(string)
	// Problem is called with each fault in the copy; nil: not called.
	Problem func(string)
}

func (o *Options) step(what string) {
	if o.Steps != nil {
		o.Steps(what)
	}
}

// Create copies the database as it is at one instant, without blocking writers, proves the copy and writes its
// manifest. A copy whose ledger does not hold is kept and marked, and Create fails with ErrBroken.
func Create(ctx context.Context, o Options) (b *Backup, err error) {
	err = Quietly(func() error {
		b, err = create(ctx, o)
		return err
	})
	return b, err
}

func create(ctx context.Context, o Options) (*Backup, error) {
	b := &Backup{Path: o.Path,
		Manifest: Manifest{Version: formatVersion, MadeAt: time.Now().UTC().Truncate(time.Millisecond),
			MasterKey: o.Store.MasterKeyFingerprint()}}
	if b.Path == "" {
		b.Path = filepath.Join(o.Folder, namePrefix+b.MadeAt.Format("20060102T150405.000Z"))
	}
	if err := vacant(b.Path); err != nil {
		return nil, err
	}

	partial := b.Path + partialSuffix
	if err := b.copy(ctx, &o, partial); err != nil {
		return nil, errors.Join(err, gone(partial))
	}

	broken := b.prove(ctx, &o, partial)
	if broken != nil && !errors.Is(broken, ErrBroken) {
		return nil, errors.Join(broken, gone(partial))
	}
	if err := os.Rename(partial, b.Path); err != nil {
		return nil, errors.Join(err, gone(partial))
	}
	if err := b.write(b.Path); err != nil {
		return nil, errors.Join(err, gone(b.Path))
	}
	if broken == nil && o.Keep > 0 {
		return b, prune(filepath.Dir(b.Path), o.Keep)
	}

	return b, broken
}

// vacant fails if a backup or its manifest would be overwritten.
func vacant(path string) error {
	for _, p := range []string{path, path + manifestSuffix} {
		if _, err := os.Stat(p); err == nil {
			return &fs.PathError{Op: "backup", Path: p, Err: fs.ErrExist}
		}
	}
	return nil
}

// gone removes an unfinished file.
func gone(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copy writes the copy into a file that only its owner can read, and flushes it to the disk.
func (b *Backup) copy(ctx context.Context, o *Options, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}

	o.step("copying the database")
	flushing, give := context.WithCancel(ctx)
	defer give()
	finish := flushed(flushing, f)
	if o.Store.Embedded() {
		b.Kind = kindSQLite
		err = o.Store.CopyFile(ctx, path)
	} else {
		b.Kind = kindPostgres
		err = b.dump(ctx, o, path)
	}

	if err != nil {
		give()
	}
	if err = errors.Join(err, finish(), f.Sync(), f.Close()); err != nil {
		return err
	}

	b.Size, b.SHA256, err = sum(path)
	return err
}

// dump runs pg_dump on the snapshot whose facts are noted.
func (b *Backup) dump(ctx context.Context, o *Options, path string) error {
	t, err := findTools(ctx, o.Store)
	if err != nil {
		return err
	}
	return o.Store.Exported(ctx, func(snapshot string, f store.Facts) error {
		b.Facts = f
		return t.run(ctx, "pg_dump", o.URL, "--format=custom", "--compress=1", "--snapshot="+snapshot, "--file="+path)
	})
}

// ErrBroken means that the ledger of a copy does not hold. Then the database's does not hold either.
var ErrBroken = errors.New("the ledger of the copy is broken")

// prove opens the copy. The facts of PostgreSQL's are known from the snapshot; those of a file are read from it.
func (b *Backup) prove(ctx context.Context, o *Options, path string) error {
	o.step("checking the copy")
	var seen store.Facts
	err := b.opened(ctx, o, path, func(copied *store.Store) (err error) {
		if seen, err = copied.Facts(ctx); err != nil {
			return err
		}
		return ledgerHolds(ctx, copied, o)
	})

	if b.Kind == kindSQLite {
		b.Facts = seen
	}

	switch {
	case errors.Is(err, store.ErrNoScratch):
		b.Checked = Read
		return nil
	case errors.Is(err, ErrBroken):
		b.Checked = Broken
		return err
	case err != nil:
		return err
	case seen != b.Facts:
		return fmt.Errorf("%w: it holds %+v, and the database held %+v", ErrDamaged, seen, b.Facts)
	}

	b.Checked = Proven
	return nil
}

// ledgerHolds proves the invariants of a copy. For a file, its pages are checked first.
func ledgerHolds(ctx context.Context, copied *store.Store, o *Options) error {
	broken := 0
	var unchecked error
	copied.VerifyLedger(ctx, func(c store.LedgerCheck) {
		switch c.Verdict {
		case store.LedgerBroken:
			broken++
			if o.Problem != nil {
				o.Problem(fmt.Sprintf("%s is broken in %d places: %s", c.Invariant, c.Broken, c.Title))
			}
		case store.LedgerUnchecked:
			unchecked = errors.Join(unchecked, c.Err)
		}
	})

	switch {
	case broken > 0:
		return fmt.Errorf("%w: %d invariants are broken", ErrBroken, broken)
	case unchecked != nil:
		return fmt.Errorf("the copy could not be checked: %w", unchecked)
	}

	return nil
}
