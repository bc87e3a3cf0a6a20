package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

type changedTransaction = loyalty.Changed[loyalty.Transaction]

// purchaseTable holds purchases, with their lines wherever they are stored.
var purchaseTable = table[loyalty.Transaction]{name: "transactions", fields: []field[loyalty.Transaction]{
	{"customer_id", "uuid", func(t *loyalty.Transaction) any { return (*UUID)(&t.Customer) }},
	{"transaction_id", "text", func(t *loyalty.Transaction) any { return (*plain)(&t.Name) }},
	{"state", "text", func(t *loyalty.Transaction) any { return (*plain)(&t.State) }},
	{"checkout", "uuid", func(t *loyalty.Transaction) any { return (*UUID)(&t.Checkout) }},
	{"created_at", "bigint", func(t *loyalty.Transaction) any { return (*Millis)(&t.CreatedAt) }},
	{"updated_at", "bigint", func(t *loyalty.Transaction) any { return (*Millis)(&t.UpdatedAt) }},
	{"checkout_date", "bigint", func(t *loyalty.Transaction) any { return (*Millis)(&t.CheckoutDate) }},
	{"auto_accept", "bigint", func(t *loyalty.Transaction) any { return (*Millis)(&t.AutoAccept) }},
	{"auto_reject", "boolean", func(t *loyalty.Transaction) any { return (*flag)(&t.AutoReject) }},
	{"total", "bigint", func(t *loyalty.Transaction) any { return (*number)(&t.Total) }},
	{"original_total", "bigint", func(t *loyalty.Transaction) any { return (*number)(&t.OriginalTotal) }},
	{"refunded", "bigint", func(t *loyalty.Transaction) any { return (*number)(&t.Refunded) }},
	{"original_earned", "bigint", func(t *loyalty.Transaction) any { return (*number)(&t.OriginalEarned) }},
	{"earned", "bigint", func(t *loyalty.Transaction) any { return (*number)(&t.Earned) }},
	{"original_burned", "bigint", func(t *loyalty.Transaction) any { return (*number)(&t.OriginalBurned) }},
	{"burned", "bigint", func(t *loyalty.Transaction) any { return (*number)(&t.Burned) }},
	// before the document, which needs it to be read
	{"pieces", "integer", func(t *loyalty.Transaction) any { return piecesIn(t) }},
	{"detail", "text", func(t *loyalty.Transaction) any { return purchaseField{t} }},
}, besides: []field[loyalty.Transaction]{
	{purchaseLines, "text", func(t *loyalty.Transaction) any { return linesField{t} }},
}}

var (
	insertTransactions = purchaseTable.inserts()

	updateTransactions = guards(`UPDATE transactions AS t SET `+purchaseTable.set("customer_id", "transaction_id", "checkout", "created_at")+`
 FROM v WHERE t.customer_id = v.customer_id AND t.transaction_id = v.transaction_id
 AND t.state = v.was_state AND t.updated_at = v.was_updated AND t.refunded = v.was_refunded`, append(
		through(purchaseTable.fields, func(t *changedTransaction) *loyalty.Transaction { return &t.After }), purchaseBefore...)...)

	// A purchase that goes to another customer loses its row and gets one of the new owner.
	deleteTransactions = guards(`DELETE FROM transactions WHERE (customer_id, transaction_id, state, updated_at, refunded) IN
 (SELECT customer_id, transaction_id, was_state, was_updated, was_refunded FROM v)`, append(
		through(purchaseTable.some("customer_id", "transaction_id").fields, func(t *changedTransaction) *loyalty.Transaction { return &t.Before }),
		purchaseBefore...)...)

	purchaseBefore = []field[changedTransaction]{
		{"was_state", "text", func(t *changedTransaction) any { return (*plain)(&t.Before.State) }},
		{"was_updated", "bigint", func(t *changedTransaction) any { return (*Millis)(&t.Before.UpdatedAt) }},
		{"was_refunded", "bigint", func(t *changedTransaction) any { return (*number)(&t.Before.Refunded) }},
	}
)
