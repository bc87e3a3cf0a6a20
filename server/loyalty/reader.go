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
	SearchIn   []*CustomAttribute // attributes of core/customer that Search looks into as well
	Whole      bool               // Search is the whole of what it finds, and not its beginning
	Custom     *CustomFilter      // by custom attributes; nil: by none
	Sort       []Sorting          // status, created_at, by offset and not together with Search; or one of those of ByCursor
	Page       Page
}

// Statement is what a customer's points are at one instant.
type Statement struct {
	Customer Customer // as they are now
	Figures  points.Figures
	Lots     []points.Lot // open lots: free or reserved points, in no particular order
}

// Sort puts the lots in spending order. The days of inactivity are those of loc.
func (s *Statement) Sort(loc *time.Location) {
	slices.SortFunc(s.Lots, func(x, y points.Lot) int { return points.SpendingOrder(&x, &y, s.Customer.LastActivityAt, loc) })
}

// TierStanding is what is stored of where a customer stands in a structure of tiers.
type TierStanding struct {
	Customer ID
	Name     string
	Enrolled time.Time
	Score    int64
	State    json.RawMessage // the progress; nil: there is none yet
	DueAt    time.Time       // when it has to be looked at; zero: never
}

// Reader answers questions about customers and what they have. It never locks and never writes.
type Reader interface {
	JournalReader
	RewardReader
	// Customer finds by the exact identifier, else by an external id written
	// name:value. It fails with ErrCustomerNotFound.
	Customer(ctx context.Context, ref string) (Customer, error)
	// CustomerIDs finds as Customer does, many at once. Whom nothing names is left out.
	CustomerIDs(ctx context.Context, refs []string) (map[string]ID, error)
	// Customers lists by creation, the oldest first, then id, unless the query says otherwise.
	Customers(ctx context.Context, q CustomerQuery) ([]Customer, error)
	// CountCustomers counts what Customers would list.
	CountCustomers(ctx context.Context, q CustomerQuery) (int64, error)
	// Statement gives the figures and open lots now, of a customer by id, or where that is zero
	// by reference. It fails with ErrCustomerNotFound.
	Statement(ctx context.Context, customer ID, ref string) (Statement, error)
	// UsedLots gives lots of which nothing is left, the newest first and a thousand at most: now, or as it was recorded at
	// an instant; zero: now.
	UsedLots(ctx context.Context, customer ID, at time.Time) ([]points.Lot, error)
	// StatementAt gives them as they were recorded at an instant.
	StatementAt(ctx context.Context, customer ID, at time.Time) (Statement, error)
	// TierStandings reads the next active and suspended customers after one, by id, with what is stored of a
	// structure of tiers.
	TierStandings(ctx context.Context, structure string, after ID, limit int) ([]TierStanding, error)
	// Coupon finds a coupon by its code, with the customer who holds it now; a
	// zero customer: none does. It fails with ErrCouponNotFound.
	Coupon(ctx context.Context, code string) (Coupon, Person, error)
	// RewardClaim finds what a customer claimed or received by the event that
	// records it. It fails with ErrClaimNotFound.
	RewardClaim(ctx context.Context, customer, event ID) (RewardClaim, error)
	// CustomerNames gives what customers are called, of merged ones who they became;
	// those who left are not among them.
	CustomerNames(ctx context.Context, ids []ID) (map[ID]string, error)
	BulkReader
	CouponReader
	// CampaignTotals sums up what each of some campaigns did, by their ids, in one round
	// trip. One that never gave anything may be missing.
	CampaignTotals(ctx context.Context, campaigns []string) (map[string]CampaignTotals, error)
}

// ByCursor reports whether pages of the list have a place of their own: by creation, last name or
// e-mail alone, either way, they have.
func (q CustomerQuery) ByCursor() bool {
	return len(q.Sort) == 0 || len(q.Sort) == 1 && slices.Contains([]string{"created_at", "last_name", "email"}, q.Sort[0].Field)
}

// RewardReader answers questions about rewards and claims that name no customer.
type RewardReader interface {
	// ClaimByID finds a claim by the event that records it, with the customer whose
	// claim it is; of a merged one with the one they became part of. It fails with
	// ErrClaimUnknown (190221).
	ClaimByID(ctx context.Context, id ID) (RewardClaim, Customer, error)
	// Tallies reads counts that all customers share, by key. One that was never
	// counted is not among them.
	Tallies(ctx context.Context, keys []string) (map[string]int64, error)
}

