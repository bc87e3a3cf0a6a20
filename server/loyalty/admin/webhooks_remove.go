package admin

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// RemoveWebhook removes a webhook for good, and returns it as it was. If it had very many deliveries,
// the job webhooks drops the rest. It fails with ErrWebhookNotFound.
func (a *Webhooks) RemoveWebhook(ctx context.Context, call Call, id string) (Done[loyalty.Webhook], error) {
	return changing(ctx, a, call, func(r *webhookRun) (loyalty.Webhook, error) {
		w, err := r.webhook(id)
		if err != nil {
			return w, err
		}
		if err := r.RemoveWebhook(w.ID); err != nil {
			return w, err
		}
		return a.withoutSecrets(w), r.audit("webhook.remove", w.ID.String(), recordWebhook(&w), nil)
	}, a.storableWebhook)
}
