package store

import (
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// answerLife is how long a stored answer is repeated (decisions 1, idempotency). After it the row counts as absent,
// even if it is not deleted yet.
const answerLife = 24 * time.Hour

// customerKey is a customer in one of the four ways in which needs name customers.
type customerKey struct {
	loyalty.Name
	id    loyalty.ID
	email string // of an inactive customer
	match string // the e-mail of a customer who is not merged and did not opt out
}

// rowKey is one row of a load: the customer, and for some statements the purchase or lot.
type rowKey struct {
	customerKey
	i    int // index in needs.Customers, for what the answer does not repeat
	tx   string
	lot  loyalty.ID
	sort loyalty.ProgressKind
	// holder is the customer who owns this customer's data now, if known before.
	holder loyalty.ID
}

// lookup is one of the four ways in which needs name a customer. A load runs a statement for each way that occurs,
// which is nearly always one.
type lookup int

const (
	byName lookup = iota
	byID
	byEmail
	byMatch
	lookups
)

var (
	keyIndex = field[rowKey]{"i", "bigint", func(a *rowKey) any { return number(a.i) }}
	keyKind  = field[rowKey]{"kind", "smallint", func(a *rowKey) any { return number(a.Kind) }}
	keyValue = field[rowKey]{"value", "text", func(a *rowKey) any { return (*plain)(&a.Value) }}
	keyID    = field[rowKey]{"id", "uuid", func(a *rowKey) any { return (*UUID)(&a.id) }}
	keyEmail = field[rowKey]{"email", "text", func(a *rowKey) any { return (*plain)(&a.email) }}
	keyMatch = field[rowKey]{"email", "text", func(a *rowKey) any { return (*plain)(&a.match) }}
	keyTx    = field[rowKey]{"tx", "text", func(a *rowKey) any { return (*plain)(&a.tx) }}
	keyLot   = field[rowKey]{"lot", "uuid", func(a *rowKey) any { return (*UUID)(&a.lot) }}
	keyOwner = field[rowKey]{"holder", "uuid", func(a *rowKey) any { return (*UUID)(&a.holder) }}
	keySort  = field[rowKey]{"sort", "smallint", func(a *rowKey) any { return number(a.sort) }}

	lookupFields = [lookups][]field[rowKey]{byName: {keyKind, keyValue}, byID: {keyID}, byEmail: {keyEmail}, byMatch: {keyMatch}}
)

// fromCustomer joins v with the customer it names, as c.
var fromCustomer = [lookups]string{
	byName: ` FROM v JOIN names n ON n.kind = v.kind AND n.value = v.value JOIN customers c ON c.id = n.owner`,
	byID:   ` FROM v JOIN customers c ON c.id = v.id`,
	byEmail: ` FROM v JOIN customers c ON c.id = (SELECT x.id FROM customers x
 WHERE x.email_key = v.email AND x.status = 'inactive' ORDER BY x.created_at, x.id LIMIT 1)`,
	byMatch: ` FROM v JOIN customers c ON c.id = (SELECT x.id FROM customers x
 WHERE x.email_key = v.email AND x.status IN ('active', 'suspended', 'inactive')
 ORDER BY CASE WHEN x.status = 'inactive' THEN 1 ELSE 0 END, x.created_at, x.id LIMIT 1)`,
}

// loadCustomer reads a customer as c and their balances as b.
var loadCustomer = accountTable.of("c") + ", " + balanceTable.without("customer_id").of("b")

// The statements of a load, one for each way of naming customers.
var (
	selectPeople, selectCustomers, selectSealed, selectHeldLots, selectOpenLots, selectUsedLots, selectTransactionLots, selectLotsOpened, selectReservations [lookups]*statement[rowKey]

	selectOwners = selects(`SELECT n.owner FROM v JOIN names n ON n.kind = v.kind AND n.value = v.value`, keyKind, keyValue)
	selectNames  = selects(`SELECT `+nameTable.of("n")+` FROM v JOIN names n ON n.kind = v.kind AND n.value = v.value`, keyKind, keyValue)

	// A purchase is found through its claimed name, because it may be another customer's. The kind is sent with each
	// row although it is always the same: with a constant, PostgreSQL would scan all names of the kind and look each
	// up in v.
	selectTransactions = selects(`SELECT COALESCE(h.merged_into, n.owner), `+purchaseTable.of("t", "customer_id", "n.owner", "transaction_id", "n.value")+` FROM v
 JOIN names n ON n.kind = v.kind AND n.value = v.value LEFT JOIN customers h ON h.id = n.owner
 LEFT JOIN transactions t ON t.customer_id = n.owner AND t.transaction_id = n.value`, keyKind, keyValue).
		onCitus(`SELECT COALESCE(c.merged_into, c.id), `+purchaseTable.of("t", "customer_id", "c.id", "transaction_id", "v.tx")+` FROM v
 JOIN customers c ON c.id = v.id LEFT JOIN transactions t ON t.customer_id = c.id AND t.transaction_id = v.tx`, keyID, keyTx)
	// A purchase of a merged customer falls due for the target.
	selectDueTransactions = selects(withMerged(` FROM v JOIN customers c ON c.id = v.id`, holderOf+`, `+purchaseTable.of("t"),
		`transactions t ON t.customer_id = $owner AND t.state = 'pending' AND t.auto_accept IS NOT NULL`), keyID).
		onCitus(`SELECT `+holderOf+`, `+purchaseTable.of("t")+` FROM v JOIN customers c ON c.id = v.id
 JOIN transactions t ON t.customer_id = c.id AND t.state = 'pending' AND t.auto_accept IS NOT NULL`, keyID)

	selectAnswers = selects(`SELECT a.access_key, a.key, a.hash, a.status, a.body, a.block, a.customer_id, a.at, a.language
 FROM v JOIN answers a ON a.access_key = v.access_key AND a.key = v.key`,
		field[answerName]{"access_key", "text", func(n *answerName) any { return (*plain)(&n.accessKey) }},
		field[answerName]{"key", "text", func(n *answerName) any { return (*plain)(&n.key) }})

	selectVersion = selects(`SELECT p.version FROM v JOIN programme_version p ON p.id = v.id`,
		field[int]{"id", "integer", func(id *int) any { return number(*id) }})
)

// holderOf is the customer who owns this customer's data now.
const holderOf = `COALESCE(c.merged_into, c.id)`

// withMerged reads rows of the customers found as c and of those merged into them, whose data belong to the target
// now.
func withMerged(from, columns, rows string) string {
	of := func(owner string) string { return strings.ReplaceAll(rows, "$owner", owner) }
	return `SELECT ` + columns + from + ` JOIN ` + of("c.id") +
		` UNION ALL SELECT ` + columns + from + ` JOIN customers s ON s.merged_into = c.id JOIN ` + of("s.id")
}

func init() {
	for w := range lookups {
		fields, from := lookupFields[w], fromCustomer[w]
		lots := from + ` JOIN lots l ON l.customer_id = c.id`
		indexed := append([]field[rowKey]{keyIndex}, fields...)
		bought := append([]field[rowKey]{keyTx}, fields...)
		balance := from + ` JOIN balances b ON b.customer_id = c.id`
		selectPeople[w] = selects(`SELECT c.id`+from, fields...)
		selectCustomers[w] = selects(`SELECT v.i, `+loadCustomer+balance, indexed...)
		selectSealed[w] = selects(`SELECT v.i, `+loadCustomer+`, k.sealed`+balance+` LEFT JOIN customer_keys k ON k.customer_id = c.id`, indexed...)
		selectHeldLots[w] = selects(`SELECT `+lotTable.of("l")+lots+` AND l.reserved > 0`, fields...)
		selectOpenLots[w] = selects(`SELECT `+lotTable.of("l")+lots+` AND l.open`, fields...)
		selectUsedLots[w] = selects(`SELECT `+lotTable.of("l")+lots+` AND (l.open OR l.spent > 0)`, fields...)
		selectTransactionLots[w] = selects(`SELECT `+lotTable.of("l")+lots+` AND l.transaction_id = v.tx AND NOT (l.open OR l.spent > 0)`, bought...)
		selectLotsOpened[w] = selects(`SELECT `+lotTable.of("l")+lots+` AND l.id = v.lot AND NOT (l.open OR l.spent > 0)`, append([]field[rowKey]{keyLot}, fields...)...)
		selectReservations[w] = selects(`SELECT `+reservationTable.of("r")+from+
			` JOIN reservations r ON r.customer_id = c.id AND r.transaction_id = v.tx`, bought...)
	}
}
