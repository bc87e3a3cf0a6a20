package store

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

type failureRow struct {
	ID        UUID `gorm:"primaryKey"`
	At        Millis
	RequestID string
	Method    string
	Route     string
	API       string `gorm:"column:api"`
	Status    int
	Code      int64
	KeyID     string
	Fields    Document[[]string]
	Duration  int64 // microseconds
}

func (failureRow) TableName() string { return "failed_requests" }

// failuresAtOnce bounds the parameters of one statement.
const failuresAtOnce = 100

// AddFailures keeps failed requests; one that is stored already stays as it is.
func (s adminStore) AddFailures(ctx context.Context, all []loyalty.FailedRequest) error {
	rows := make([]failureRow, len(all))
	for i, f := range all {
		rows[i] = failureRow{
			ID: UUID(f.ID), At: Millis(f.At), RequestID: f.RequestID, Method: f.Method, Route: f.Route, API: f.API,
			Status: f.Status, Code: f.Code, KeyID: f.KeyID, Fields: Document[[]string]{f.Fields}, Duration: f.Duration.Microseconds(),
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return s.fault(s.write.WithContext(ctx).Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, failuresAtOnce).Error)
}

// ForgetFailures deletes failed requests older than an instant, and all but the newest of the rest.
func (s adminStore) ForgetFailures(ctx context.Context, before time.Time, keep int) error {
	db := s.write.WithContext(ctx)
	if err := db.Where("at < ?", Millis(before)).Delete(&failureRow{}).Error; err != nil {
		return s.fault(err)
	}
	return s.fault(db.Exec(`DELETE FROM failed_requests WHERE (at, id) <= (SELECT at, id FROM failed_requests
ORDER BY at DESC, id DESC LIMIT 1 OFFSET ?)`, keep).Error)
}

// failureColumns are the fields of a failed request that can be filtered.
var failureColumns = map[string]filterColumn{
	"at":     {expression: "at"},
	"status": {expression: "CAST(status AS bigint)"}, // PostgreSQL fails to compare an integer with a larger number
	"code":   {expression: "code"},
	"api":    {expression: "api"},
	"route":  {expression: "route"},
	"key_id": {expression: "key_id"},
}

// Failures lists failed requests, the newest first. There are at most loyalty.MaxFailures of them, so filters scan
// the one index.
func (s adminStore) Failures(ctx context.Context, q loyalty.FailureQuery) ([]loyalty.FailedRequest, error) {
	where, err := sqlFragment{}.andAll(failureColumns, q.Conditions)
	if err != nil {
		return nil, err
	}

	text, backwards := newestFirst("failed_requests", where, q.Page).sql()
	var rows []failureRow
	if err := s.read.WithContext(ctx).Raw(text.text, text.args...).Scan(&rows).Error; err != nil {
		return nil, s.fault(err)
	}

	list := make([]loyalty.FailedRequest, len(rows))
	for i, r := range rows {
		list[i] = loyalty.FailedRequest{
			ID: loyalty.ID(r.ID), At: r.At.Time(), RequestID: r.RequestID, Method: r.Method, Route: r.Route, API: r.API,
			Status: r.Status, Code: r.Code, KeyID: r.KeyID, Fields: r.Fields.V, Duration: time.Duration(r.Duration) * time.Microsecond,
		}
	}

	return inOrder(list, backwards), nil
}
