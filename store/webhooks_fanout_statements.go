package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// hookRow is a webhook that gets deliveries, and its position, if they move it along the tail.
type hookRow struct {
	id          UUID
	at, through *int64 // the position that it must have, and its new one; nil: any, unchanged
	active      bool   // it must be active
	added       int64  // number of new deliveries
	ordered     bool
	last        int64 // last number
}

// chainKey names deliveries that are sent one after the other.
type chainKey struct {
	webhook, customer UUID
	replay            bool
}

// chained is the end of the deliveries about a customer.
type chained struct {
	previous *int64 // the last one's place in the tail
	busy     bool   // something waits
}

// replayMove is the position of a replay, before and after.
type replayMove struct {
	id       loyalty.ID
	at, next int64
}

var hookFields = []field[hookRow]{
	{"id", "uuid", func(h *hookRow) any { return &h.id }},
	{"position", "bigint", func(h *hookRow) any { return optional{&h.at} }},
	{"through", "bigint", func(h *hookRow) any { return optional{&h.through} }},
	{"active", "boolean", func(h *hookRow) any { return (*flag)(&h.active) }},
	{"added", "bigint", func(h *hookRow) any { return (*number)(&h.added) }},
}

const lockedHooks = `SELECT w.id, w.ordered, w.last_number FROM v JOIN webhooks w ON w.id = v.id
WHERE (NOT v.active OR w.state = 'active') AND (v.position IS NULL OR w.cursor = v.position)`

// chainEndsBy looks the customers up one by one, along the indexes, because they may have many deliveries. It names
// the indexes for SQLite, which without statistics would use the primary key for any condition on the webhook.
func chainEndsBy(ends, waiting string) string {
	return `SELECT v.webhook_id, v.customer_id, v.replay, (SELECT d.sequence FROM deliveries d` + ends + ` WHERE d.webhook_id = v.webhook_id AND d.customer_id = v.customer_id
AND NOT d.replay ORDER BY d.number DESC LIMIT 1) AS previous, EXISTS (SELECT 1 FROM deliveries d` + waiting + ` WHERE d.webhook_id = v.webhook_id
AND d.customer_id = v.customer_id AND d.replay = v.replay AND d.state = 'waiting') AS busy FROM v`
}

var (
	lockHooks = selects(lockedHooks+" ORDER BY w.id FOR UPDATE OF w", hookFields...).onSQLite(lockedHooks)
	moveHooks = guards(`UPDATE webhooks AS w SET last_number = w.last_number + v.added, cursor = coalesce(v.through, w.cursor) FROM v WHERE w.id = v.id`, hookFields...)
	chainEnds = selects(chainEndsBy("", ""),
		field[chainKey]{"webhook_id", "uuid", func(k *chainKey) any { return &k.webhook }},
		field[chainKey]{"customer_id", "uuid", func(k *chainKey) any { return &k.customer }},
		field[chainKey]{"replay", "boolean", func(k *chainKey) any { return (*flag)(&k.replay) }}).
		onSQLite(chainEndsBy(" INDEXED BY deliveries_customer", " INDEXED BY deliveries_waiting"))
	selectLeavers = selects(`SELECT l.customer_id, l.sealed FROM v JOIN leavers l ON l.customer_id = v.customer_id`,
		field[UUID]{"customer_id", "uuid", func(id *UUID) any { return id }})

	// insertDeliveries leaves out the columns that are empty before a delivery is sent.
	insertDeliveries = insertsInto("deliveries",
		field[deliveryRow]{"webhook_id", "uuid", func(r *deliveryRow) any { return &r.WebhookID }},
		field[deliveryRow]{"number", "bigint", func(r *deliveryRow) any { return (*number)(&r.Number) }},
		field[deliveryRow]{"sequence", "bigint", func(r *deliveryRow) any { return optional{&r.Sequence} }},
		field[deliveryRow]{"customer_id", "uuid", func(r *deliveryRow) any { return &r.CustomerID }},
		field[deliveryRow]{"event_id", "uuid", func(r *deliveryRow) any { return &r.EventID }},
		field[deliveryRow]{"type", "text", func(r *deliveryRow) any { return (*plain)(&r.Type) }},
		field[deliveryRow]{"previous", "bigint", func(r *deliveryRow) any { return optional{&r.Previous} }},
		field[deliveryRow]{"replay", "boolean", func(r *deliveryRow) any { return (*flag)(&r.Replay) }},
		field[deliveryRow]{"revision", "bigint", func(r *deliveryRow) any { return (*number)(&r.Revision) }},
		field[deliveryRow]{"state", "text", func(r *deliveryRow) any { return (*plain)(&r.State) }},
		field[deliveryRow]{"front", "boolean", func(r *deliveryRow) any { return (*flag)(&r.Front) }},
		field[deliveryRow]{"attempts", "integer", func(r *deliveryRow) any { return wholeField[int]{&r.Attempts} }},
		field[deliveryRow]{"next_at", "bigint", func(r *deliveryRow) any { return &r.NextAt }},
		field[deliveryRow]{"created_at", "bigint", func(r *deliveryRow) any { return &r.CreatedAt }},
		field[deliveryRow]{"last_status", "integer", func(r *deliveryRow) any { return wholeField[int]{&r.LastStatus} }},
		field[deliveryRow]{"notice", "text", func(r *deliveryRow) any { return &r.Notice }},
		field[deliveryRow]{"subject", "bytea", func(r *deliveryRow) any { return (*blob)(&r.Subject) }})

	dropNotices = guards(`DELETE FROM notices WHERE id IN (SELECT id FROM v)`, field[UUID]{"id", "uuid", func(id *UUID) any { return id }})
	moveReplay  = guards(`UPDATE replays AS r SET position = v.next FROM v WHERE r.id = v.id AND r.position = v.at`, replayFields...)
	endReplay   = guards(`DELETE FROM replays WHERE EXISTS (SELECT 1 FROM v WHERE v.id = replays.id AND v.at = replays.position)`, replayFields...)
)

var replayFields = []field[replayMove]{
	{"id", "uuid", func(m *replayMove) any { return (*UUID)(&m.id) }},
	{"at", "bigint", func(m *replayMove) any { return (*number)(&m.at) }},
	{"next", "bigint", func(m *replayMove) any { return (*number)(&m.next) }},
}
