package store

import (
	"fmt"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// into sums what postings moved into the accounts.
func into(name string, accounts ...points.Account) string {
	list := make([]string, len(accounts))
	for i, a := range accounts {
		list[i] = fmt.Sprint(int(a))
	}
	return fmt.Sprintf("CAST(COALESCE(SUM(CASE WHEN p.to_account IN (%s) THEN p.points END), 0) AS bigint) AS %s", strings.Join(list, ", "), name)
}

// ledgerChecks are the invariants of the design's reliability plan that can be proved from the data alone (I7 is held
// by the ids; I10 has no check).
func ledgerChecks() []ledgerCheck {
	return []ledgerCheck{
		{invariant: "I1", title: "figures equal the sums of their postings", queries: []ledgerQuery{figuresMatch()}},
		{invariant: "I2", title: "every posting is a legal move of one event", queries: postingsLegal()},
		{invariant: "I3", title: "spendable is free points less debt", queries: []ledgerQuery{spendableMatches()}},
		{invariant: "I4", title: "every event exists once", queries: eventsOnce()},
		{invariant: "I5", title: "every name and transaction has one owner and one checkout", queries: append(namesAgree(), codesAgree()...), custom: namesFit},
		{invariant: "I6", title: "no row without its customer, event or lot", queries: append(orphans(), programmeOrphans()...)},
		{invariant: "I8", title: "every lot adds up and equals its postings, every gift card its uses", queries: []ledgerQuery{lotsMatch()}, custom: giftCardsMatch},
		{invariant: "I9", title: "reserved points are held by reservations and pending purchases", custom: holdsMatch},
		{invariant: "I11", title: "the journal and the audit trail refuse changes", custom: guardsStand},
		{invariant: "I12", title: "every customer's journal is the one that was written", custom: chainsMatch},
	}
}

func figuresMatch() ledgerQuery {
	return ledgerQuery{
		fault: "figures and postings differ", labels: []string{"score", "spent", "reserved", "expired", "pending", "debt"},
		sql: `SELECT b.customer_id, NULL, NULL, b.score, COALESCE(sums.score, 0), b.spent, COALESCE(sums.spent, 0), b.reserved, COALESCE(sums.reserved, 0),
	b.expired, COALESCE(sums.expired, 0), b.pending, COALESCE(sums.pending, 0), b.debt, COALESCE(sums.debt, 0)
FROM balances b LEFT JOIN (SELECT p.customer_id, -` + balanceOf(points.Issued, "score") + `, ` + balanceOf(points.Spent, "spent") + `, ` +
			balanceOf(points.Reserved, "reserved") + `, ` + balanceOf(points.Expired, "expired") + `, ` + balanceOf(points.Pending, "pending") + `, -` +
			balanceOf(points.Debt, "debt") + `
	FROM postings p GROUP BY p.customer_id) sums ON sums.customer_id = b.customer_id
WHERE b.score <> COALESCE(sums.score, 0) OR b.spent <> COALESCE(sums.spent, 0) OR b.reserved <> COALESCE(sums.reserved, 0)
	OR b.expired <> COALESCE(sums.expired, 0) OR b.pending <> COALESCE(sums.pending, 0) OR b.debt <> COALESCE(sums.debt, 0)`,
	}
}

// postingsLegal finds malformed postings. A posting moves points between two accounts of one customer, so the
// postings of an event sum to zero exactly when every one is well formed.
func postingsLegal() []ledgerQuery {
	posting := func(fault, where string) ledgerQuery {
		return ledgerQuery{fault: fault, labels: nil, sql: `SELECT p.customer_id, p.event_id, NULL FROM postings p WHERE ` + where}
	}
	lots := fmt.Sprintf("(p.from_account BETWEEN %[1]d AND %[2]d OR p.to_account BETWEEN %[1]d AND %[2]d)", points.Available, points.Expired)

	return []ledgerQuery{
		posting("a posting of no points or less", "p.points <= 0"),
		posting("a posting from an account to itself", "p.from_account = p.to_account"),
		posting("a posting of an unknown account", fmt.Sprintf("p.from_account NOT BETWEEN %[1]d AND %[2]d OR p.to_account NOT BETWEEN %[1]d AND %[2]d", points.Issued, points.Pending)),
		posting("a posting between the accounts of lots names no lot", lots+" AND p.lot_id IS NULL"),
		posting("a posting outside the accounts of lots names a lot", "NOT "+lots+" AND p.lot_id IS NOT NULL"),
		{fault: "a posting without its event", sql: `SELECT p.customer_id, p.event_id, NULL FROM postings p
LEFT JOIN events e ON e.customer_id = p.customer_id AND e.id = p.event_id
LEFT JOIN (` + transfers + `) t ON t.event_id = p.event_id AND t.giver = p.customer_id WHERE e.id IS NULL AND t.event_id IS NULL`},
	}
}

func spendableMatches() ledgerQuery {
	return ledgerQuery{
		fault: "figures and lots differ", labels: []string{"spendable", "debt"},
		sql: `SELECT customer_id, NULL, NULL, spendable, free - debt, debt, CASE WHEN free > 0 OR debt < 0 THEN 0 ELSE debt END
FROM (SELECT b.customer_id, b.score - b.spent - b.reserved - b.expired AS spendable, b.debt, COALESCE(sums.free, 0) AS free
	FROM balances b LEFT JOIN (SELECT customer_id, ` + sumOf("remaining") + ` AS free FROM lots GROUP BY customer_id) sums
	ON sums.customer_id = b.customer_id) c
WHERE spendable <> free - debt OR debt < 0 OR (debt > 0 AND free > 0)`,
	}
}

func eventsOnce() []ledgerQuery {
	return []ledgerQuery{{
		fault: "an event id exists more than once",
		sql: `SELECT e.customer_id, e.id, NULL FROM events e
JOIN (SELECT id FROM events GROUP BY id HAVING COUNT(*) > 1) twice ON twice.id = e.id`,
	}}
}

func namesAgree() []ledgerQuery {
	return []ledgerQuery{
		{fault: "a transaction_id belongs to several customers", sql: `SELECT t.customer_id, NULL, t.transaction_id FROM transactions t
JOIN (SELECT transaction_id FROM transactions GROUP BY transaction_id HAVING COUNT(*) > 1) twice ON twice.transaction_id = t.transaction_id`},
		{fault: "a transaction without its claimed name", sql: claimless("transactions r", "r.customer_id", "r.transaction_id", loyalty.NameTransaction)},
		{fault: "a claimed transaction_id without its transaction", sql: `SELECT n.owner, NULL, n.value FROM names n
LEFT JOIN transactions t ON t.customer_id = n.owner AND t.transaction_id = n.value
WHERE ` + fmt.Sprintf("n.kind = %d", loyalty.NameTransaction) + ` AND t.transaction_id IS NULL`},
		{fault: "a transaction does not have exactly one checkout event", labels: []string{"number of checkout events"},
			sql: `SELECT t.customer_id, NULL, t.transaction_id, COALESCE(c.n, 0), 1 FROM transactions t LEFT JOIN (` + checkouts + `) c
ON c.transaction_id = t.transaction_id WHERE COALESCE(c.n, 0) <> 1`},
		// Materialized: no index leads to an event or a purchase by its id alone, and SQLite would scan all of them
		// for each.
		{fault: "a transaction names another event as its checkout", sql: `WITH c AS MATERIALIZED (SELECT id, customer_id, transaction_id FROM events WHERE action = 'checkout')
SELECT t.customer_id, t.checkout, t.transaction_id FROM transactions t LEFT JOIN c ON c.id = t.checkout AND c.transaction_id = t.transaction_id
WHERE c.id IS NULL OR (c.customer_id <> t.customer_id AND (t.customer_id, t.transaction_id) NOT IN (SELECT customer_id, transaction_id
	FROM events WHERE action IN ('checkout_claim', 'pending_validate') AND transaction_id IS NOT NULL))`},
		{fault: "a checkout event without its transaction", sql: `WITH t AS MATERIALIZED (SELECT transaction_id FROM transactions)
SELECT c.customer_id, NULL, c.transaction_id FROM events c
LEFT JOIN t ON t.transaction_id = c.transaction_id WHERE c.action = 'checkout' AND t.transaction_id IS NULL`},
		{fault: "a customer without the claimed name", sql: claimless("customers r", "r.id", "r.name", loyalty.NameCustomer)},
		{fault: "a claimed customer name that its owner does not have", sql: `SELECT n.owner, NULL, n.value FROM names n
JOIN customers c ON c.id = n.owner WHERE ` + fmt.Sprintf("n.kind = %d", loyalty.NameCustomer) + ` AND c.name <> n.value`},
	}
}

// checkouts counts the checkout events of each transaction_id. They stay with the guest who sent them when another
// customer claims the purchase.
const checkouts = `SELECT transaction_id, COUNT(*) AS n FROM events WHERE action = 'checkout' GROUP BY transaction_id`

// claimless finds rows whose name is not claimed by their customer.
func claimless(table, owner, value string, kind loyalty.NameKind) string {
	return fmt.Sprintf(`SELECT %[2]s, NULL, %[3]s FROM %[1]s LEFT JOIN names n ON n.kind = %[4]d AND n.value = %[3]s AND n.owner = %[2]s
WHERE n.owner IS NULL`, table, owner, value, kind)
}

func orphans() []ledgerQuery {
	ofCustomer := func(table, what, id, name string) ledgerQuery {
		return ledgerQuery{fault: what + " without its customer", sql: fmt.Sprintf(`SELECT r.customer_id, %s, %s FROM %s r
LEFT JOIN customers c ON c.id = r.customer_id WHERE c.id IS NULL AND r.customer_id IS NOT NULL`, id, name, table)}
	}

	return []ledgerQuery{
		ofCustomer("balances", "a balance", "NULL", "NULL"),
		ofCustomer("customer_keys", "a customer key", "NULL", "NULL"),
		ofCustomer("events", "an event", "r.id", "NULL"),
		ofCustomer("postings", "a posting", "r.event_id", "NULL"),
		ofCustomer("lots", "a lot", "r.id", "NULL"),
		ofCustomer("transactions", "a transaction", "NULL", "r.transaction_id"),
		ofCustomer("reservations", "a reservation", "NULL", "r.transaction_id"),
		ofCustomer("answers", "a stored answer", "NULL", "r.key"),
		{fault: "a claimed name without its owner", sql: `SELECT n.owner, NULL, n.value FROM names n
LEFT JOIN customers c ON c.id = n.owner WHERE c.id IS NULL AND ` + fmt.Sprintf("n.kind <> %d", loyalty.NameCoupon)},
		{fault: "a customer without a balance", sql: `SELECT c.id, NULL, NULL FROM customers c
LEFT JOIN balances b ON b.customer_id = c.id WHERE b.customer_id IS NULL`},
		{fault: "a lot without the event that credited it", sql: `WITH came AS MATERIALIZED (` + received + `)
SELECT l.customer_id, l.id, NULL FROM lots l LEFT JOIN events e ON e.customer_id = l.customer_id AND e.id = l.id
LEFT JOIN came ON came.customer_id = l.customer_id AND came.lot_id = l.id WHERE e.id IS NULL AND came.lot_id IS NULL`},
		{fault: "a row of lines without its purchase", sql: `SELECT l.customer_id, NULL, l.transaction_id FROM purchase_lines l
LEFT JOIN transactions t ON t.customer_id = l.customer_id AND t.transaction_id = l.transaction_id WHERE t.transaction_id IS NULL`},
		{fault: "a purchase has other rows of lines", labels: []string{"number of rows"},
			sql: `SELECT t.customer_id, NULL, t.transaction_id, COALESCE(l.n, 0), t.pieces FROM transactions t
LEFT JOIN (SELECT customer_id, transaction_id, COUNT(*) AS n FROM purchase_lines GROUP BY customer_id, transaction_id) l
ON l.customer_id = t.customer_id AND l.transaction_id = t.transaction_id WHERE COALESCE(l.n, 0) <> t.pieces`},
		{fault: "a posting without its lot", sql: `SELECT p.customer_id, p.event_id, NULL FROM postings p
LEFT JOIN lots l ON l.customer_id = p.customer_id AND l.id = p.lot_id WHERE p.lot_id IS NOT NULL AND l.id IS NULL`},
	}
}

// lotsMatch compares each lot with the postings that name it. Points that are gone for good (taken back, or paid as
// debt) have no column: they are the points less all columns.
func lotsMatch() ledgerQuery {
	credited := fmt.Sprintf("CAST(COALESCE(SUM(CASE WHEN p.from_account = %d AND p.to_account = %d THEN p.points END), 0) AS bigint) AS points", points.Issued, points.Available)

	return ledgerQuery{
		fault: "lot and postings differ", labels: []string{"points", "remaining", "reserved", "spent", "expired", "gone", "open"},
		sql: `SELECT customer_id, id, NULL, points, p_points, remaining, p_remaining, reserved, p_reserved, spent, p_spent, expired, p_expired, gone, p_gone,
	CASE WHEN open THEN 1 ELSE 0 END, CASE WHEN remaining + reserved > 0 THEN 1 ELSE 0 END
FROM (SELECT l.customer_id, l.id, l.points, l.remaining, l.reserved, l.spent, l.expired, l.open,
		l.points - l.remaining - l.reserved - l.spent - l.expired AS gone, COALESCE(s.points, 0) AS p_points, COALESCE(s.remaining, 0) AS p_remaining,
		COALESCE(s.reserved, 0) AS p_reserved, COALESCE(s.spent, 0) AS p_spent, COALESCE(s.expired, 0) AS p_expired, COALESCE(s.gone, 0) AS p_gone
	FROM lots l LEFT JOIN (SELECT p.customer_id, p.lot_id, ` + credited + `, ` + balanceOf(points.Available, "remaining") + `, ` +
			balanceOf(points.Reserved, "reserved") + `, ` + balanceOf(points.Spent, "spent") + `, ` + balanceOf(points.Expired, "expired") + `, ` +
			into("gone", points.Issued, points.Debt) + `
		FROM postings p WHERE p.lot_id IS NOT NULL GROUP BY p.customer_id, p.lot_id) s ON s.customer_id = l.customer_id AND s.lot_id = l.id) m
WHERE points <> p_points OR remaining <> p_remaining OR reserved <> p_reserved OR spent <> p_spent OR expired <> p_expired
	OR gone <> p_gone OR open <> (remaining + reserved > 0)`,
	}
}
