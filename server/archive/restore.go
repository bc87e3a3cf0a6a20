package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/loyalty-platform/loyalty/store"
)

// ErrOtherKey means that the archive's secrets are sealed with another master key.
var ErrOtherKey = errors.New("LOYALTY_MASTER_KEY is not the archive's master key: its sealed values could never be opened again")

// Fill migrates an empty database to the archive's schema and fills it, in one transaction: if it fails or is killed,
// the database is as empty as before. Then it reads the rows back and returns the tables whose sums differ from the
// archive's. The database is marked as one with an unfinished restore.
func (a *Archive) Fill(ctx context.Context, db *store.Store, told func(Progress)) (differ []string, err error) {
	m := &a.Manifest
	if !db.KnowsMasterKeys(m.MasterKey) {
		return nil, ErrOtherKey
	}

	progress := &meter{Progress{Of: 2 * m.rows()}, told}
	err = db.Fill(ctx, m.Schema, m.began(), func(f *store.Filling) error {
		if len(f.Tables) != len(m.Tables) {
			return fmt.Errorf("%w: it has %d tables, and schema %d has %d", ErrDamaged, len(m.Tables), m.Schema, len(f.Tables))
		}
		if err := f.Mark(); err != nil {
			return err
		}
		for _, t := range f.Tables {
			if err := a.fillTable(ctx, f, t, progress); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	err = db.Filled(ctx, func(s *store.Still) error {
		for _, t := range s.Tables {
			wanted, err := m.table(t)
			if err != nil {
				return err
			}
			there, err := lines(s, t, io.Discard, progress, func([]any) {})
			if err != nil {
				return err
			}
			if there.SHA256 != wanted.SHA256 {
				differ = append(differ,
					fmt.Sprintf("table %s: %d rows in the archive, %d in the database, with other contents",
						t.Name, wanted.Rows, there.Rows))
			}
		}

		return nil
	})

	return differ, err
}

// table finds a table of the archive, which must have the columns of the database's table at the archive's schema.
func (m *Manifest) table(t store.Table) (Table, error) {
	i := slices.IndexFunc(m.Tables, func(a Table) bool { return a.Equal(t) })
	if i < 0 {
		return Table{}, fmt.Errorf("%w: table %s is not as schema %d has it", ErrDamaged, t.Name, m.Schema)
	}
	return m.Tables[i], nil
}

func (a *Archive) fillTable(ctx context.Context, f *store.Filling, t store.Table, progress *meter) error {
	wanted, err := a.Manifest.table(t)
	if err != nil {
		return err
	}

	rows, err := a.rows(wanted)
	if err != nil {
		return err
	}

	err = f.Insert(t, func() ([]any, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row, err := rows.next()
		if err == nil {
			progress.row()
		}
		return row, err
	})

	return errors.Join(err, rows.close())
}
