package store

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// OptOut is a customer who opted out, by the internal id, and when it was recorded. It names no person.
type OptOut struct {
	Customer loyalty.ID
	At       time.Time
}

// OptOuts lists the customers who opted out since an instant, and those merged into them, in order of time. An older
// copy of the database must forget them too before it serves.
func (s journalStore) OptOuts(ctx context.Context, since time.Time) ([]OptOut, error) {
	const forgotten = `SELECT customer_id, recorded_at FROM events WHERE action = 'opt_out' AND recorded_at >= ?
 UNION ALL SELECT c.id, e.recorded_at FROM events e JOIN customers c ON c.merged_into = e.customer_id WHERE e.action = 'opt_out' AND e.recorded_at >= ?
 ORDER BY 2, 1`
	var rows []struct {
		CustomerID UUID
		RecordedAt int64
	}

	if err := s.read.WithContext(ctx).Raw(forgotten, since.UnixMilli(), since.UnixMilli()).Scan(&rows).Error; err != nil {
		return nil, s.classify(err)
	}

	list := make([]OptOut, len(rows))
	for i, r := range rows {
		list[i] = OptOut{loyalty.ID(r.CustomerID), time.UnixMilli(r.RecordedAt).UTC()}
	}

	return list, nil
}

// LastRecorded is when the newest event was recorded; zero: there is none.
func (s journalStore) LastRecorded(ctx context.Context) (time.Time, error) {
	var at *int64
	if err := s.read.WithContext(ctx).Raw(`SELECT max(recorded_at) FROM events`).Scan(&at).Error; err != nil || at == nil {
		return time.Time{}, s.classify(err)
	}
	return time.UnixMilli(*at).UTC(), nil
}
