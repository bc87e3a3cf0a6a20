package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// uncleanStop reports whether the file was not closed by its last user, or is in use: SQLite
// removes the log when the last connection closes.
func uncleanStop(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// CheckFile looks for damage in an SQLite file that was not closed in good order, and
// makes the store read-only where it finds some: what is written to a damaged file can
// be lost, or take more along. It fails with loyalty.ErrDamaged. On PostgreSQL, which
// has checks of its own, it does nothing.
func (s upkeep) CheckFile(ctx context.Context) error {
	e, ok := s.engine.(*sqliteEngine)
	if !ok || !e.unclean {
		return nil
	}
	if err := s.consistent(ctx, sound); err != nil && ctx.Err() == nil {
		e.damage()
		return loyalty.ErrDamaged.Because(err)
	}
	return nil
}

// damage has the writer refuse to write. What goes by the batches or administration
// is refused before it gets there, with a code of its own.
func (e *sqliteEngine) damage() {
	if !e.damaged.CompareAndSwap(false, true) {
		return
	}
	go func() { // the writer may be in the hands of who found the damage
		_, _ = e.writer.ExecContext(whole, "PRAGMA query_only = 1")
	}()
}

func (e *sqliteEngine) broken() bool { return e.damaged.Load() }

// broken: PostgreSQL refuses by itself what it cannot write.
func (*postgresEngine) broken() bool { return false }

// sound asks SQLite whether its file is whole; PostgreSQL refuses to read a
// damaged page by itself.
func sound(db *gorm.DB) error {
	if db.Name() != "sqlite" {
		return nil
	}
	// A value that a CHECK forbids is for the invariants to find.
	var answers []string
	err := errors.Join(
		db.Exec("PRAGMA ignore_check_constraints = 1").Error,
		db.Raw("PRAGMA quick_check(1)").Scan(&answers).Error,
		db.Exec("PRAGMA ignore_check_constraints = 0").Error,
	)
	if err != nil {
		return err
	}
	if len(answers) != 1 || answers[0] != "ok" {
		return fmt.Errorf("the database file is damaged: %v", answers)
	}
	return nil
}
