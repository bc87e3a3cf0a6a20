package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

type attemptRow struct {
	WebhookID UUID  `gorm:"primaryKey"`
	Number    int64 `gorm:"primaryKey;autoIncrement:false"`
	N         int   `gorm:"primaryKey;autoIncrement:false"`
	At        Millis
	Status    int
	Fault     Text
	Duration  int64 // microseconds
	Answer    []byte
}

func (attemptRow) TableName() string { return "attempts" }

// webhookTx is a transaction that holds a webhook's row.
type webhookTx struct {
	s       webhookStore
	db      *gorm.DB
	webhook loyalty.Webhook
	held    map[int64]heldRow
}

// WorkWebhook runs work in a transaction that holds a webhook's row, so that one node at a time decides about the
// deliveries to an address. An error of work rolls back and is returned unchanged.
func (s webhookStore) WorkWebhook(ctx context.Context, id loyalty.ID, work func(loyalty.WebhookTx) error) error {
	if s.broken() {
		return loyalty.ErrDamaged
	}

	var failed error
	err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		var row webhookRow
		if err := db.Clauses(clause.Locking{Strength: "UPDATE"}).Take(&row, "id = ?", UUID(id)).Error; err != nil {
			if errors.Is(err, gorm.ErrRecordNotFound) {
				failed = loyalty.ErrWebhookNotFound.With("webhook", id.String())
				return failed
			}
			return err
		}

		list, err := s.webhooksOf(db, []webhookRow{row})
		if err != nil {
			return err
		}

		failed = work(&webhookTx{s: s, db: db, webhook: list[0]})
		return failed
	})

	if failed != nil {
		return failed
	}

	return s.classify(s.noteSpace(err))
}

// Webhook returns the webhook whose row is locked, with the changes made so far.
func (t *webhookTx) Webhook() *loyalty.Webhook { return &t.webhook }

// Leased counts the deliveries in progress.
func (t *webhookTx) Leased(now time.Time) (int, error) {
	var n int64
	err := t.db.Table(deliveriesBy(t.db, "", "deliveries_leased")).Where("webhook_id = ? AND owner IS NOT NULL AND lease_until > ?", UUID(t.webhook.ID), Millis(now)).Count(&n).Error
	return int(n), err
}

// Claim takes deliveries whose turn it is.
func (t *webhookTx) Claim(owner loyalty.ID, now, until time.Time, limit int, probe bool) ([]loyalty.Delivery, error) {
	q := t.db.Table(deliveriesBy(t.db, "", "deliveries_due")).Where("webhook_id = ? AND front AND (lease_until IS NULL OR lease_until <= ?)", UUID(t.webhook.ID), Millis(now))
	if probe {
		q = q.Order("last_at NULLS FIRST, number")
	} else {
		q = q.Where("next_at <= ?", Millis(now)).Order("replay, next_at, number")
	}

	var rows []deliveryRow
	if err := q.Limit(limit).Find(&rows).Error; err != nil || len(rows) == 0 {
		return nil, err
	}

	numbers, list := make([]int64, len(rows)), make([]loyalty.Delivery, len(rows))
	for i := range rows {
		var err error
		if list[i], err = t.s.delivery(&rows[i]); err != nil {
			return nil, err
		}
		numbers[i] = rows[i].Number
	}

	return list, t.db.Model(&deliveryRow{}).Where("webhook_id = ? AND number IN ?", UUID(t.webhook.ID), numbers).
		Updates(map[string]any{"owner": UUID(owner), "lease_until": Millis(until)}).Error
}

// Held returns which deliveries still belong to an owner.
func (t *webhookTx) Held(owner loyalty.ID, numbers []int64) (map[int64]bool, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	var rows []heldRow
	if t.db.Name() == "citus" {
		return t.heldOnCitus(owner, numbers)
	}
	err := t.db.Raw(`SELECT d.number, k.sealed, (SELECT max(a.n) FROM attempts a WHERE a.webhook_id = d.webhook_id AND a.number = d.number) AS last
FROM deliveries d LEFT JOIN customer_keys k ON k.customer_id = d.customer_id WHERE d.webhook_id = ? AND d.number IN ? AND d.owner = ? AND d.state = 'waiting'`,
		UUID(t.webhook.ID), numbers, UUID(owner)).Scan(&rows).Error
	return t.hold(rows), err
}

