package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/loyalty-platform/loyalty/store"
)

// opened calls use with an opened copy: a file as it is, PostgreSQL's in a temporary database. It fails with
// store.ErrNoScratch if none can be created; then the copy was at least read to its end.
func (b *Backup) opened(ctx context.Context, o *Options, path string, use func(*store.Store) error) error {
	if b.Kind == kindSQLite {
		return using(ctx, store.Options{URL: "sqlite:" + path, Copy: true, ReadConnections: 1}, use)
	}

	t, err := findTools(ctx, o.Store)
	if err != nil {
		return err
	}
	if err := t.run(ctx, "pg_restore", "", "--file="+os.DevNull, path); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if o.Store == nil || o.Store.Embedded() {
		return store.ErrNoScratch
	}

	return o.Store.Scratch(ctx, strings.ToLower(rand.Text()[:8]), func(name string) error {
		there, err := otherDatabase(o.URL, name)
		if err != nil {
			return err
		}
		if err := t.run(ctx, "pg_restore", there, "--no-owner", "--no-privileges", "--exit-on-error", path); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return using(ctx, store.Options{URL: there, ReadConnections: 2, BatchConnections: 1},
			func(copied *store.Store) error {
				// analyzes the tables for the planner
				if err := copied.Filled(ctx, func(*store.Still) error { return nil }); err != nil {
					return err
				}
				return use(copied)
			})
	})
}

// using opens a copy without the master key: sealed values are not read.
func using(ctx context.Context, o store.Options, use func(*store.Store) error) error {
	copied, err := store.Open(ctx, o)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return errors.Join(use(copied), copied.Close())
}

// Verify checks a backup against its manifest: its sum, then its content and its ledger. The result says how far it
// could check: without a place to open a copy of PostgreSQL it is Read. It fails with ErrDamaged, and with ErrBroken.
func Verify(ctx context.Context, o Options) (b *Backup, err error) {
	err = Quietly(func() error {
		b, err = verify(ctx, o)
		return err
	})
	return b, err
}

func verify(ctx context.Context, o Options) (*Backup, error) {
	m, err := readManifest(o.Path)
	if err != nil {
		return nil, err
	}

	b := &Backup{o.Path, *m}
	o.step("reading the backup")
	if err := m.whole(o.Path); err != nil {
		return nil, err
	}

	was := m.Facts
	if err := b.prove(ctx, &o, o.Path); err != nil {
		return b, err
	}
	if b.Checked == Proven && b.Facts != was {
		return b, fmt.Errorf("%w: it holds %+v, and its manifest says %+v", ErrDamaged, b.Facts, was)
	}

	return b, nil
}
