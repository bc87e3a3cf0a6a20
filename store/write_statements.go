package store

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

type (
	changedCustomer    = loyalty.Changed[loyalty.Customer]
	changedLot         = loyalty.Changed[loyalty.CustomerLot]
	changedTransaction = loyalty.Changed[loyalty.Transaction]
	changedReservation = loyalty.Changed[loyalty.Reservation]
)

// The figures carry the version that they were loaded with.
var updateBalances = guards(`UPDATE balances AS b SET version = v.version + 1, score = v.score, spent = v.spent,
 reserved = v.reserved, expired = v.expired, pending = v.pending, debt = v.debt, last_event = v.last_event,
 due_at = v.due_at, last_activity_at = v.last_activity_at, chain = v.chain, chain_from = v.chain_from
 FROM v WHERE b.customer_id = v.customer_id AND b.version = v.version`, balanceFields(
	func(c *changedCustomer) *loyalty.Customer { return &c.After },
	func(c *changedCustomer) *int64 { return &c.Before.Version })...)

var insertBalances = inserts(`INSERT INTO balances (customer_id, version, score, spent, reserved, expired, pending, debt,
 last_event, due_at, last_activity_at, chain, chain_from) SELECT * FROM v`, balanceFields(
	func(c *loyalty.Customer) *loyalty.Customer { return c },
	func(c *loyalty.Customer) *int64 { return &c.Version })...)

func balanceFields[T any](of func(*T) *loyalty.Customer, version func(*T) *int64) []field[T] {
	return []field[T]{
		{"customer_id", "uuid", func(t *T) any { return (*UUID)(&of(t).ID) }},
		{"version", "bigint", func(t *T) any { return (*number)(version(t)) }},
		{"score", "bigint", func(t *T) any { return (*number)(&of(t).Figures.Score) }},
		{"spent", "bigint", func(t *T) any { return (*number)(&of(t).Figures.Spent) }},
		{"reserved", "bigint", func(t *T) any { return (*number)(&of(t).Figures.Reserved) }},
		{"expired", "bigint", func(t *T) any { return (*number)(&of(t).Figures.Expired) }},
		{"pending", "bigint", func(t *T) any { return (*number)(&of(t).Figures.Pending) }},
		{"debt", "bigint", func(t *T) any { return (*number)(&of(t).Figures.Debt) }},
		{"last_event", "uuid", func(t *T) any { return (*UUID)(&of(t).LastEvent) }},
		{"due_at", "bigint", func(t *T) any { return (*Millis)(&of(t).DueAt) }},
		{"last_activity_at", "bigint", func(t *T) any { return (*Millis)(&of(t).LastActivityAt) }},
		{"chain", "bytea", func(t *T) any { return (*blob)(&of(t).Chain.Head) }},
		{"chain_from", "uuid", func(t *T) any { return (*UUID)(&of(t).Chain.From) }},
	}
}

const accountColumns = `id, name, status, created_at, updated_at, merged_into, handler, email, first_name, last_name,
 language, gender, currency, image_url, birth_date, labels, external_ids, custom, referrer,
 handler_key, email_key, first_key, last_key`

var insertCustomers = inserts(`INSERT INTO customers (`+accountColumns+`) SELECT * FROM v`,
	accountFields(func(c *loyalty.Customer) *loyalty.Customer { return c })...)

var updateCustomers = guards(`UPDATE customers AS c SET name = v.name, status = v.status, created_at = v.created_at,
 updated_at = v.updated_at, merged_into = v.merged_into, handler = v.handler, email = v.email, first_name = v.first_name,
 last_name = v.last_name, language = v.language, gender = v.gender, currency = v.currency, image_url = v.image_url,
 birth_date = v.birth_date, labels = v.labels, external_ids = v.external_ids, custom = v.custom, referrer = v.referrer,
 handler_key = v.handler_key, email_key = v.email_key, first_key = v.first_key, last_key = v.last_key
 FROM v WHERE c.id = v.id AND c.status = v.was`, append(
	accountFields(func(c *changedCustomer) *loyalty.Customer { return &c.After }),
	field[changedCustomer]{"was", "text", func(c *changedCustomer) any { return (*plain)(&c.Before.Status) }})...)

