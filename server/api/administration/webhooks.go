package administration

import (
	"context"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

// ListWebhooks lists the webhooks, the newest first.
func (a *API) ListWebhooks(
	ctx context.Context, in administration.ListWebhooksRequestObject,
) (administration.ListWebhooksResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	all, err := a.Webhooks.Webhooks(api.Plain(ctx))
	if err != nil {
		return nil, err
	}

	backlogs, err := a.Webhooks.Backlogs(api.Plain(ctx))
	if err != nil {
		return nil, err
	}

	place := func(w loyalty.Webhook) list.Cursor { return list.Cursor{At: w.CreatedAt, ID: w.ID[:]} }
	l := list.Linked(p, list.Cut(p, all, place), a.Clock(), place)
	out := administration.ListWebhooks200JSONResponse{Data: make([]administration.Webhook, len(l.Entries)),
		Next: l.Next, Previous: l.Previous, Time: &l.Time}
	for i := range l.Entries {
		out.Data[i] = a.webhookOf(&l.Entries[i], backlogs[l.Entries[i].ID])
	}

	return out, nil
}

// GetWebhook reads a webhook.
func (a *API) GetWebhook(
	ctx context.Context, in administration.GetWebhookRequestObject,
) (administration.GetWebhookResponseObject, error) {
	w, err := a.Webhooks.Webhook(api.Plain(ctx), in.WebhookID)
	if err != nil {
		return nil, err
	}
	backlogs, err := a.Webhooks.Backlogs(api.Plain(ctx))
	if err != nil {
		return nil, err
	}
	return administration.GetWebhook200JSONResponse{Data: a.webhookOf(&w, backlogs[w.ID])}, nil
}

// CreateWebhook makes a webhook and shows its secret once.
func (a *API) CreateWebhook(
	ctx context.Context, in administration.CreateWebhookRequestObject,
) (administration.CreateWebhookResponseObject, error) {
	b := in.Body
	c := admin.WebhookChange{Label: b.Label, URL: &b.URL, Filter: b.Filter, Types: &b.Types,
		Concurrency: b.Concurrency, ConfirmPersonal: loyalty.Deref(b.ConfirmPersonal)}
	if b.Include != nil {
		c.Include = new(plainTexts(b.Include))
	}
	if b.Headers != nil {
		c.Headers = &b.Headers
	}
	c.Format, c.Ordering, c.Version = textOf(b.Format), textOf(b.Ordering), textOf(b.Version)
	c.Signature = textOf(b.Signature)
	return api.Change(ctx, http.StatusCreated, api.WithWarnings(ctx, a.Programme, a.newWebhookAnswer),
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Webhook], error) {
			return a.Webhooks.CreateWebhook(ctx, call, c)
		})
}

// UpdateWebhook changes a webhook.
func (a *API) UpdateWebhook(
	ctx context.Context, in administration.UpdateWebhookRequestObject,
) (administration.UpdateWebhookResponseObject, error) {
	b := in.Body
	c := admin.WebhookChange{Label: b.Label, URL: b.URL, Filter: b.Filter,
		Concurrency: b.Concurrency, ConfirmPersonal: loyalty.Deref(b.ConfirmPersonal)}
	if b.Types != nil {
		c.Types = &b.Types
	}
	if b.Include != nil {
		c.Include = new(plainTexts(b.Include))
	}
	if b.Headers != nil {
		c.Headers = &b.Headers
	}

	c.Format = textOf(b.Format)
	return api.Change(ctx, http.StatusOK, api.WithWarnings(ctx, a.Programme, a.webhookAnswer),
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Webhook], error) {
			return a.Webhooks.UpdateWebhook(ctx, call, in.WebhookID, c)
		})
}

// RotateWebhook gives a webhook a new secret, which is shown once.
func (a *API) RotateWebhook(
	ctx context.Context, in administration.RotateWebhookRequestObject,
) (administration.RotateWebhookResponseObject, error) {
	overlap := defaultOverlap
	if s := in.Body.OverlapSeconds; s != nil {
		overlap = time.Duration(*s) * time.Second
	}
	return api.Change(ctx, http.StatusOK, a.newWebhookAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Webhook], error) {
			return a.Webhooks.RotateWebhook(ctx, call, in.WebhookID, overlap)
		})
}

// PauseWebhook stops the sending of a webhook for a while.
func (a *API) PauseWebhook(
	ctx context.Context, in administration.PauseWebhookRequestObject,
) (administration.PauseWebhookResponseObject, error) {
	return api.Change(ctx, http.StatusOK, a.webhookAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Webhook], error) {
			return a.Webhooks.PauseWebhook(ctx, call, in.WebhookID)
		})
}