func (t *webhookTx) hold(rows []heldRow) map[int64]bool {
	held := make(map[int64]bool, len(rows))
	t.held = make(map[int64]heldRow, len(rows))
	for _, r := range rows {
		held[r.Number], t.held[r.Number] = true, r
	}
	return held
}

// Settle writes the results of held deliveries, and releases the next ones of their customers. A receiver's answer
// may name the customer, so it is sealed under their key, and unreadable once they leave.
func (t *webhookTx) Settle(list []loyalty.Settled) error {
	rows := make([]settledRow, len(list))
	for i := range list {
		d, a := &list[i].Delivery, &list[i].Attempt
		held := t.held[d.Number]
		rows[i] = settledRow{attempt: attemptRow{
			WebhookID: UUID(t.webhook.ID), Number: d.Number, N: held.Last + 1, At: Millis(a.At), Status: a.Status, Fault: Text(a.Fault), Duration: a.Duration.Microseconds(),
		}, delivery: *d}
		if len(a.Answer) == 0 {
			continue
		}
		var err error
		if rows[i].attempt.Answer, err = t.s.sealAnswer(held.Sealed, UUID(d.Customer), &rows[i].attempt, a.Answer); err != nil {
			return err
		}
	}

	if t.db.Name() != "sqlite" {
		return settleAll.in(t.db, rows)
	}

	for _, s := range []*statement[settledRow]{settleDeliveries, insertAttempts, nextDeliveries} {
		if err := s.in(t.db, rows); err != nil {
			return err
		}
	}

	return nil
}

func attemptID(r *attemptRow) []byte {
	return append(subjectID(&deliveryRow{WebhookID: r.WebhookID, Number: r.Number}), byte(r.N), byte(r.N>>8))
}

// sealAnswer seals an answer under the customer's key, whose sealed form is kept; without a key the customer has left
// and the answer is dropped. Answers about no customer are sealed under the master key.
func (s webhookStore) sealAnswer(kept []byte, customer UUID, r *attemptRow, answer []byte) ([]byte, error) {
	if customer == (UUID{}) {
		return s.sealer.seal(attemptID(r), answer), nil
	}
	if kept == nil {
		return nil, nil
	}
	key, err := s.sealer.open(rowID("customer_keys", string(customer[:])), kept)
	if err != nil {
		return nil, err
	}
	return loyalty.Seal(key, attemptID(r), answer)
}

func (s webhookStore) openAnswer(key []byte, customer UUID, r *attemptRow) ([]byte, error) {
	switch {
	case r.Answer == nil:
		return nil, nil
	case customer == (UUID{}):
		return s.sealer.open(attemptID(r), r.Answer)
	case key == nil:
		return nil, nil
	}
	return loyalty.Open(key, attemptID(r), r.Answer)
}

// SaveHealth writes the health of the webhook, and whether it sends.
func (t *webhookTx) SaveHealth() error {
	r, err := t.s.webhookRowOf(&t.webhook)
	if err != nil {
		return err
	}
	return t.db.Model(&r).Select("state", "reason", "failures", "tries", "failing_since", "told", "pace", "rest_until", "last_success_at").Updates(&r).Error
}

// Hurry makes deliveries due that wait for their next try, because the address is back.
func (t *webhookTx) Hurry(now time.Time) error {
	return t.db.Model(&deliveryRow{}).Where("webhook_id = ? AND front AND next_at > ?", UUID(t.webhook.ID), Millis(now)).Update("next_at", Millis(now)).Error
}

// Notify stores a notice for other webhooks.
func (t *webhookTx) Notify(n loyalty.Notice) error { return tell(t.db, n) }