func accountFields[T any](of func(*T) *loyalty.Customer) []field[T] {
	profile := func(t *T) *loyalty.Profile { return &of(t).Profile }
	return []field[T]{
		{"id", "uuid", func(t *T) any { return (*UUID)(&of(t).ID) }},
		{"name", "text", func(t *T) any { return (*plain)(&of(t).Name) }},
		{"status", "text", func(t *T) any { return (*plain)(&of(t).Status) }},
		{"created_at", "bigint", func(t *T) any { return (*Millis)(&of(t).CreatedAt) }},
		{"updated_at", "bigint", func(t *T) any { return (*Millis)(&of(t).UpdatedAt) }},
		{"merged_into", "uuid", func(t *T) any { return (*UUID)(&of(t).MergedInto) }},
		{"handler", "text", func(t *T) any { return (*plain)(&profile(t).Handler) }},
		{"email", "text", func(t *T) any { return (*plain)(&profile(t).Email) }},
		{"first_name", "text", func(t *T) any { return (*plain)(&profile(t).FirstName) }},
		{"last_name", "text", func(t *T) any { return (*plain)(&profile(t).LastName) }},
		{"language", "text", func(t *T) any { return (*plain)(&profile(t).Language) }},
		{"gender", "text", func(t *T) any { return (*plain)(&profile(t).Gender) }},
		{"currency", "text", func(t *T) any { return (*plain)(&profile(t).Currency) }},
		{"image_url", "text", func(t *T) any { return (*plain)(&profile(t).ImageURL) }},
		{"birth_date", "text", func(t *T) any { return (*plain)(&profile(t).BirthDate) }},
		{"labels", "text", func(t *T) any { return documentOf(profile(t).Labels) }},
		{"external_ids", "text", func(t *T) any { return documentOf(profile(t).ExternalIDs) }},
		{"custom", "text", func(t *T) any { return documentOf(profile(t).Custom) }},
		{"referrer", "uuid", func(t *T) any { return (*UUID)(&profile(t).Referrer) }},
		{"handler_key", "text", func(t *T) any { return Text(searchKey(profile(t).Handler)) }},
		{"email_key", "text", func(t *T) any { return Text(searchKey(profile(t).Email)) }},
		{"first_key", "text", func(t *T) any { return Text(searchKey(profile(t).FirstName)) }},
		{"last_key", "text", func(t *T) any { return Text(searchKey(profile(t).LastName)) }},
	}
}

func documentOf[V any](v V) Document[V] { return Document[V]{v} }

var claimFields = []field[loyalty.Claim]{
	{"kind", "smallint", func(c *loyalty.Claim) any { return number(c.Kind) }},
	{"value", "text", func(c *loyalty.Claim) any { return (*plain)(&c.Value) }},
	{"owner", "uuid", func(c *loyalty.Claim) any { return (*UUID)(&c.Owner) }},
}

var (
	insertNames = inserts(`INSERT INTO names (kind, value, owner) SELECT * FROM v`, claimFields...)
	deleteNames = guards(`DELETE FROM names WHERE (kind, value, owner) IN (SELECT kind, value, owner FROM v)`, claimFields...)

	insertKeys = inserts(`INSERT INTO customer_keys (customer_id, sealed) SELECT * FROM v`,
		field[customerKeyRow]{"customer_id", "uuid", func(k *customerKeyRow) any { return &k.CustomerID }},
		field[customerKeyRow]{"sealed", "bytea", func(k *customerKeyRow) any { return (*blob)(&k.Sealed) }})
	// A customer without a key has nothing to destroy: no guard.
	deleteKeys = selects(`DELETE FROM customer_keys WHERE customer_id IN (SELECT customer_id FROM v)`,
		field[loyalty.ID]{"customer_id", "uuid", func(id *loyalty.ID) any { return (*UUID)(id) }})
)

