package store

import (
	"context"
	"maps"
	"slices"
)

// Prepared gives the texts that a SQLite store has prepared for its batches.
func (s *Store) Prepared() (texts []string) {
	_ = s.engine.(*sqliteEngine).writing(context.Background(), func(conn *sqliteConn) error {
		texts = slices.Sorted(maps.Keys(conn.prepared))
		return conn.exec("ROLLBACK")
	})
	return texts
}

// WalksByID are the statements that read customers page by page.
func WalksByID() map[string]string {
	return map[string]string{"tiers": standingsPage, "reminders": remindablePage}
}
