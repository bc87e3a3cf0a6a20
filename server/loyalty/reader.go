package loyalty

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Operator compares a field with a value.
type Operator string

// The operators of the filter grammars.
const (
	Eq  Operator = "eq"
	Ne  Operator = "ne"
	Gt  Operator = "gt"
	Gte Operator = "gte"
	Lt  Operator = "lt"
	Lte Operator = "lte"
	In  Operator = "in"
	Nin Operator = "nin"
)

// Span is a stretch of time: from its first instant, before its last. A day in
// a filter is one.
type Span struct{ From, Before time.Time }

// Condition is one filter, already read: values are string, int64 or time.Time
// as the field's kind wants; on an instant, In and Nin carry Spans. Several
// conditions combine with AND.
type Condition struct {
	Field    string
	Operator Operator
	Values   []any
}

// Page says which part of a list is wanted. After, where set, is the last entry
// of the page before (its sort instant and id), and wins over Offset.
type Page struct {
	Limit, Offset int
	After         *Cursor
	Before        *Cursor // the first entry of the page after, for a previous link
}

// Cursor is a position in a list ordered by time, then id.
type Cursor struct {
	At time.Time
	ID ID
}

// CustomerQuery selects customers. Fields that may be filtered: status,
// language, currency, handler and email (in any case), created_at, score, spendable,
// list (the id of a customer list).
type CustomerQuery struct {
	Conditions []Condition
	Search     string             // prefix of e-mail, handler, first or last name, in any case
	SearchIn   []*CustomAttribute // attributes of core/customer that Search looks into as well
	Custom     *CustomFilter      // by attributes of the programme's own; nil: by none
	Sort       []Sorting          // status, created_at, by offset (but see ByCursor), and not together with Search
	Page       Page
}

// Statement is what a customer's points are at one instant.
type Statement struct {
	Figures points.Figures
	Lots    []points.Lot // open lots: free or reserved points
}

// Reader answers questions about customers and what they have. It never locks and never writes.
type Reader interface {
	HolderReader
	JournalReader
	RewardReader
	// Customer finds by the exact identifier, else by an external id written
	// name:value. It fails with ErrCustomerNotFound.
	Customer(ctx context.Context, ref string) (Customer, error)
	// Customers lists by creation, the oldest first, then id.
	Customers(ctx context.Context, q CustomerQuery) ([]Customer, error)
	// CountCustomers counts what Customers would list.
	CountCustomers(ctx context.Context, q CustomerQuery) (int64, error)
	// Statement gives the figures and open lots now.
	Statement(ctx context.Context, customer ID) (Statement, error)
	// StatementAt gives them as they were recorded at an instant.
	StatementAt(ctx context.Context, customer ID, at time.Time) (Statement, error)
	// Coupon finds a coupon by its code, with the customer who holds it now; a
	// zero customer: nobody does. It fails with ErrCouponNotFound.
	Coupon(ctx context.Context, code string) (Coupon, Customer, error)
	// RewardClaim finds what a customer claimed or received by the event that
	// records it. It fails with ErrClaimNotFound.
	RewardClaim(ctx context.Context, customer, event ID) (RewardClaim, error)
	// CustomerNames gives what customers are called, of merged ones who they became;
	// those who left are not among them.
	CustomerNames(ctx context.Context, ids []ID) (map[ID]string, error)
	BulkReader
	CouponReader
	// CampaignFigures sums up what a campaign did, and says how much of its limit
	// over all customers is used.
	CampaignFigures(ctx context.Context, campaign string) (f CampaignFigures, limited int64, err error)
}
