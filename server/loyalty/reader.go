package loyalty

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// CustomerQuery selects customers. Fields that may be filtered: status,
// language, currency, handler and email (in any case), created_at, score, spendable,
// list (the id of a customer list).
type CustomerQuery struct {
	Conditions []Condition
	Search     string             // prefix of e-mail, handler, first or last name, in any case
	SearchIn   []*CustomAttribute // attributes of core/customer that Search covers as well
	Whole      bool               // Search must match the whole text instead of its beginning
	Custom     *CustomFilter      // by custom attributes; nil: by none
	// status, created_at, by offset and not together with Search; or one of those of ByCursor
	Sort []Sorting
	Page Page
}

// Statement is a customer's points at one instant.
type Statement struct {
	Customer Customer // present state
	Figures  points.Figures
	Lots     []points.Lot // open lots: free or reserved points, in no particular order
}

// Sort puts the lots in spending order. The days of inactivity are those of loc.
func (s *Statement) Sort(loc *time.Location) {
	slices.SortFunc(s.Lots, func(x, y points.Lot) int {
		return points.SpendingOrder(&x, &y, s.Customer.LastActivityAt, loc)
	})
}

// TierStanding is what is stored of a customer in a structure of tiers.
type TierStanding struct {
	Customer ID
	Name     string
	Enrolled time.Time
	Score    int64
	State    json.RawMessage // the progress; nil: there is none yet
	DueAt    time.Time       // when it must be evaluated; zero: never
}

// Reader answers questions about customers and what they have. It never locks and never writes.
type Reader interface {
	JournalReader
	RewardReader
	// Customer finds a customer by the exact identifier, otherwise by an external id written name:value. It fails with
	// ErrCustomerNotFound.
	Customer(ctx context.Context, ref string) (Customer, error)
	// CustomerIDs is Customer for many references at once. References without a customer are left out.
	CustomerIDs(ctx context.Context, refs []string) (map[string]ID, error)
	// Customers lists customers by creation, oldest first, then id, unless the query has another order.
	Customers(ctx context.Context, q CustomerQuery) ([]Customer, error)
	// CountCustomers counts what Customers would list.
	CountCustomers(ctx context.Context, q CustomerQuery) (int64, error)
	// Statement returns the present figures and open lots of a customer, by id, or if that is zero by reference. It
	// fails with ErrCustomerNotFound.
	Statement(ctx context.Context, customer ID, ref string) (Statement, error)
	// UsedLots returns used-up lots, newest first and a thousand at most: the present state, or the state as recorded
	// at an instant; zero: now.
	UsedLots(ctx context.Context, customer ID, at time.Time) ([]points.Lot, error)
	// StatementAt returns a statement as recorded at an instant.
	StatementAt(ctx context.Context, customer ID, at time.Time) (Statement, error)
	// TierStandings reads the next active and suspended customers after one, by id, with their stored state in a
	// structure of tiers.
	TierStandings(ctx context.Context, structure string, after ID, limit int) ([]TierStanding, error)
	// Coupon finds a coupon by its code, with its present holder; a zero customer: it has none. It fails with
	// ErrCouponNotFound.
	Coupon(ctx context.Context, code string) (Coupon, Person, error)
	// RewardClaim finds a reward that a customer claimed or received, by the event that records it. It fails with
	// ErrClaimNotFound.
	RewardClaim(ctx context.Context, customer, event ID) (RewardClaim, error)
	// CustomerNames returns the names of customers, for merged ones those of the target; customers who left are not
	// included.
	CustomerNames(ctx context.Context, ids []ID) (map[ID]string, error)
	BulkReader
	CouponReader
	// CampaignTotals sums up what each of some campaigns did, by their ids, in one round trip. A campaign that never
	// gave anything may be missing.
	CampaignTotals(ctx context.Context, campaigns []string) (map[string]CampaignTotals, error)
}

// ByCursor reports whether pages of the list have a cursor: by creation, last name or e-mail alone, in either
// direction.
func (q CustomerQuery) ByCursor() bool {
	return len(q.Sort) == 0 || len(q.Sort) == 1 &&
		slices.Contains([]string{"created_at", "last_name", "email"}, q.Sort[0].Field)
}

// RewardReader answers questions about rewards and claims that name no customer.
type RewardReader interface {
	// ClaimByID finds a claim by the event that records it, with its customer, for a merged one the target of the
	// merge. It fails with ErrClaimUnknown (190221).
	ClaimByID(ctx context.Context, id ID) (RewardClaim, Customer, error)
	// Tallies reads counts that all customers share, by key. A key that was never counted is missing.
	Tallies(ctx context.Context, keys []string) (map[string]int64, error)
}

