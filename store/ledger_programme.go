package store

import (
	"fmt"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// transfers lists the merges, each with the giver: the customer who was merged into the event's customer, or into
// that customer's own later target. The giver's postings name the receiver's event.
const transfers = `SELECT m.id AS event_id, s.id AS giver FROM events m JOIN customers w ON w.id = m.customer_id
JOIN customers s ON s.merged_into = COALESCE(w.merged_into, w.id) WHERE m.action = 'merge'`

// received are the lots that came with a merge, under their old ids. It is one table for the whole check: per lot it
// would cost SQLite a pass over the customer's postings each time.
var received = fmt.Sprintf(`SELECT p.customer_id, p.lot_id FROM events m JOIN postings p ON p.customer_id = m.customer_id AND p.event_id = m.id
WHERE m.action = 'merge' AND p.from_account = %d AND p.to_account = %d AND p.lot_id IS NOT NULL`, points.Issued, points.Available)

// codesAgree finds coupons and codes that do not belong together. codesFit compares the code with the text of the
// name.
func codesAgree() []ledgerQuery {
	return []ledgerQuery{
		{fault: "a coupon whose code is not claimed", sql: fmt.Sprintf(`SELECT r.customer_id, r.id, r.code FROM coupons r
LEFT JOIN names n ON n.kind = %d AND n.owner = r.id WHERE n.owner IS NULL`, loyalty.NameCoupon)},
		{fault: "a claimed code without its coupon", sql: fmt.Sprintf(`SELECT NULL, n.owner, n.value FROM names n
LEFT JOIN coupons c ON c.id = n.owner WHERE n.kind = %d AND c.id IS NULL`, loyalty.NameCoupon)},
	}
}

// namesFit compares names with the coupons and customers that they identify.
func namesFit(db *gorm.DB, found func(LedgerFinding)) error {
	if err := codesFit(db, found); err != nil {
		return err
	}
	return findersAgree(db, found)
}

// codesFit finds coupons that are claimed by a name other than that of their code. The query skips names that equal the
// code as the database lowers it.
func codesFit(db *gorm.DB, found func(LedgerFinding)) error {
	rows, err := db.Raw(fmt.Sprintf(`SELECT r.customer_id, r.code, n.value FROM names n JOIN coupons r ON r.id = n.owner
WHERE n.kind = %d AND n.value <> lower(r.code)`, loyalty.NameCoupon)).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	var holder UUID
	var code, name plain
	for rows.Next() {
		if err := rows.Scan(&holder, &code, &name); err != nil {
			return err
		}
		if codeName(string(code)) != string(name) {
			found(LedgerFinding{Customer: loyalty.ID(holder), Row: string(code), Detail: "a coupon that is claimed by another name"})
		}
	}

	return rows.Err()
}

func programmeOrphans() []ledgerQuery {
	return []ledgerQuery{
		{fault: "a progress without its customer", sql: `SELECT r.customer_id, NULL, r.key FROM progress r
LEFT JOIN customers c ON c.id = r.customer_id WHERE c.id IS NULL`},
		{fault: "a claimed reward without its customer", sql: `SELECT r.customer_id, r.id, NULL FROM claims r
LEFT JOIN customers c ON c.id = r.customer_id WHERE c.id IS NULL`},
		{fault: "a claimed reward without the event that records it", sql: `SELECT r.customer_id, r.id, NULL FROM claims r
LEFT JOIN events e ON e.customer_id = r.customer_id AND e.id = r.id WHERE e.id IS NULL`},
		{fault: "a claimed reward without its coupon", sql: `SELECT r.customer_id, r.id, r.coupon FROM claims r
LEFT JOIN coupons c ON c.code = r.coupon WHERE r.coupon IS NOT NULL AND c.id IS NULL`},
		{fault: "a coupon without its holder", sql: `SELECT r.customer_id, r.id, r.code FROM coupons r
LEFT JOIN customers c ON c.id = r.customer_id WHERE r.customer_id IS NOT NULL AND c.id IS NULL`},
		{fault: "a code that nobody holds and somebody does", sql: fmt.Sprintf(`SELECT r.customer_id, r.id, r.code FROM coupons r
WHERE r.customer_id IS NOT NULL AND r.state IN ('%s', '%s')`, loyalty.CouponCreated, loyalty.CouponUnassigned)},
	}
}

// giftCardsMatch compares the balance of each gift card with its value less its standing redemptions, which are a
// document.
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
