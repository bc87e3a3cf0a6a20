package store

import (
	"strconv"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

const (
	holderOfCoupon = ` LEFT JOIN customers h ON h.id = k.customer_id`
)

// The statements of a load for what customers share, and for what is due.
var (
	selectDueProgress = selects(`SELECT `+progressTable.of("p")+` FROM v JOIN progress p ON p.customer_id = v.id AND p.due_at IS NOT NULL`, keyID)

	// A coupon comes with the name by which it was found.
	selectCoupons = selects(`SELECT n.value, `+couponRead+` FROM v JOIN names n ON n.kind = v.kind AND n.value = v.value
 JOIN coupons k ON k.id = n.owner`+holderOfCoupon, keyKind, keyValue).
		onCitus(`SELECT v.tx, `+couponTable.of("k")+` FROM v JOIN coupons k ON k.id = v.id`, keyID, keyTx)

	// SQLite has no LATERAL, and needs none: it runs the statement once for each row of v.
	selectFree = selects(`SELECT `+couponRead+` FROM v CROSS JOIN LATERAL (SELECT x.* FROM coupons x
 WHERE x.pool = v.pool AND x.state = 'created' ORDER BY x.id LIMIT v.n) k`+holderOfCoupon, poolFields...).onSQLite(`SELECT `+couponRead+` FROM (SELECT x.* FROM coupons x
 WHERE x.pool = (SELECT pool FROM v) AND x.state = 'created' ORDER BY x.id LIMIT (SELECT n FROM v)) k`+holderOfCoupon).
		onCitus(`SELECT `+couponTable.of("k")+` FROM v CROSS JOIN LATERAL (SELECT x.* FROM coupons x
 WHERE x.pool = v.pool AND x.state = 'created' ORDER BY x.id LIMIT v.n) k`, poolFields...)

	selectTallies = selects(`SELECT `+tallyTable.of("t")+` FROM v JOIN tallies t ON t.key = v.key`,
		field[string]{"key", "text", func(key *string) any { return (*plain)(key) }})

	poolFields = []field[poolKey]{
		{"pool", "text", func(p *poolKey) any { return (*plain)(&p.pool) }},
		{"n", "bigint", func(p *poolKey) any { return number(p.n) }},
	}
)

// The statements of a load for one customer, one for each way of naming customers.
var selectProgress, selectAllProgress, selectClaims, selectCodes, selectPast, selectExpiredLots, selectAllReservations, selectPending, selectSources [lookups]*statement[rowKey]

func init() {
	// An event's change of the score is what its postings took from the account that issues points.
	past := `c.id, e.customer_id, e.id, e.at, e.transaction_id, e.effects,
 (SELECT -` + movedInto(points.Issued) + ` FROM postings p WHERE p.customer_id = e.customer_id AND p.event_id = e.id),
 CASE WHEN e.effects IS NOT NULL AND e.transaction_id IS NOT NULL THEN (SELECT $currency FROM names n JOIN transactions t
 ON t.customer_id = n.owner AND t.transaction_id = n.value WHERE n.kind = ` + strconv.Itoa(int(loyalty.NameTransaction)) + ` AND n.value = e.transaction_id) END`

	pastWith := func(from, currency string) string {
		return withMerged(from, strings.ReplaceAll(past, "$currency", currency), `events e ON e.customer_id = $owner`)
	}
	for w := range lookups {
		fields, from := lookupFields[w], fromCustomer[w]
		progress := `SELECT ` + progressTable.of("p") + from + ` JOIN progress p ON p.customer_id = c.id`
		selectProgress[w] = selects(progress+` AND p.kind = v.sort`, append([]field[rowKey]{keySort}, fields...)...)
		selectAllProgress[w] = selects(progress, fields...)
		selectClaims[w] = selects(withMerged(from, `c.id, `+claimTable.of("k"), `claims k ON k.customer_id = $owner`), fields...).
			onCitus(`SELECT v.holder, `+claimTable.of("k")+` FROM v JOIN claims k ON k.customer_id = v.id`, keyID, keyOwner)
		selectCodes[w] = selects(withMerged(from, `c.id, k.code, k.expires_at`, `coupons k ON k.customer_id = $owner AND k.state = 'claimed'`), fields...).
			onCitus(`SELECT v.holder, k.code, k.expires_at FROM v JOIN coupons k ON k.customer_id = v.id AND k.state = 'claimed'`, keyID, keyOwner)
		selectPast[w] = selects(pastWith(from, `CAST(t.detail AS json) #>> '{attributes,currency}'`), fields...).
			onSQLite(pastWith(from, `t.detail ->> '$.attributes.currency'`)).
			onCitus(pastOnCitus, keyID, keyOwner)
		selectExpiredLots[w] = selects(`SELECT `+lotTable.of("l")+from+` JOIN lots l ON l.customer_id = c.id AND l.expired > 0 AND NOT (l.open OR l.spent > 0)`, fields...)
		selectAllReservations[w] = selects(`SELECT `+reservationTable.of("r")+from+` JOIN reservations r ON r.customer_id = c.id`, fields...)
		selectPending[w] = selects(withMerged(from, holderOf+`, `+purchaseTable.of("t"),
			`transactions t ON t.customer_id = $owner AND t.state = 'pending'`), fields...).
			onCitus(`SELECT `+holderOf+`, `+purchaseTable.of("t")+` FROM v JOIN customers c ON c.id = v.id
 JOIN transactions t ON t.customer_id = c.id AND t.state = 'pending'`, keyID)

		selectSources[w] = selects(`SELECT c.id, s.id`+from+` JOIN customers s ON s.merged_into = c.id`, fields...).
			onCitus(`SELECT v.holder, c.id FROM v JOIN customers c ON c.id = v.id AND c.merged_into = v.holder`, keyID, keyOwner)
	}
}

// pastOnCitus reads the past of customers with the postings of each event. A purchase that went to another customer
// has no currency here.
var pastOnCitus = `SELECT v.holder, e.customer_id, e.id, e.at, e.transaction_id, e.effects, -` + movedInto(points.Issued) + `,
 max(CASE WHEN e.effects IS NOT NULL THEN CAST(t.detail AS json) #>> '{attributes,currency}' END)
 FROM v JOIN events e ON e.customer_id = v.id LEFT JOIN postings p ON p.customer_id = e.customer_id AND p.event_id = e.id
 LEFT JOIN transactions t ON t.customer_id = e.customer_id AND t.transaction_id = e.transaction_id
 GROUP BY v.holder, e.customer_id, e.id, e.recorded_at, e.at, e.transaction_id, e.effects`