// ResumeWebhook resumes the sending of a webhook.
func (a *API) ResumeWebhook(
	ctx context.Context, in administration.ResumeWebhookRequestObject,
) (administration.ResumeWebhookResponseObject, error) {
	return api.Change(ctx, http.StatusOK, a.webhookAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Webhook], error) {
			return a.Webhooks.ResumeWebhook(ctx, call, in.WebhookID, loyalty.Deref(in.Body.Skip))
		})
}

// RemoveWebhook removes a webhook, and wakes the job that drops its surplus messages.
func (a *API) RemoveWebhook(
	ctx context.Context, in administration.RemoveWebhookRequestObject,
) (administration.RemoveWebhookResponseObject, error) {
	removed := func(w loyalty.Webhook) any { // nothing waits
		return administration.WebhookAnswer{Data: a.webhookOf(&w, loyalty.WebhookBacklog{})}
	}
	answer, err := api.Change(ctx, http.StatusOK, removed,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Webhook], error) {
			return a.Webhooks.RemoveWebhook(ctx, call, in.WebhookID)
		})
	if err == nil && !answer.Replayed {
		a.Jobs.Wake("webhooks")
	}
	return answer, err
}

// textOf converts a pointer to a text of another type.
func textOf[T ~string](t *T) *string {
	if t == nil {
		return nil
	}
	text := string(*t)
	return &text
}

func plainTexts[T ~string](list []T) []string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = string(t)
	}
	return texts
}

func (a *API) webhookAnswer(w loyalty.Webhook) any {
	return administration.WebhookAnswer{Data: a.webhookOf(&w, a.backlog(&w))}
}

// backlog is what waits for a webhook that was just changed; empty if it cannot be read, because the change itself is
// done.
func (a *API) backlog(w *loyalty.Webhook) loyalty.WebhookBacklog {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTime)
	defer cancel()
	all, err := a.Webhooks.Backlogs(ctx)
	if err != nil {
		return loyalty.WebhookBacklog{}
	}
	return all[w.ID]
}

const backlogTime = 2 * time.Second

// newWebhookAnswer shows the secret if the change has just made it.
func (a *API) newWebhookAnswer(w loyalty.Webhook) any {
	data := struct {
		administration.Webhook
		Secret string `json:"secret,omitempty"`
	}{Webhook: a.webhookOf(&w, a.backlog(&w))}
	if len(w.Secrets) > 0 {
		data.Secret = w.Secrets[0].Value
	}
	return map[string]any{"data": data}
}

func (a *API) webhookOf(w *loyalty.Webhook, b loyalty.WebhookBacklog) administration.Webhook {
	ordering := administration.WebhookOrderingNone
	if w.Ordered {
		ordering = administration.WebhookOrderingCustomer
	}

	out := administration.Webhook{
		WebhookID: w.ID, Label: w.Label, URL: w.URL, Types: append([]string{}, w.Types...),
		Filter: api.TextOrNil(w.Filter), Ordering: ordering, Version: w.Version,
		Include: append([]string{}, w.Include...), Format: administration.WebhookFormat(w.Format),
		HeaderNames: admin.HeaderNames(w), Concurrency: w.Concurrency,
		State: administration.WebhookState(w.State),
		Health: administration.WebhookHealth{
			Probation: webhook.OnProbation(&w.Health), Failures: w.Health.Failures,
			FailingSince:  api.InstantOrNil(w.Health.FailingSince),
			LastSuccessAt: api.InstantOrNil(w.Health.LastSuccessAt),
		},
		Backlog: administration.WebhookBacklog{Waiting: b.Waiting,
			Dead: b.Dead, Behind: b.Behind, OldestAt: api.InstantOrNil(b.Oldest)},
		CreatedAt: common.Instant(w.CreatedAt), UpdatedAt: common.Instant(w.UpdatedAt),
		Secrets:   []administration.WebhookSecret{},
		Signature: administration.WebhookSignatureHmac,
	}

	if w.Reason != "" {
		out.Reason = new(administration.WebhookReason(w.Reason))
	}
	if w.Health.RestUntil.After(a.Clock()) {
		out.Health.RestsUntil = api.InstantOrNil(w.Health.RestUntil)
	}

	for i := len(w.Secrets) - 1; i >= 0; i-- { // the oldest first
		s := &w.Secrets[i]
		out.Secrets = append(out.Secrets, administration.WebhookSecret{
			CreatedAt: common.Instant(s.CreatedAt), ExpiresAt: api.InstantOrNil(s.ExpiresAt), PublicKey: api.TextOrNil(s.Public),
		})
		if s.Public != "" {
			out.Signature = administration.WebhookSignatureEd25519
		}
	}

	return out
}
