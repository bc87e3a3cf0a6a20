package loyalty

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Sorting is one key of an order: a field, and which way it goes. What is absent
// comes last either way.
type Sorting struct {
	Field      string
	Descending bool
}

// CouponQuery selects coupons. Fields that may be filtered: code, type, pool,
// reward, created_at, claimed_at, redeemed_at, expires_at; status, whose values are
// CouponStates; customer, whose values are IDs of customers who are not merged. All
// but code and customer sort.
type CouponQuery struct {
	// Holder limits the list to what a customer holds, with what those merged into
	// them held; zero: every coupon.
	Holder     ID
	Conditions []Condition
	At         time.Time // the instant for which status tells where a coupon stands
	// Sort goes by offset. Without it the newest come first: a holder's by when they
	// got them, else by creation.
	Sort []Sorting
	Page Page
}

// HeldCoupon is a coupon with who holds it now: ID, Name and Status of the
// customer, of a merged one those of the one they became part of. Zero: nobody.
type HeldCoupon struct {
	Coupon
	Holder Customer
}

// CouponMove is an event that changed a coupon.
type CouponMove struct {
	ID          ID
	Action      string
	At          time.Time
	Transaction string   // the purchase it belongs to; empty: none
	Customer    Customer // whose event it is, as HeldCoupon.Holder
	After       CouponEffect
}

// CouponUsageQuery selects what is counted. Fields: pool, created_at.
type CouponUsageQuery struct {
	Conditions []Condition
	Day        string    // the instant whose UTC day counts: created_at, claimed_at, redeemed_at
	At         time.Time // as in CouponQuery
	Page       Page      // by offset
}

// CouponUsage counts the coupons that share pool, status, day and currency.
type CouponUsage struct {
	Pool     string // empty: those that come from none
	Status   CouponState
	Day      time.Time // its beginning, UTC
	Currency string    // empty: those whose value is not money
	Count    int64
	Value    money.Amount // what they were worth when they were given: amounts and gift cards
	Redeemed money.Amount // how much of it stands redeemed
}

// PoolStock counts the codes of a pool.
type PoolStock struct {
	Total     int64
	Available int64 // that nobody had yet
	Claimed   int64 // held and not used
	Redeemed  int64 // used, gift cards with a rest among them
}

// ClaimQuery selects what a customer claimed or received, with what those merged
// into them did.
type ClaimQuery struct {
	Customer    ID
	OldestFirst bool
	Page        Page // without a limit: all of them
}

// CouponReader answers questions about coupons and claimed rewards.
type CouponReader interface {
	// Coupons lists coupons.
	Coupons(ctx context.Context, q CouponQuery) ([]HeldCoupon, error)
	// CouponHistory lists the events that changed a coupon, the last one first.
	CouponHistory(ctx context.Context, coupon ID, limit int) ([]CouponMove, error)
	// CouponUsage counts coupons, the latest day first, then by pool, status and
	// currency.
	CouponUsage(ctx context.Context, q CouponUsageQuery) ([]CouponUsage, error)
	// PoolStock counts the codes of pools as they stand at an instant. A pool
	// without codes is not among them.
	PoolStock(ctx context.Context, pools []string, at time.Time) (map[string]PoolStock, error)
	// Claims lists claimed and received rewards, the newest first.
	Claims(ctx context.Context, q ClaimQuery) ([]RewardClaim, error)
}

// Expires says whether a coupon in this state is expired once its time is over.
func (s CouponState) Expires() bool {
	_, open := CouponMoves["expire"][s]
	return open
}
