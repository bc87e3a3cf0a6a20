package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/loyalty-platform/loyalty/store"
)

// Is reports whether a file has the manifest of a backup beside it.
func Is(path string) bool {
	_, err := os.Stat(path + manifestSuffix)
	return err == nil
}

// Open reads the manifest of a backup and checks the file against it. It fails with ErrDamaged.
func Open(path string) (*Backup, error) {
	m, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	return &Backup{path, *m}, m.whole(path)
}

// Embedded reports whether it is a copy of an embedded database.
func (b *Backup) Embedded() bool { return b.Kind == kindSQLite }

// PutFile puts a copy of the backup in the place of a missing embedded database, completely or not at all. The copy is
// marked as one with an unfinished restore.
func (b *Backup) PutFile(ctx context.Context, path string) error {
	for _, there := range []string{path, path + "-wal"} {
		if info, err := os.Stat(there); err == nil && info.Size() > 0 {
			return fmt.Errorf("%s: %w: move it away first", there, fs.ErrExist)
		}
	}

	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}

	from, err := os.Open(b.Path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // only read

	partial := path + partialSuffix
	to, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}

	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err == nil {
		err = store.MarkRestoring(ctx, partial)
	}
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		return errors.Join(err, gone(partial))
	}

	return nil
}

// PutDatabase fills a PostgreSQL database without a schema, in one transaction, and marks it as one with an unfinished
// restore.
func (b *Backup) PutDatabase(ctx context.Context, db *store.Store, url string) error {
	version, err := db.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if version > 0 {
		return fmt.Errorf("%w: make a new one (createdb)", store.ErrNotEmpty)
	}

	t, err := findTools(ctx, db)
	if err != nil {
		return err
	}
	if err := db.BeginRestore(ctx); err != nil {
		return err
	}
	if err := t.run(ctx, "pg_restore", url, "--no-owner", "--no-privileges", "--exit-on-error",
		"--single-transaction", b.Path); err != nil {
		return errors.Join(err, db.EndRestore(context.WithoutCancel(ctx))) // nothing was restored
	}

	return db.Filled(ctx, func(*store.Still) error { return nil }) // analyzes the tables for the planner
}
