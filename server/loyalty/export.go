package loyalty

import (
	"context"
	"time"
)

// ExportPlace is the key of a row of an exported table: the customer, if rows are kept by customer, and the row's own
// id or name. Zero: before the first row.
type ExportPlace struct {
	Customer, ID ID
	Name         string // of a purchase
}

// ExportQuery selects a piece of an exported table: rows in the order of their keys.
type ExportQuery struct {
	After ExportPlace
	// From and Before are the period in which rows were created; zero: no bound.
	From, Before time.Time
	// Customers limits the rows to these customers; none: no limit.
	Customers []ID
	Limit     int // rows at most; more than 0
}

// ExportPart is a piece of a table.
type ExportPart[R any] struct {
	Rows []R
	// Through is the place from which to continue. It may be beyond the last row: a period may have no rows for long.
	Through ExportPlace
	More    bool // there may be more after Through
}

// ExportReader reads whole tables, piece by piece. Each piece is of one instant; the next one includes what was written
// meanwhile.
type ExportReader interface {
	FeedReader
	// CustomerNames is Reader's.
	CustomerNames(ctx context.Context, ids []ID) (map[ID]string, error)
	// SamePerson returns the ids of a customer and of all customers merged into them, in order.
	SamePerson(ctx context.Context, customer ID) ([]ID, error)
	// ExportCustomers reads customers, merged ones too, by time of creation.
	ExportCustomers(ctx context.Context, q ExportQuery) (ExportPart[Customer], error)
	// ExportLots reads lots by when they were earned.
	ExportLots(ctx context.Context, q ExportQuery) (ExportPart[CustomerLot], error)
	// ExportPurchases reads purchases by when they were recorded.
	ExportPurchases(ctx context.Context, q ExportQuery) (ExportPart[Transaction], error)
	// ExportCoupons reads coupons by time of creation.
	ExportCoupons(ctx context.Context, q ExportQuery) (ExportPart[Coupon], error)
	// ExportClaims reads claimed rewards by when they were claimed.
	ExportClaims(ctx context.Context, q ExportQuery) (ExportPart[RewardClaim], error)
}
