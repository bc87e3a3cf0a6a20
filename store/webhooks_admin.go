package store

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

var _ loyalty.WebhookAdminTx = (*adminTx)(nil)

// Webhook reads a webhook and locks its row.
func (t *adminTx) Webhook(id loyalty.ID) (w loyalty.Webhook, found bool, err error) {
	var rows []webhookRow
	if err := t.db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", UUID(id)).Find(&rows).Error; err != nil || len(rows) == 0 {
		return w, false, t.s.fault(err)
	}
	list, err := t.s.webhooksOf(t.db, rows)
	if err != nil {
		return w, false, t.s.fault(err)
	}
	return list[0], true, nil
}

// CountWebhooks counts all webhooks.
func (t *adminTx) CountWebhooks() (n int64, err error) {
	return n, t.s.fault(t.db.Model(&webhookRow{}).Count(&n).Error)
}

// SaveWebhook writes everything except the cursor and the health, which change on their own; for a new webhook it
// writes these too. No node caches webhooks, so the programme's version stays.
func (t *adminTx) SaveWebhook(w loyalty.Webhook) error {
	r, err := t.s.webhookRowOf(&w)
	if err != nil {
		return err
	}

	changing := clause.AssignmentColumns([]string{"label", "url", "types", "filter", "include", "format", "headers", "concurrency", "state", "reason", "revision", "updated_at"})
	err = t.db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: changing}).Create(&r).Error
	if err == nil {
		err = t.db.Where("webhook_id = ?", r.ID).Delete(&webhookSecretRow{}).Error
	}

	if err == nil && len(w.Secrets) > 0 {
		rows := make([]webhookSecretRow, len(w.Secrets))
		var last loyalty.ID
		for i := len(w.Secrets) - 1; i >= 0; i-- { // ids sort by age
			secret := w.Secrets[i]
			last = loyalty.NewID(secret.CreatedAt, last)
			rows[i] = webhookSecretRow{
				WebhookID: r.ID, ID: UUID(last), Sealed: t.s.sealer.seal(webhookSecretID(r.ID, UUID(last)), []byte(secret.Value)),
				CreatedAt: Millis(secret.CreatedAt), ExpiresAt: Millis(secret.ExpiresAt),
			}
		}
		err = t.db.Create(rows).Error
	}

	return t.s.fault(err)
}

// ResumeWebhook makes a webhook active and its health good. With skip it drops what waits, except for deliveries in
// progress, and skips events that are not fanned out yet.
func (t *adminTx) ResumeWebhook(id loyalty.ID, skip bool, now time.Time) error {
	changes := map[string]any{
		"state": loyalty.WebhookActive, "reason": nil, "failures": 0, "tries": 0, "failing_since": nil, "told": false, "pace": 1, "rest_until": nil,
	}
	if skip {
		changes["cursor"] = gorm.Expr("(SELECT head FROM tail_state)")
	}

	err := t.db.Model(&webhookRow{}).Where("id = ?", UUID(id)).Updates(changes).Error
	if err == nil && skip {
		err = t.db.Model(&deliveryRow{}).Where("webhook_id = ? AND state = 'waiting'", UUID(id)).
			Updates(map[string]any{"state": loyalty.DeliverySkipped, "reason": loyalty.SkippedResumed, "front": false, "owner": nil, "lease_until": nil, "subject": nil}).Error
	}

	if err == nil && skip {
		err = t.db.Where("webhook_id = ?", UUID(id)).Delete(&replayRow{}).Error
	}
	if err == nil && !skip {
		err = t.db.Model(&deliveryRow{}).Where("webhook_id = ? AND front AND next_at > ?", UUID(id), Millis(now)).Update("next_at", Millis(now)).Error
	}

	return t.s.fault(err)
}

// RemoveWebhook deletes a webhook, whose row is locked. Nothing is sent or written for it afterwards, because sending
// and writing take its row first.
func (t *adminTx) RemoveWebhook(id loyalty.ID) error {
	for _, drop := range []string{
		"DELETE FROM webhooks WHERE id = ?", "DELETE FROM webhook_secrets WHERE webhook_id = ?", "DELETE FROM replays WHERE webhook_id = ?", dropAttempts, dropDeliveries,
	} {
		if err := t.db.Exec(drop, UUID(id)).Error; err != nil {
			return t.s.fault(err)
		}
	}
	return nil
}

