package store

import (
	"fmt"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// transfers are the merges, each with the giver: the customer who was merged into the event's, or
// into whom that one was merged since. The giver's postings name the event of the other.
const transfers = `SELECT m.id AS event_id, s.id AS giver FROM events m JOIN customers w ON w.id = m.customer_id
JOIN customers s ON s.merged_into = COALESCE(w.merged_into, w.id) WHERE m.action = 'merge'`

// received are the lots that came over with a merge, under the id they had. It is
// one table for the whole check: asked for each lot, it would cost SQLite a pass over
// the customer's postings every time.
var received = fmt.Sprintf(`SELECT p.customer_id, p.lot_id FROM events m JOIN postings p ON p.customer_id = m.customer_id AND p.event_id = m.id
WHERE m.action = 'merge' AND p.from_account = %d AND p.to_account = %d AND p.lot_id IS NOT NULL`, points.Issued, points.Available)

// codesAgree: a coupon and its code belong together.
func codesAgree() []ledgerQuery {
	return []ledgerQuery{
		{fault: "a coupon whose code is not claimed", sql: fmt.Sprintf(`SELECT r.customer_id, r.id, r.code FROM coupons r
LEFT JOIN names n ON n.kind = %d AND n.value = r.code AND n.owner = r.id WHERE n.owner IS NULL`, loyalty.NameCoupon)},
		{fault: "a claimed code without its coupon", sql: fmt.Sprintf(`SELECT NULL, n.owner, n.value FROM names n
LEFT JOIN coupons c ON c.id = n.owner AND c.code = n.value WHERE n.kind = %d AND c.id IS NULL`, loyalty.NameCoupon)},
	}
}

func programmeOrphans() []ledgerQuery {
	return []ledgerQuery{
		{fault: "a progress without its customer", sql: `SELECT r.customer_id, NULL, r.key FROM progress r
LEFT JOIN customers c ON c.id = r.customer_id WHERE c.id IS NULL`},
		{fault: "a claimed reward without its customer", sql: `SELECT r.customer_id, r.id, NULL FROM claims r
LEFT JOIN customers c ON c.id = r.customer_id WHERE c.id IS NULL`},
		{fault: "a claimed reward without the event that records it", sql: `SELECT r.customer_id, r.id, NULL FROM claims r
LEFT JOIN events e ON e.customer_id = r.customer_id AND e.id = r.id WHERE e.id IS NULL`},
		{fault: "a claimed reward without its coupon", sql: fmt.Sprintf(`SELECT r.customer_id, r.id, r.coupon FROM claims r
LEFT JOIN names n ON n.kind = %d AND n.value = r.coupon WHERE r.coupon IS NOT NULL AND n.owner IS NULL`, loyalty.NameCoupon)},
		{fault: "a coupon without its holder", sql: `SELECT r.customer_id, r.id, r.code FROM coupons r
LEFT JOIN customers c ON c.id = r.customer_id WHERE r.customer_id IS NOT NULL AND c.id IS NULL`},
		{fault: "a code that nobody holds and somebody does", sql: fmt.Sprintf(`SELECT r.customer_id, r.id, r.code FROM coupons r
WHERE r.customer_id IS NOT NULL AND r.state IN ('%s', '%s')`, loyalty.CouponCreated, loyalty.CouponUnassigned)},
	}
}

// giftCardsMatch compares what is left on each gift card with its value less
// its redemptions that stand, which are a document.
func giftCardsMatch(db *gorm.DB, found func(LedgerFinding)) error {
	return couponTable.each(db.Where("type = ?", loyalty.CouponGiftCard), func(c *loyalty.Coupon) bool {
		left, balance := money.Amount(c.Value), money.Amount(c.Balance)
		for _, u := range c.Uses {
			left -= u.Amount
		}
		if left != balance {
			found(LedgerFinding{Customer: c.Customer, Row: c.Code, Detail: fmt.Sprintf(
				"balance and redemptions differ; balance is %s, should be %s", balance, left)})
		}
		return false
	})
}
