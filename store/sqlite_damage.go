package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// uncleanStop reports whether the file was not closed by its last user, or is in use: SQLite removes the log when the
// last connection closes.
func uncleanStop(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// CheckFile looks for damage in an SQLite file that was not closed properly, and makes the store read-only if it
// finds some: data written to a damaged file can be lost, or destroy more. It fails with loyalty.ErrDamaged. It does
// nothing on PostgreSQL, which has its own checks.
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

// damage makes the writer refuse to write. Batches and administrative changes are refused before they reach it, with
// a code of their own.
func (e *sqliteEngine) damage() {
	if !e.damaged.CompareAndSwap(false, true) {
		return
	}
	go func() { // in the background, because the caller may hold the writer
		_, _ = e.writer.ExecContext(whole, "PRAGMA query_only = 1")
	}()
}

func (e *sqliteEngine) broken() bool { return e.damaged.Load() }

// broken is always false: PostgreSQL itself refuses what it cannot write.
func (*postgresEngine) broken() bool { return false }

// sound asks SQLite whether its file is intact; PostgreSQL itself refuses to read a damaged page.
func sound(db *gorm.DB) error {
	if db.Name() != "sqlite" {
		return nil
	}

	// Values that a CHECK forbids are left to the invariants.
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