// AddDelivery writes one delivery of a webhook, whose row it locks.
func (t *adminTx) AddDelivery(d loyalty.Delivery) (loyalty.Delivery, error) {
	list := []loyalty.Delivery{d}
	err := t.s.addDeliveries([]hookRow{{id: UUID(d.Webhook), added: 1}}, map[loyalty.ID][]loyalty.Delivery{d.Webhook: list}, stepIn(t.db))
	return list[0], t.s.fault(err)
}

// RetryDeliveries makes dead deliveries wait again, for a webhook whose row is locked. They come before what waits
// for their customer, except for deliveries in progress: other deliveries that have the turn give it back, and then
// the oldest gets it.
func (t *adminTx) RetryDeliveries(q loyalty.RetryQuery, now time.Time) (int64, error) {
	w := sqlFragment{}.and("webhook_id = ?", UUID(q.Webhook)).and("state = 'dead'")
	if q.Number != 0 {
		w = w.and("number = ?", q.Number)
	}
	if q.Type != "" {
		w = w.and("type = ?", cleanText(q.Type))
	}

	if q.Customer != (loyalty.ID{}) {
		of, err := whoIs(t.db, q.Customer)
		if err != nil {
			return 0, t.s.fault(err)
		}
		w = w.and(of.text, of.args...)
	}

	if !q.From.IsZero() {
		w = w.and("created_at >= ?", Millis(q.From))
	}
	if !q.To.IsZero() {
		w = w.and("created_at < ?", Millis(q.To))
	}

	err := t.db.Exec(`UPDATE deliveries SET front = (1 = 0) WHERE webhook_id = ? AND front AND owner IS NULL
AND customer_id IN (SELECT customer_id FROM deliveries WHERE `+w.text+`)`, append([]any{UUID(q.Webhook)}, w.args...)...).Error
	if err != nil {
		return 0, t.s.fault(err)
	}

	done := t.db.Exec(`UPDATE deliveries SET state = 'waiting', front = (1 = 0), attempts = 0, next_at = ?, owner = NULL, lease_until = NULL WHERE `+w.text,
		append([]any{Millis(now)}, w.args...)...)
	if done.Error != nil || done.RowsAffected == 0 {
		return 0, t.s.fault(done.Error)
	}

	return done.RowsAffected, t.s.fault(takeTurns(t.db, UUID(q.Webhook)))
}

// whoIs is the condition that a row is about a customer, or about one merged into them. Citus cannot join its tables
// with unknown ones, so the ids are read first.
func whoIs(db *gorm.DB, customer loyalty.ID) (w sqlFragment, err error) {
	if db.Name() != "citus" {
		return w.and("customer_id IN (SELECT c.id FROM customers c WHERE c.id = ? OR c.merged_into = ?)", UUID(customer), UUID(customer)), nil
	}
	var ids []UUID
	err = db.Table("merges").Where("target = ?", UUID(customer)).Pluck("source", &ids).Error
	return w.and("customer_id IN ?", append(ids, UUID(customer))), err
}

// takeTurns gives the turn to the oldest delivery of every customer that has waiting deliveries but none with the turn;
// without an order, to each delivery of the webhook.
func takeTurns(db *gorm.DB, webhook UUID) error {
	return db.Exec(`UPDATE deliveries SET front = (1 = 1) WHERE webhook_id = ? AND state = 'waiting' AND NOT front AND (customer_id IS NULL
OR EXISTS (SELECT 1 FROM webhooks w WHERE w.id = deliveries.webhook_id AND NOT w.ordered)
OR NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.webhook_id = deliveries.webhook_id AND o.customer_id = deliveries.customer_id AND o.replay = deliveries.replay
AND o.state = 'waiting' AND (o.front OR o.number < deliveries.number)))`, webhook).Error
}

// AddReplay stores a period of the past that is to be sent.
func (t *adminTx) AddReplay(r loyalty.Replay) error {
	row := replayRow{
		ID: UUID(r.ID), WebhookID: UUID(r.Webhook), Types: Document[[]string]{r.Types}, CustomerID: UUID(r.Customer), FromAt: Millis(r.From), ToAt: Millis(r.To),
		Position: r.Position, Until: r.Until, At: Millis(r.At),
	}
	return t.s.fault(t.db.Create(&row).Error)
}

// CountReplays counts the open replays of a webhook.
func (t *adminTx) CountReplays(webhook loyalty.ID) (n int64, err error) {
	return n, t.s.fault(t.db.Model(&replayRow{}).Where("webhook_id = ?", UUID(webhook)).Count(&n).Error)
}

// TailHead is the last number of the tail.
func (t *adminTx) TailHead() (int64, error) {
	var state tailStateRow
	err := t.db.Limit(1).Find(&state).Error
	return state.Head, t.s.fault(err)
}