// CouponQuery selects coupons. Fields that may be filtered: code, type, pool,
// reward, created_at, claimed_at, redeemed_at, expires_at; status, whose values are
// CouponStates; customer, whose values are IDs of customers who are not merged, or references as
// Reader.Customer takes them. All
// but code and customer sort.
type CouponQuery struct {
	// Holder limits the list to what a customer holds, with what those merged into
	// them held; zero: every coupon.
	Holder ID
	// Ref names the holder instead, as Reader.Customer takes it.
	Ref        string
	Conditions []Condition
	At         time.Time // the instant for which status tells where a coupon stands
	// Sort goes by offset. Without it the newest come first: a holder's by when they
	// got them, else by creation.
	Sort []Sorting
	Page Page
}

// HeldCoupon is a coupon with who holds it now: ID, Name and Status of the
// customer, of a merged one those of the one they became part of. Zero: none.
type HeldCoupon struct {
	Coupon
	Holder Person
}

// couponWeight is about what is shown of a coupon besides its texts.
const couponWeight = 500

// Weight is about how many bytes of text a coupon has.
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
	Customer Customer // where Ref named one
	Coupons  []HeldCoupon
}

// CouponRecord is a coupon with its holder (zero if it has none) and the events that changed
// it, latest first.
type CouponRecord struct {
	Coupon Coupon
	Holder Person
	Moves  []CouponMove
}

// ClaimPage is a part of a list of claims.
type ClaimPage struct {
	Customer Customer // where Ref named one
	Claims   []RewardClaim
	Archived map[string]Entity     // the rewards of Claims that are archived, by id
	Coupons  map[string]HeldCoupon // what of their coupons the customer still holds, by code
}

// CouponMove is an event that changed a coupon.
type CouponMove struct {
	ID          ID
	Action      string
	At          time.Time
	Transaction string // the purchase it belongs to; empty: none
	Customer    Person // whose event it is, as HeldCoupon.Holder
	After       Coupon
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
	Available int64 // that were never held
	Claimed   int64 // held and not used
	Redeemed  int64 // used, gift cards with a rest among them
	Given     int64 // of those that were added, so many went to a customer within PoolPace
}

// PoolPace is how far back it is counted how fast a pool gives codes.
const PoolPace = 30 * 24 * time.Hour

// ClaimQuery selects what a customer claimed or received, with what those merged
// into them did.
type ClaimQuery struct {
	Customer    ID
	Ref         string // names the customer instead, as Reader.Customer takes it
	OldestFirst bool
	Page        Page // without a limit: all of them
}

// CouponReader answers questions about coupons and claimed rewards.
type CouponReader interface {
	// Coupons lists coupons. It fails with ErrCustomerNotFound if Ref matches no customer.
	Coupons(ctx context.Context, q CouponQuery) (CouponPage, error)
	// CouponRecord finds a coupon by its code, with the last so many events that changed
	// it. It fails with ErrCouponNotFound.
	CouponRecord(ctx context.Context, code string, moves int) (CouponRecord, error)
	// CouponUsage counts coupons, the latest day first, then by pool, status and
	// currency.
	CouponUsage(ctx context.Context, q CouponUsageQuery) ([]CouponUsage, error)
	// PoolStock counts the codes of pools as they stand at an instant. A pool
	// without codes is not among them.
	PoolStock(ctx context.Context, pools []string, at time.Time) (map[string]PoolStock, error)
	// Claims lists claimed and received rewards, newest first. It fails with
	// ErrCustomerNotFound if Ref matches no customer.
	Claims(ctx context.Context, q ClaimQuery) (ClaimPage, error)
}

// Expires reports whether a coupon in this state is expired once its time is over.
func (s CouponState) Expires() bool {
	_, open := CouponMoves["expire"][s]
	return open
}

type readingKey struct{}

// Reading marks the context of a request that changes nothing and decides nothing: what it
// reads may come from a copy of the database that is as new as the read needs.
func Reading(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingKey{}, true)
}

// IsReading reports whether a context was marked so.
func IsReading(ctx context.Context) bool { return ctx.Value(readingKey{}) != nil }
