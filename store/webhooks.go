package store

import (
	"context"
	"encoding/json"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// webhookStore keeps webhooks and the deliveries to them.
type webhookStore struct{ *database }

type webhookRow struct {
	ID            UUID `gorm:"primaryKey"`
	Label         string
	URL           string `gorm:"column:url"`
	Types         Document[[]string]
	Filter        Text
	Ordered       bool
	Version       string
	Include       Document[[]string]
	Format        string
	Headers       []byte
	Concurrency   int
	State         loyalty.WebhookState
	Reason        Text
	Cursor        int64
	Revision      int64
	LastNumber    int64
	Failures      int
	Tries         int
	FailingSince  Millis
	Told          bool
	Pace          int
	RestUntil     Millis
	LastSuccessAt Millis
	CreatedAt     Millis `gorm:"autoCreateTime:false"`
	UpdatedAt     Millis `gorm:"autoUpdateTime:false"`
}

func (webhookRow) TableName() string { return "webhooks" }

type webhookSecretRow struct {
	WebhookID UUID `gorm:"primaryKey"`
	ID        UUID `gorm:"primaryKey"`
	Sealed    []byte
	CreatedAt Millis `gorm:"autoCreateTime:false"`
	ExpiresAt Millis
}

func (webhookSecretRow) TableName() string { return "webhook_secrets" }

// Webhooks lists all webhooks, the newest first.
func (s webhookStore) Webhooks(ctx context.Context) ([]loyalty.Webhook, error) {
	var rows []webhookRow
	var secrets []webhookSecretRow
	db := s.read.WithContext(ctx)
	err := s.asks(ctx, modelled(db.Order("created_at DESC, id DESC"), &rows), modelled(db.Order("webhook_id, id DESC"), &secrets))
	if err != nil {
		return nil, err
	}
	return s.webhooksWith(rows, secrets)
}

// Webhook reads a webhook.
func (s webhookStore) Webhook(ctx context.Context, id loyalty.ID) (loyalty.Webhook, error) {
	var rows []webhookRow
	var secrets []webhookSecretRow
	db := s.read.WithContext(ctx)
	err := s.asks(ctx, modelled(db.Where("id = ?", UUID(id)), &rows), modelled(db.Where("webhook_id = ?", UUID(id)).Order("id DESC"), &secrets))
	if err == nil && len(rows) == 0 {
		err = loyalty.ErrWebhookNotFound.With("webhook", id.String())
	}
	if err != nil {
		return loyalty.Webhook{}, err
	}

	list, err := s.webhooksWith(rows, secrets)
	if err != nil {
		return loyalty.Webhook{}, err
	}

	return list[0], nil
}

// webhooksOf adds the secrets to webhooks whose rows a transaction has read.
func (s *database) webhooksOf(db *gorm.DB, rows []webhookRow) ([]loyalty.Webhook, error) {
	ids := make([]UUID, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	var secrets []webhookSecretRow
	if err := db.Where("webhook_id IN ?", ids).Order("webhook_id, id DESC").Find(&secrets).Error; err != nil {
		return nil, err
	}
	return s.webhooksWith(rows, secrets)
}

// webhooksWith joins webhooks with their secrets, newest first.
func (s *database) webhooksWith(rows []webhookRow, secrets []webhookSecretRow) ([]loyalty.Webhook, error) {
	list := make([]loyalty.Webhook, len(rows))
	for i := range rows {
		w, err := s.webhook(&rows[i])
		if err != nil {
			return nil, err
		}

		for _, r := range secrets {
			if r.WebhookID != rows[i].ID {
				continue
			}
			value, err := s.sealer.open(webhookSecretID(r.WebhookID, r.ID), r.Sealed)
			if err != nil {
				return nil, err
			}
			w.Secrets = append(w.Secrets, loyalty.Secret{Value: string(value), CreatedAt: r.CreatedAt.Time(), ExpiresAt: r.ExpiresAt.Time()})
		}

		list[i] = w
	}

	return list, nil
}

// webhookSecretID binds a sealed secret to its webhook; headersID does so for the headers.
func webhookSecretID(webhook, id UUID) []byte {
	return rowID("webhook_secrets", string(webhook[:]), string(id[:]))
}

func headersID(webhook UUID) []byte { return rowID("webhooks", string(webhook[:]), "headers") }

func (s *database) webhook(r *webhookRow) (w loyalty.Webhook, err error) {
	w = loyalty.Webhook{
		ID: loyalty.ID(r.ID), Label: r.Label, URL: r.URL, Types: r.Types.V, Filter: string(r.Filter), Ordered: r.Ordered, Version: r.Version,
		Include: r.Include.V, Format: r.Format, Concurrency: r.Concurrency, State: r.State, Reason: string(r.Reason), Cursor: r.Cursor, Revision: r.Revision,
		Health: loyalty.WebhookHealth{
			Failures: r.Failures, Tries: r.Tries, FailingSince: r.FailingSince.Time(), Told: r.Told, Pace: r.Pace,
			RestUntil: r.RestUntil.Time(), LastSuccessAt: r.LastSuccessAt.Time(),
		},
		CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
	}

	if r.Headers == nil {
		return w, nil
	}

	plain, err := s.sealer.open(headersID(r.ID), r.Headers)
	if err == nil {
		err = json.Unmarshal(plain, &w.Headers)
	}

	return w, err
}

// webhookRowOf makes a row, with its secret values sealed.
func (s *database) webhookRowOf(w *loyalty.Webhook) (r webhookRow, err error) {
	r = webhookRow{
		ID: UUID(w.ID), Label: w.Label, URL: w.URL, Types: Document[[]string]{w.Types}, Filter: Text(w.Filter), Ordered: w.Ordered, Version: w.Version,
		Include: Document[[]string]{w.Include}, Format: w.Format, Concurrency: w.Concurrency, State: w.State, Reason: Text(w.Reason), Cursor: w.Cursor, Revision: w.Revision,
		Failures: w.Health.Failures, Tries: w.Health.Tries, FailingSince: Millis(w.Health.FailingSince), Told: w.Health.Told, Pace: w.Health.Pace,
		RestUntil: Millis(w.Health.RestUntil), LastSuccessAt: Millis(w.Health.LastSuccessAt),
		CreatedAt: Millis(w.CreatedAt), UpdatedAt: Millis(w.UpdatedAt),
	}

	if len(w.Headers) > 0 {
		plain, err := json.Marshal(w.Headers)
		if err != nil {
			return r, err
		}
		r.Headers = s.sealer.seal(headersID(r.ID), plain)
	}

	return r, nil
}

// Backlogs counts what has not been delivered, by webhook.
func (s webhookStore) Backlogs(ctx context.Context) (map[loyalty.ID]loyalty.WebhookBacklog, error) {
	all := map[loyalty.ID]loyalty.WebhookBacklog{}
	var id UUID
	var waiting, dead, behind number
	var oldest Millis
	// "+ 0": otherwise PostgreSQL searches for the oldest in the index by age, through everything that was sent, if a
	// webhook has nothing waiting
	err := s.asks(ctx, sqlFragment{`SELECT w.id, (SELECT count(*) FROM deliveries d WHERE d.webhook_id = w.id AND d.state = 'waiting'),
(SELECT count(*) FROM deliveries d WHERE d.webhook_id = w.id AND d.state = 'dead'),
(SELECT min(d.created_at + 0) FROM ` + deliveriesBy(s.read, "d", "deliveries_state") + ` WHERE d.webhook_id = w.id AND d.state = 'waiting'), t.head - w.cursor FROM webhooks w CROSS JOIN tail_state t`, nil}.reads(func() bool {
		all[loyalty.ID(id)] = loyalty.WebhookBacklog{Waiting: int64(waiting), Dead: int64(dead), Behind: max(0, int64(behind)), Oldest: oldest.Time()}
		return false
	}, &id, &waiting, &dead, &oldest, &behind))
	return all, err
}

// deliveriesBy names the table of deliveries, and on SQLite the index to search. Without statistics SQLite uses the
// primary key for any condition on the webhook, and would read everything that was ever sent.
func deliveriesBy(db *gorm.DB, alias, index string) string {
	if alias != "" {
		alias = " " + alias
	}
	if db.Name() != "sqlite" {
		return "deliveries" + alias
	}
	return "deliveries" + alias + " INDEXED BY " + index
}

// DueWebhooks lists active webhooks that have something to send.
func (s webhookStore) DueWebhooks(ctx context.Context, now time.Time) ([]loyalty.ID, error) {
	// on probation, a webhook needs work whenever it is not resting
	return s.ids(s.read.WithContext(ctx).Table("webhooks w").Where("w.state = ? AND (w.rest_until IS NULL OR w.rest_until <= ?)", loyalty.WebhookActive, Millis(now)).
		Where(`EXISTS (SELECT 1 FROM `+deliveriesBy(s.read, "d", "deliveries_due")+` WHERE d.webhook_id = w.id AND d.front AND (d.next_at <= ? OR w.failures >= ?) AND (d.lease_until IS NULL OR d.lease_until <= ?))`,
			Millis(now), loyalty.ProbationAfter, Millis(now)).Order("w.id"), "w.id")
}
