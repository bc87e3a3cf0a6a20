package store

import (
	"context"
	"time"
)

// forgetPage is how many answers one statement deletes: SQLite has one writer,
// and purchases must not wait for a night's worth of deletions.
const forgetPage = 1000

// ForgetAnswers deletes the stored answers of idempotent requests that are
// older than an instant. A job calls it; several nodes may.
func (s *Store) ForgetAnswers(ctx context.Context, before time.Time) error {
	const statement = `DELETE FROM answers WHERE (access_key, key) IN (SELECT access_key, key FROM answers WHERE at < ? ORDER BY at LIMIT ?)`
	for {
		deleted := s.write.WithContext(ctx).Exec(statement, Millis(before), forgetPage)
		if deleted.Error != nil || deleted.RowsAffected < forgetPage {
			return s.fault(deleted.Error)
		}
	}
}