var insertEvents = inserts(`INSERT INTO events (customer_id, id, recorded_at, at, points, exp_date, parent, action,
 transaction_id, data, personal, effects) SELECT * FROM v`,
	field[loyalty.Event]{"customer_id", "uuid", func(e *loyalty.Event) any { return (*UUID)(&e.Customer) }},
	field[loyalty.Event]{"id", "uuid", func(e *loyalty.Event) any { return (*UUID)(&e.ID) }},
	field[loyalty.Event]{"recorded_at", "bigint", func(e *loyalty.Event) any { return (*Millis)(&e.RecordedAt) }},
	field[loyalty.Event]{"at", "bigint", func(e *loyalty.Event) any { return (*Millis)(&e.At) }},
	field[loyalty.Event]{"points", "bigint", func(e *loyalty.Event) any { return optional{e.Points} }},
	field[loyalty.Event]{"exp_date", "bigint", func(e *loyalty.Event) any { return (*Millis)(&e.ExpDate) }},
	field[loyalty.Event]{"parent", "uuid", func(e *loyalty.Event) any { return (*UUID)(&e.Parent) }},
	field[loyalty.Event]{"action", "text", func(e *loyalty.Event) any { return (*plain)(&e.Action) }},
	field[loyalty.Event]{"transaction_id", "text", func(e *loyalty.Event) any { return (*Text)(&e.Transaction) }},
	field[loyalty.Event]{"data", "text", func(e *loyalty.Event) any { return (*Raw)(&e.Data) }},
	field[loyalty.Event]{"personal", "bytea", func(e *loyalty.Event) any { return (*blob)(&e.Personal) }},
	field[loyalty.Event]{"effects", "text", func(e *loyalty.Event) any { return documentOf(e.Effects) }},
)

var insertPostings = inserts(`INSERT INTO postings (customer_id, event_id, seq, from_account, to_account, lot_id, points) SELECT * FROM v`,
	field[loyalty.CustomerPosting]{"customer_id", "uuid", func(p *loyalty.CustomerPosting) any { return (*UUID)(&p.Customer) }},
	field[loyalty.CustomerPosting]{"event_id", "uuid", func(p *loyalty.CustomerPosting) any { return (*UUID)(&p.Event) }},
	field[loyalty.CustomerPosting]{"seq", "integer", func(p *loyalty.CustomerPosting) any { return number(p.Seq) }},
	field[loyalty.CustomerPosting]{"from_account", "smallint", func(p *loyalty.CustomerPosting) any { return number(p.From) }},
	field[loyalty.CustomerPosting]{"to_account", "smallint", func(p *loyalty.CustomerPosting) any { return number(p.To) }},
	field[loyalty.CustomerPosting]{"lot_id", "uuid", func(p *loyalty.CustomerPosting) any { return (*UUID)(&p.Lot) }},
	field[loyalty.CustomerPosting]{"points", "bigint", func(p *loyalty.CustomerPosting) any { return (*number)(&p.Points) }},
)

var insertLots = inserts(`INSERT INTO lots (customer_id, id, remaining, reserved, spent, expired, open, points, earned_at,
 expires_at, idle_months, idle_days, transaction_id) SELECT * FROM v`, append(
	lotFields(func(l *loyalty.CustomerLot) *loyalty.CustomerLot { return l }),
	field[loyalty.CustomerLot]{"points", "bigint", func(l *loyalty.CustomerLot) any { return (*number)(&l.Points) }},
	field[loyalty.CustomerLot]{"earned_at", "bigint", func(l *loyalty.CustomerLot) any { return (*Millis)(&l.EarnedAt) }},
	field[loyalty.CustomerLot]{"expires_at", "bigint", func(l *loyalty.CustomerLot) any { return (*Millis)(&l.ExpiresAt) }},
	field[loyalty.CustomerLot]{"idle_months", "integer", func(l *loyalty.CustomerLot) any { return number(l.Idle.Months) }},
	field[loyalty.CustomerLot]{"idle_days", "integer", func(l *loyalty.CustomerLot) any { return number(l.Idle.Days) }},
	field[loyalty.CustomerLot]{"transaction_id", "text", func(l *loyalty.CustomerLot) any { return (*Text)(&l.Transaction) }})...)

// What a lot is never changes; what became of it does.
var updateLots = guards(`UPDATE lots AS l SET remaining = v.remaining, reserved = v.reserved, spent = v.spent,
 expired = v.expired, open = v.open FROM v WHERE l.customer_id = v.customer_id AND l.id = v.id
 AND l.remaining = v.was_remaining AND l.reserved = v.was_reserved AND l.spent = v.was_spent AND l.expired = v.was_expired`, append(
	lotFields(func(l *changedLot) *loyalty.CustomerLot { return &l.After }),
	field[changedLot]{"was_remaining", "bigint", func(l *changedLot) any { return (*number)(&l.Before.Remaining) }},
	field[changedLot]{"was_reserved", "bigint", func(l *changedLot) any { return (*number)(&l.Before.Reserved) }},
	field[changedLot]{"was_spent", "bigint", func(l *changedLot) any { return (*number)(&l.Before.Spent) }},
	field[changedLot]{"was_expired", "bigint", func(l *changedLot) any { return (*number)(&l.Before.Expired) }})...)