// CouponQuery selects coupons. Fields that may be filtered: code, type, pool, reward, created_at, claimed_at,
// redeemed_at, expires_at; status, whose values are CouponStates; customer, whose values are IDs of customers who are
// not merged, or references as Reader.Customer takes them. All but code and customer sort.
type CouponQuery struct {
	// Holder limits the list to the coupons of a customer and of those merged into them; zero: every coupon.
	Holder ID
	// Ref names the holder instead, as Reader.Customer takes it.
	Ref        string
	Conditions []Condition
	At         time.Time // the instant at which status is evaluated
	// Sort goes by offset. Without it the newest come first: a holder's by when they got them, otherwise by creation.
	Sort []Sorting
	Page Page
}

// HeldCoupon is a coupon with its present holder: ID, Name and Status of the customer, for a merged one those of the
// target. Zero: none.
type HeldCoupon struct {
	Coupon
	Holder Person
}

// couponWeight is the approximate size of a shown coupon besides its texts.
const couponWeight = 500

// Weight is the approximate number of bytes of text of a coupon.
func (c *HeldCoupon) Weight() int {
	n := couponWeight + len(c.Code) + len(c.Pool) + len(c.Reward) + len(c.Holder.Name)
	for language, name := range c.Name.Texts {
		n += len(language) + len(name)
	}
	for _, list := range [][]string{c.Stores, c.Products} {
		for _, text := range list {
			n += len(text)
		}
	}
	return n
}

// CouponPage is a part of a list of coupons.
type CouponPage struct {
	Customer Customer // set if Ref named one
	Coupons  []HeldCoupon
}

// CouponRecord is a coupon with its holder (zero if it has none) and the events that changed it, latest first.
type CouponRecord struct {
	Coupon Coupon
	Holder Person
	Moves  []CouponMove
}

// ClaimPage is a part of a list of claims.
type ClaimPage struct {
	Customer Customer // set if Ref named one
	Claims   []RewardClaim
	Archived map[string]Entity     // the archived rewards of Claims, by id
	Coupons  map[string]HeldCoupon // their coupons that the customer still holds, by code
}

// CouponMove is an event that changed a coupon.
type CouponMove struct {
	ID          ID
	Action      string
	At          time.Time
	Transaction string // the purchase it belongs to; empty: none
	Customer    Person // of the event, as HeldCoupon.Holder
	After       Coupon
}

// CouponUsageQuery selects coupons to count. Fields: pool, created_at.
type CouponUsageQuery struct {
	Conditions []Condition
	Day        string    // the instant whose UTC day counts: created_at, claimed_at, redeemed_at
	At         time.Time // as in CouponQuery
	Page       Page      // by offset
}

// CouponUsage counts the coupons that share pool, status, day and currency.
type CouponUsage struct {
	Pool     string // empty: coupons without a pool
	Status   CouponState
	Day      time.Time // its beginning, UTC
	Currency string    // empty: coupons whose value is not money
	Count    int64
	Value    money.Amount // their value when they were given: amounts and gift cards
	Redeemed money.Amount // the redeemed part that stands
}

// PoolStock counts the codes of a pool.
type PoolStock struct {
	Total     int64
	Available int64 // never held
	Claimed   int64 // held and not used
	Redeemed  int64 // used, including gift cards with a balance left
	Given     int64 // codes that went to a customer within PoolPace
}

// PoolPace is the period over which the pace of a pool is counted.
const PoolPace = 30 * 24 * time.Hour

// ClaimQuery selects what a customer, and those merged into them, claimed or received.
type ClaimQuery struct {
	Customer    ID
	Ref         string // names the customer instead, as Reader.Customer takes it
	OldestFirst bool
	Page        Page // without a limit: all claims
}

// CouponReader answers questions about coupons and claimed rewards.
type CouponReader interface {
	// Coupons lists coupons. It fails with ErrCustomerNotFound if Ref matches no customer.
	Coupons(ctx context.Context, q CouponQuery) (CouponPage, error)
	// CouponRecord finds a coupon by its code, with at most the given number of the last events that changed it. It
	// fails with ErrCouponNotFound.
	CouponRecord(ctx context.Context, code string, moves int) (CouponRecord, error)
	// CouponUsage counts coupons, the latest day first, then by pool, status and
	// currency.
	CouponUsage(ctx context.Context, q CouponUsageQuery) ([]CouponUsage, error)
	// PoolStock counts the codes of pools by their state at an instant. A pool without codes is missing.
	PoolStock(ctx context.Context, pools []string, at time.Time) (map[string]PoolStock, error)
	// Claims lists claimed and received rewards, newest first. It fails with
	// ErrCustomerNotFound if Ref matches no customer.
	Claims(ctx context.Context, q ClaimQuery) (ClaimPage, error)
}

// Expires reports whether a coupon in this state is expired after its expiry date.
func (s CouponState) Expires() bool {
	_, open := CouponMoves["expire"][s]
	return open
}

type readingKey struct{}

// Reading marks the context of a request that changes nothing and decides nothing: it may read from a replica of the
// database that is as new as the read needs.
func Reading(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingKey{}, true)
}

// IsReading reports whether Reading marked a context.
func IsReading(ctx context.Context) bool { return ctx.Value(readingKey{}) != nil }
