package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/loyalty-platform/loyalty/store/schema"
)

// ErrUnfinishedRestore says that a restore was interrupted, or found a difference.
var ErrUnfinishedRestore = errors.New("this database is not served, because its restore was cut off or found a difference: " +
	"restore into another, empty database; with --accept-differences what differs is reported and accepted")

// BeginRestore marks the database as one whose restore has not ended.
func (p portable) BeginRestore(ctx context.Context) error {
	return p.classify(p.write.WithContext(ctx).Exec(schema.CreateRestoring).Error)
}

// EndRestore removes the mark.
func (p portable) EndRestore(ctx context.Context) error {
	return p.classify(p.write.WithContext(ctx).Exec("DROP TABLE IF EXISTS " + schema.Restoring).Error)
}

// Restored fails with ErrUnfinishedRestore while the mark exists.
func (p portable) Restored(ctx context.Context) error {
	if p.read.WithContext(ctx).Migrator().HasTable(schema.Restoring) {
		return ErrUnfinishedRestore
	}
	return nil
}

// MarkRestoring marks the file of an embedded database that no other process has open.
func MarkRestoring(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", sqliteDSN(path, false))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, schema.CreateRestoring)
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