func lotFields[T any](of func(*T) *loyalty.CustomerLot) []field[T] {
	return []field[T]{
		{"customer_id", "uuid", func(t *T) any { return (*UUID)(&of(t).Customer) }},
		{"id", "uuid", func(t *T) any { return (*UUID)(&of(t).ID) }},
		{"remaining", "bigint", func(t *T) any { return (*number)(&of(t).Remaining) }},
		{"reserved", "bigint", func(t *T) any { return (*number)(&of(t).Reserved) }},
		{"spent", "bigint", func(t *T) any { return (*number)(&of(t).Spent) }},
		{"expired", "bigint", func(t *T) any { return (*number)(&of(t).Expired) }},
		{"open", "boolean", func(t *T) any { return flag(isOpen(&of(t).Lot)) }},
	}
}

func isOpen(l *points.Lot) bool { return l.Remaining+l.Reserved > 0 }

var insertTransactions = inserts(`INSERT INTO transactions (customer_id, transaction_id, state, checkout, created_at,
 updated_at, checkout_date, auto_accept, auto_reject, total, original_total, refunded, original_earned, earned,
 original_burned, burned, detail) SELECT * FROM v`, transactionFields(func(t *loyalty.Transaction) *loyalty.Transaction { return t })...)

var updateTransactions = guards(`UPDATE transactions AS t SET state = v.state, updated_at = v.updated_at,
 checkout_date = v.checkout_date, auto_accept = v.auto_accept, auto_reject = v.auto_reject, total = v.total,
 original_total = v.original_total, refunded = v.refunded, original_earned = v.original_earned, earned = v.earned,
 original_burned = v.original_burned, burned = v.burned, detail = v.detail
 FROM v WHERE t.customer_id = v.customer_id AND t.transaction_id = v.transaction_id
 AND t.state = v.was_state AND t.updated_at = v.was_updated AND t.refunded = v.was_refunded`, append(
	transactionFields(func(t *changedTransaction) *loyalty.Transaction { return &t.After }), transactionBefore...)...)

// A purchase that goes to another customer leaves its row: it gets one of theirs.
var deleteTransactions = guards(`DELETE FROM transactions WHERE (customer_id, transaction_id, state, updated_at, refunded) IN
 (SELECT customer_id, transaction_id, was_state, was_updated, was_refunded FROM v)`, append(
	transactionFields(func(t *changedTransaction) *loyalty.Transaction { return &t.Before })[:2:2], transactionBefore...)...)

var transactionBefore = []field[changedTransaction]{
	{"was_state", "text", func(t *changedTransaction) any { return (*plain)(&t.Before.State) }},
	{"was_updated", "bigint", func(t *changedTransaction) any { return (*Millis)(&t.Before.UpdatedAt) }},
	{"was_refunded", "bigint", func(t *changedTransaction) any { return (*number)(&t.Before.Refunded) }},
}

func transactionFields[T any](of func(*T) *loyalty.Transaction) []field[T] {
	return []field[T]{
		{"customer_id", "uuid", func(t *T) any { return (*UUID)(&of(t).Customer) }},
		{"transaction_id", "text", func(t *T) any { return (*plain)(&of(t).Name) }},
		{"state", "text", func(t *T) any { return (*plain)(&of(t).State) }},
		{"checkout", "uuid", func(t *T) any { return (*UUID)(&of(t).Checkout) }},
		{"created_at", "bigint", func(t *T) any { return (*Millis)(&of(t).CreatedAt) }},
		{"updated_at", "bigint", func(t *T) any { return (*Millis)(&of(t).UpdatedAt) }},
		{"checkout_date", "bigint", func(t *T) any { return (*Millis)(&of(t).CheckoutDate) }},
		{"auto_accept", "bigint", func(t *T) any { return (*Millis)(&of(t).AutoAccept) }},
		{"auto_reject", "boolean", func(t *T) any { return flag(of(t).AutoReject) }},
		{"total", "bigint", func(t *T) any { return (*number)(&of(t).Total) }},
		{"original_total", "bigint", func(t *T) any { return (*number)(&of(t).OriginalTotal) }},
		{"refunded", "bigint", func(t *T) any { return (*number)(&of(t).Refunded) }},
		{"original_earned", "bigint", func(t *T) any { return (*number)(&of(t).OriginalEarned) }},
		{"earned", "bigint", func(t *T) any { return (*number)(&of(t).Earned) }},
		{"original_burned", "bigint", func(t *T) any { return (*number)(&of(t).OriginalBurned) }},
		{"burned", "bigint", func(t *T) any { return (*number)(&of(t).Burned) }},
		{"detail", "text", func(t *T) any { return documentOf(of(t).Detail) }},
	}
}

