package store

import (
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// heldRow is a delivery that an owner holds, with what is needed to store its attempt.
type heldRow struct {
	Number     int64
	Last       int    // number of the last attempt
	Sealed     []byte // the customer's key
	CustomerID UUID   // where the key is read separately
}

// settledRow is the result of a delivery.
type settledRow struct {
	attempt  attemptRow
	delivery loyalty.Delivery
}

func (r *settledRow) over() bool { return r.delivery.State != loyalty.DeliveryWaiting }

// settledFields are the parameters of the statements below. They are the same for all, so that PostgreSQL needs one
// statement where SQLite needs three.
var settledFields = []field[settledRow]{
	{"webhook_id", "uuid", func(r *settledRow) any { return &r.attempt.WebhookID }},
	{"number", "bigint", func(r *settledRow) any { return (*number)(&r.attempt.Number) }},
	{"customer_id", "uuid", func(r *settledRow) any { return (*UUID)(&r.delivery.Customer) }},
	{"replay", "boolean", func(r *settledRow) any { return (*flag)(&r.delivery.Replay) }},
	{"state", "text", func(r *settledRow) any { return Text(r.delivery.State) }},
	{"reason", "text", func(r *settledRow) any { return Text(r.delivery.Reason) }},
	{"revision", "bigint", func(r *settledRow) any { return (*number)(&r.delivery.Revision) }},
	{"over", "boolean", func(r *settledRow) any { return flag(r.over()) }},
	{"tries", "bigint", func(r *settledRow) any { return number(r.delivery.Attempts) }},
	{"next_at", "bigint", func(r *settledRow) any { return (*Millis)(&r.delivery.NextAt) }},
	{"last_at", "bigint", func(r *settledRow) any { return (*Millis)(&r.delivery.LastAt) }},
	{"n", "bigint", func(r *settledRow) any { return number(r.attempt.N) }},
	{"at", "bigint", func(r *settledRow) any { return &r.attempt.At }},
	{"status", "bigint", func(r *settledRow) any { return number(r.attempt.Status) }},
	{"fault", "text", func(r *settledRow) any { return &r.attempt.Fault }},
	{"duration", "bigint", func(r *settledRow) any { return (*number)(&r.attempt.Duration) }},
	{"answer", "bytea", func(r *settledRow) any { return (*blob)(&r.attempt.Answer) }},
}

const (
	updateSettled = `UPDATE deliveries AS d SET state = v.state, reason = v.reason, revision = v.revision, front = NOT v.over, attempts = v.tries, next_at = v.next_at, owner = NULL, lease_until = NULL,
last_at = v.last_at, last_status = v.status, last_fault = v.fault, subject = CASE WHEN v.state IN ('sent', 'skipped') THEN NULL ELSE d.subject END
FROM v WHERE d.webhook_id = v.webhook_id AND d.number = v.number`
	insertSettled = `INSERT INTO attempts (webhook_id, number, n, at, status, fault, duration, answer)
SELECT v.webhook_id, v.number, v.n, v.at, v.status, v.fault, v.duration, v.answer FROM v WHERE v.at IS NOT NULL`
	updateNext = `UPDATE deliveries SET front = (1 = 1) WHERE (webhook_id, number) IN (SELECT v.webhook_id, (SELECT n.number FROM deliveries n
WHERE n.webhook_id = v.webhook_id AND n.customer_id = v.customer_id AND n.replay = v.replay AND n.state = 'waiting'`
	eachOver = ` ORDER BY n.number LIMIT 1) FROM v WHERE v.over AND v.customer_id IS NOT NULL)`
)

var (
	settleDeliveries = selects(updateSettled, settledFields...)
	insertAttempts   = inserts(insertSettled, settledFields...)
	nextDeliveries   = selects(updateNext+eachOver, settledFields...)
	// settleAll combines the three: each sees the rows as they were before, so what is settled here still waits for
	// the last one
	settleAll = &statement[settledRow]{fields: settledFields, postgres: strings.TrimSuffix(withArrays(settledFields), " ") + ", settled AS (" + updateSettled + "), attempted AS (" + insertSettled + ") " +
		updateNext + " AND n.number NOT IN (SELECT o.number FROM v o)" + eachOver}
)
