package admin

import (
	"context"
	"math"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// TestWebhook sends a test message. It fails with ErrWebhookNotFound and ErrWebhookState.
func (a *Webhooks) TestWebhook(ctx context.Context, call Call, id string) (Done[loyalty.Delivery], error) {
	return changing(ctx, a, call, func(r *webhookRun) (loyalty.Delivery, error) {
		w, err := r.active(id)
		if err != nil {
			return loyalty.Delivery{}, err
		}
		d, err := r.AddDelivery(loyalty.Delivery{
			Webhook: w.ID, Event: r.next(r.now), Type: loyalty.TestMessage, Revision: w.Revision, State: loyalty.DeliveryWaiting,
			NextAt: r.now, CreatedAt: r.now,
			Notice: loyalty.JSON(map[string]any{"webhook_id": w.ID, "label": w.Label}),
		})
		if err != nil {
			return d, err
		}
		return d, r.audit("webhook.test", w.ID.String(), nil, nil)
	}, func(d loyalty.Delivery) any { return d })
}

// RetryDelivery sends a dead delivery again. It fails with ErrWebhookNotFound, ErrDeliveryNotFound and
// ErrDeliveryNotDead.
func (a *Webhooks) RetryDelivery(ctx context.Context, call Call, id, number string) (Done[loyalty.Delivery], error) {
	return changing(ctx, a, call, func(r *webhookRun) (loyalty.Delivery, error) {
		w, err := r.webhook(id)
		if err != nil {
			return loyalty.Delivery{}, err
		}

		_, d, _, err := a.Delivery(ctx, id, number) // before the change; the row is locked
		if err != nil {
			return d, err
		}

		n, err := r.RetryDeliveries(loyalty.RetryQuery{Webhook: w.ID, Number: d.Number}, r.now)
		if err == nil && n == 0 {
			err = loyalty.ErrDeliveryNotDead.With("state", string(d.State))
		}
		if err != nil {
			return d, err
		}

		d.State, d.Attempts, d.NextAt = loyalty.DeliveryWaiting, 0, r.now
		return d, r.audit("webhook.retry", w.ID.String(), nil, map[string]int64{"delivery": d.Number})
	}, func(d loyalty.Delivery) any { return d })
}

// RetryDeliveries sends dead deliveries of a webhook again, and returns how many. It fails with
// ErrWebhookNotFound.
func (a *Webhooks) RetryDeliveries(
	ctx context.Context, call Call, id string, q loyalty.RetryQuery,
) (Done[int64], error) {
	return changing(ctx, a, call, func(r *webhookRun) (int64, error) {
		w, err := r.webhook(id)
		if err != nil {
			return 0, err
		}
		q.Webhook = w.ID
		n, err := r.RetryDeliveries(q, r.now)
		if err != nil || n == 0 {
			return 0, err
		}
		return n, r.audit("webhook.retry", w.ID.String(), nil, map[string]int64{"deliveries": n})
	}, func(n int64) any { return n })
}

// CountReplay counts what a replay would send, before the webhook's filter. It fails as
// ReplayWebhook does.
func (a *Webhooks) CountReplay(ctx context.Context, id string, p loyalty.Replay) (int64, error) {
	w, err := a.Webhook(ctx, id)
	if err != nil {
		return 0, err
	}
	if err := a.checkReplay(&p); err != nil {
		return 0, err
	}
	return a.countReplay(ctx, &w, &p)
}

// countReplay counts in the journal. It does not apply the filter of the webhook, for which it would have to read each
// event.
func (a *Webhooks) countReplay(ctx context.Context, w *loyalty.Webhook, p *loyalty.Replay) (int64, error) {
	actions, prefixes, some := loyalty.ActionsOf(narrowed(w.Types, p.Types))
	if !some {
		return 0, nil
	}
	return a.store.CountEvents(ctx, p, actions, prefixes)
}

// narrowed returns the types that two lists have in common: of two patterns the longer one.
func narrowed(types, wanted []string) (both []string) {
	if len(wanted) == 0 {
		return types
	}

	for _, t := range wanted {
		if loyalty.FitsTypes(types, t) {
			both = append(both, t)
			continue
		}
		for _, own := range types {
			if loyalty.FitsTypes([]string{t}, own) {
				both = append(both, own)
			}
		}
	}

	return both
}

// lastDay is later than any event.
var lastDay = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// checkReplay ends the period at now at the latest, because later events are sent anyway. A replay by numbers may have
// events of any time.
func (a *Webhooks) checkReplay(p *loyalty.Replay) error {
	if p.Numbered() {
		if p.Until <= p.Position {
			return programme.Fault("to_sequence", loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": "range"})
		}
		p.From, p.To = time.UnixMilli(0).UTC(), lastDay
		return nil
	}

	p.From, p.To = p.From.UTC(), p.To.UTC()
	if now := a.now(); p.To.After(now) {
		p.To = now
	}
	if !p.From.Before(p.To) {
		return programme.Fault("to", loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": "range"})
	}

	return nil
}

// ReplayWebhook sends past events again, and returns how many there are before the filter. It fails
// with ErrWebhookNotFound, ErrWebhookState, ErrPersonalNeeded, ErrReplayRunning, or an error of kind
// Invalid that names the field.
func (a *Webhooks) ReplayWebhook(ctx context.Context, call Call, id string, p loyalty.Replay) (Done[int64], error) {
	if err := a.checkReplay(&p); err != nil {
		return Done[int64]{}, err
	}

	after, until, err := p.Position, p.Until, error(nil)
	if !p.Numbered() { // before the webhook's row is locked, because reading the tail may take long
		if after, until, err = a.store.Stretch(ctx, p.From, p.To); err != nil {
			return Done[int64]{}, err
		}
	}

	return changing(ctx, a, call, func(r *webhookRun) (int64, error) {
		w, err := r.active(id)
		if err != nil {
			return 0, err
		}
		if err := maySendPersonal(ctx, &w); err != nil {
			return 0, err
		}

		running, err := r.CountReplays(w.ID)
		if err == nil && running > 0 {
			err = loyalty.ErrReplayRunning
		}
		if err != nil {
			return 0, err
		}

		head, err := r.TailHead()
		if err != nil {
			return 0, err
		}

		until = min(until, head) // later events are sent anyway
		n, err := a.countReplay(ctx, &w, &p)
		if err != nil || n == 0 {
			return 0, err
		}

		asked := replayAudit(&p, n)
		p.ID, p.Webhook, p.Position, p.Until, p.At = r.next(r.now), w.ID, after, until, r.now
		if after < until {
			if err := r.AddReplay(p); err != nil {
				return 0, err
			}
		}

		return n, r.audit("webhook.replay", w.ID.String(), nil, asked)
	}, func(n int64) any { return n })
}

// replayAudit is a replay as it was requested, for the audit trail.
func replayAudit(p *loyalty.Replay, events int64) map[string]any {
	asked := map[string]any{"types": p.Types, "events": events}
	if !p.Numbered() {
		asked["from"], asked["to"] = p.From.Format(time.RFC3339Nano), p.To.Format(time.RFC3339Nano)
		return asked
	}
	asked["from_sequence"] = p.Position + 1
	if p.Until < math.MaxInt64 {
		asked["to_sequence"] = p.Until
	}
	return asked
}