var (
	insertReservations = inserts(`INSERT INTO reservations (customer_id, transaction_id, hold) SELECT * FROM v`,
		reservationFields(func(r *loyalty.Reservation) *loyalty.Reservation { return r })...)
	updateReservations = guards(`UPDATE reservations AS r SET hold = v.hold FROM v
 WHERE r.customer_id = v.customer_id AND r.transaction_id = v.transaction_id AND r.hold = v.was`, append(
		reservationFields(func(r *changedReservation) *loyalty.Reservation { return &r.After }), holdBefore)...)
	deleteReservations = guards(`DELETE FROM reservations WHERE (customer_id, transaction_id, hold) IN
 (SELECT customer_id, transaction_id, was FROM v)`, append(
		reservationFields(func(r *changedReservation) *loyalty.Reservation { return &r.After }), holdBefore)...)

	holdBefore = field[changedReservation]{"was", "text", func(r *changedReservation) any { return documentOf(r.Before.Hold) }}
)

func reservationFields[T any](of func(*T) *loyalty.Reservation) []field[T] {
	return []field[T]{
		{"customer_id", "uuid", func(t *T) any { return (*UUID)(&of(t).Customer) }},
		{"transaction_id", "text", func(t *T) any { return (*plain)(&of(t).Transaction) }},
		{"hold", "text", func(t *T) any { return documentOf(of(t).Hold) }},
	}
}

// deleteAnswers makes room for answers that take the place of others, if those are
// still there.
var deleteAnswers = guards(`DELETE FROM answers WHERE EXISTS (SELECT 1 FROM v WHERE v.access_key = answers.access_key AND v.key = answers.key AND v.hash = answers.hash)`,
	field[loyalty.Answer]{"access_key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.AccessKey) }},
	field[loyalty.Answer]{"key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.Key) }},
	field[loyalty.Answer]{"hash", "bytea", func(a *loyalty.Answer) any { return blob(a.Hash[:]) }},
)

// An answer that has outlived its time is replaced; a living one is a conflict,
// which the guard's count shows.
var insertAnswers = guards(`INSERT INTO answers (access_key, key, hash, status, body, block, customer_id, at)
 SELECT access_key, key, hash, status, body, block, customer_id, at FROM v WHERE true
 ON CONFLICT (access_key, key) DO UPDATE SET hash = excluded.hash, status = excluded.status, body = excluded.body,
 block = excluded.block, customer_id = excluded.customer_id, at = excluded.at WHERE answers.at <= excluded.at - 86400000`,
	field[loyalty.Answer]{"access_key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.AccessKey) }},
	field[loyalty.Answer]{"key", "text", func(a *loyalty.Answer) any { return (*plain)(&a.Key) }},
	field[loyalty.Answer]{"hash", "bytea", func(a *loyalty.Answer) any { return blob(a.Hash[:]) }},
	field[loyalty.Answer]{"status", "integer", func(a *loyalty.Answer) any { return number(a.Status) }},
	field[loyalty.Answer]{"body", "bytea", func(a *loyalty.Answer) any { return append(blob{}, a.Body...) }},
	field[loyalty.Answer]{"block", "bytea", func(a *loyalty.Answer) any { return blob(a.Block) }},
	field[loyalty.Answer]{"customer_id", "uuid", func(a *loyalty.Answer) any { return (*UUID)(&a.Customer) }},
	field[loyalty.Answer]{"at", "bigint", func(a *loyalty.Answer) any { return (*Millis)(&a.At) }},
)
