package loyalty

import (
	"context"
	"time"
)

// ExportPlace is the key of a row of a table that is exported: the customer, where rows are
// kept by customer, and the row's own id or name. Zero: before the first row.
type ExportPlace struct {
	Customer, ID ID
	Name         string // of a purchase
}

// ExportQuery selects a piece of a table that is exported: rows in the order of their keys.
type ExportQuery struct {
	After ExportPlace
	// From and Before are the stretch of time in which rows came about; zero: no bound.
	From, Before time.Time
	// Customers are those whose rows are wanted; none: everybody's.
	Customers []ID
	Limit     int // so many rows at most; more than 0
}

// ExportPart is a piece of a table.
type ExportPart[R any] struct {
	Rows []R
	// Through is the place behind which to go on. It may be further than the last row: of a
	// stretch of time there may be none for long.
	Through ExportPlace
	More    bool // there may be more behind Through
}

// ExportReader reads whole tables, piece by piece. Each piece is of one instant; the next one
// sees what was written meanwhile.
type ExportReader interface {
	FeedReader
	// CustomerNames is Reader's.
	CustomerNames(ctx context.Context, ids []ID) (map[ID]string, error)
	// SamePerson gives the ids of a customer and of everybody who was merged into them, in their order.
	SamePerson(ctx context.Context, customer ID) ([]ID, error)
	// ExportCustomers reads customers, merged ones too, by their creation's time.
	ExportCustomers(ctx context.Context, q ExportQuery) (ExportPart[Customer], error)
	// ExportLots reads lots by when they were earned.
	ExportLots(ctx context.Context, q ExportQuery) (ExportPart[CustomerLot], error)
	// ExportPurchases reads purchases by when they were recorded.
	ExportPurchases(ctx context.Context, q ExportQuery) (ExportPart[Transaction], error)
	// ExportCoupons reads coupons by their creation's time.
	ExportCoupons(ctx context.Context, q ExportQuery) (ExportPart[Coupon], error)
	// ExportClaims reads claimed rewards by when they were claimed.
	ExportClaims(ctx context.Context, q ExportQuery) (ExportPart[RewardClaim], error)
}
