package administration

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// TestWebhook sends a test message.
func (a *API) TestWebhook(
	ctx context.Context, in administration.TestWebhookRequestObject,
) (administration.TestWebhookResponseObject, error) {
	return api.Change(ctx, http.StatusCreated, deliveryAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Delivery], error) {
			return a.Webhooks.TestWebhook(ctx, call, in.WebhookID)
		})
}

// RetryDelivery sends a dead delivery again.
func (a *API) RetryDelivery(
	ctx context.Context, in administration.RetryDeliveryRequestObject,
) (administration.RetryDeliveryResponseObject, error) {
	return api.Change(ctx, http.StatusOK, deliveryAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Delivery], error) {
			return a.Webhooks.RetryDelivery(ctx, call, in.WebhookID, in.Delivery)
		})
}

// RetryDeliveries sends dead deliveries again.
func (a *API) RetryDeliveries(
	ctx context.Context, in administration.RetryDeliveriesRequestObject,
) (administration.RetryDeliveriesResponseObject, error) {
	q := loyalty.RetryQuery{Type: loyalty.Deref(in.Body.Type), From: timeOf(in.Body.From), To: timeOf(in.Body.To)}
	var err error
	if q.Customer, err = a.named(ctx, in.Body.Customer); err != nil {
		return nil, err
	}
	counted := func(n int64) any { return map[string]any{"data": map[string]any{"deliveries": n}} }
	return api.Change(ctx, http.StatusOK, counted, func(ctx context.Context, call admin.Call) (admin.Done[int64], error) {
		return a.Webhooks.RetryDeliveries(ctx, call, in.WebhookID, q)
	})
}

// ReplayWebhook counts past events, or sends them again.
func (a *API) ReplayWebhook(
	ctx context.Context, in administration.ReplayWebhookRequestObject,
) (administration.ReplayWebhookResponseObject, error) {
	r, err := replayOf(in.Body)
	if err != nil {
		return nil, err
	}

	dry := loyalty.Deref(in.Body.DryRun)
	if r.Customer, err = a.named(ctx, in.Body.Customer); err != nil {
		return nil, err
	}

	answer := func(n int64) any { return map[string]any{"data": map[string]any{"events": n, "dry_run": dry}} }
	if dry {
		api.RequestOf(ctx).Decided = true // it only reads
		leave, err := a.Totals.Enter(ctx, api.RequestOf(ctx).Key.ID)
		if err != nil {
			return nil, err
		}
		defer leave()
		n, err := a.Webhooks.CountReplay(api.Plain(ctx), in.WebhookID, r)
		if err != nil {
			return nil, err
		}
		return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(answer(n))}, nil
	}

	return api.Change(ctx, http.StatusOK, answer, func(ctx context.Context, call admin.Call) (admin.Done[int64], error) {
		return a.Webhooks.ReplayWebhook(ctx, call, in.WebhookID, r)
	})
}

// replayOf reads the range to send again. A body names either a time or numbers, completely.
func replayOf(body *administration.WebhookReplay) (r loyalty.Replay, err error) {
	r.Types, r.Position, r.Until = body.Types, loyalty.Deref(body.FromSequence)-1, loyalty.Deref(body.ToSequence)
	other := map[string]any{"other": "from_sequence"}
	switch empty := loyalty.ErrPropertyEmpty; {
	case body.FromSequence != nil && body.From != nil:
		return r, programme.Fault("from", "not_together", other)
	case body.FromSequence != nil && body.To != nil:
		return r, programme.Fault("to", "not_together", other)
	case body.FromSequence != nil:
		if body.ToSequence == nil {
			r.Until = math.MaxInt64
		}
		return r, nil

	case body.ToSequence != nil:
		return r, empty.With("property", "from_sequence").At("from_sequence")
	case body.From == nil:
		return r, empty.With("property", "from").At("from")
	case body.To == nil:
		return r, empty.With("property", "to").At("to")
	}

	r.Position, r.From, r.To = 0, time.Time(*body.From), time.Time(*body.To)
	return r, nil
}

// named finds the customer of a body; zero if it names none.
func (a *API) named(ctx context.Context, name *string) (loyalty.ID, error) {
	if name == nil {
		return loyalty.ID{}, nil
	}
	c, err := a.Reader.Customer(api.Plain(ctx), *name)
	if errors.Is(err, loyalty.ErrCustomerNotFound) {
		err = loyalty.AtField(err, "customer")
	}
	return c.ID, err
}

func timeOf(i *common.Instant) time.Time {
	if i == nil {
		return time.Time{}
	}
	return time.Time(*i)
}

// ListDeliveries lists the deliveries, sent, waiting or given up, the newest first.
func (a *API) ListDeliveries(
	ctx context.Context, in administration.ListDeliveriesRequestObject,
) (administration.ListDeliveriesResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	conditions, readable := p.Conditions()
	if readable {
		if conditions, readable, err = api.ByCustomer(api.Plain(ctx), a.Reader, "customer", conditions); err != nil {
			return nil, err
		}
	}

	var found []loyalty.Delivery
	if !readable { // nothing is found, but the webhook must exist
		_, err = a.Webhooks.Webhook(api.Plain(ctx), in.WebhookID)
	}
	if err != nil {
		return nil, err
	}

	if readable {
		page := p.Store()
		q := loyalty.DeliveryQuery{Conditions: conditions, Limit: page.Limit, Offset: page.Offset}
		if page.After != nil {
			q.After = numberOf(page.After.ID)
		}
		if page.Before != nil {
			q.Before = numberOf(page.Before.ID)
		}
		if found, err = a.Webhooks.Deliveries(api.Plain(ctx), in.WebhookID, q); err != nil {
			return nil, err
		}
	}

	a.suppress(found)
	l := list.Linked(p, found, a.Clock(), func(d loyalty.Delivery) list.Cursor {
		id := placeOf(d.Number)
		return list.Cursor{At: d.CreatedAt, ID: id[:]}
	})

	out := administration.ListDeliveries200JSONResponse{Data: make([]administration.Delivery, len(l.Entries)),
		Next: l.Next, Previous: l.Previous, Time: &l.Time}
	for i := range l.Entries {
		out.Data[i] = deliveryOf(&l.Entries[i])
	}

	return out, nil
}

// placeOf is a number as the id in a list's cursor.
func placeOf(number int64) (id loyalty.ID) {
	binary.BigEndian.PutUint64(id[8:], uint64(number)) //nolint:gosec // numbers are not negative
	return id
}

func numberOf(id loyalty.ID) int64 { return int64(binary.BigEndian.Uint64(id[8:])) } //nolint:gosec // ours

// suppress removes names if the programme suppresses them.
func (a *API) suppress(all []loyalty.Delivery) {
	if a.Programme().SuppressPII {
		for i := range all {
			all[i].Name = ""
		}
	}
}

// GetDelivery reads a delivery with its attempts. If the key may see its content, it adds the message as it would be
// sent now and the receiver's answer, which may quote the message.
func (a *API) GetDelivery(
	ctx context.Context, in administration.GetDeliveryRequestObject,
) (administration.GetDeliveryResponseObject, error) {
	w, d, log, err := a.Webhooks.Delivery(api.Plain(ctx), in.WebhookID, in.Delivery)
	if err != nil {
		return nil, err
	}

	one := []loyalty.Delivery{d}
	a.suppress(one)
	one[0].Subject = "" // shown only to the receiver
	var sent [][]byte   // the signed message
	out := struct {
		administration.Delivery
		Message json.RawMessage                  `json:"message,omitempty"`
		Log     []administration.DeliveryAttempt `json:"log"`
	}{Delivery: deliveryOf(&one[0]), Log: make([]administration.DeliveryAttempt, len(log))}

	key := api.RequestOf(ctx).Key
	told := len(key.APIs) == 0 || slices.Contains(key.APIs, "events") && slices.Contains(key.APIs, "display")
	if told {
		shown := w
		shown.Format = ""
		bodies, err := a.Messages.Render(api.Plain(ctx), &shown, one)
		if err != nil {
			return nil, err
		}
		out.Message = bodies[0]
		if sent, err = a.Messages.Render(api.Plain(ctx), &w, []loyalty.Delivery{d}); err != nil {
			return nil, err
		}
	}

	for i := range log {
		if out.Log[i] = attemptOf(&log[i]); !told {
			out.Log[i].Answer = nil
		}
		headers := administration.AttemptHeaders{WebhookID: d.Event,
			WebhookTimestamp: strconv.FormatInt(log[i].At.Unix(), 10)}
		if len(sent) > 0 && len(sent[0]) > 0 {
			text, err := a.Webhooks.Signatures(api.Plain(ctx), w.ID, d.Event.String(), log[i].At, sent[0])
			if err != nil {
				return nil, err
			}
			headers.WebhookSignature = api.TextOrNil(text)
		}
		out.Log[i].Headers = &headers
	}

	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(map[string]any{"data": out})}, nil
}

func deliveryAnswer(d loyalty.Delivery) any {
	return administration.DeliveryAnswer{Data: deliveryOf(&d)}
}

func deliveryOf(d *loyalty.Delivery) administration.Delivery {
	out := administration.Delivery{
		Delivery: d.Number, EventID: d.Event, Type: d.Type, Customer: api.TextOrNil(d.Name),
		State: administration.DeliveryStatus(d.State), Attempts: d.Attempts,
		Replay: d.Replay, CreatedAt: common.Instant(d.CreatedAt), LastAttemptAt: api.InstantOrNil(d.LastAt),
	}

	if d.Sequence != 0 {
		out.Sequence = &d.Sequence
	}
	if d.Previous != 0 {
		out.Previous = &d.Previous
	}
	if d.State == loyalty.DeliveryWaiting {
		out.NextAttemptAt = api.InstantOrNil(d.NextAt)
	}
	if d.Reason != "" {
		out.Reason = new(administration.DeliveryReason(d.Reason))
	}
	if d.LastStatus != 0 {
		out.LastStatus = &d.LastStatus
	}
	if d.LastFault != "" {
		out.LastFault = new(administration.DeliveryLastFault(d.LastFault))
	}

	return out
}

func attemptOf(a *loyalty.Attempt) administration.DeliveryAttempt {
	out := administration.DeliveryAttempt{Attempt: a.Number, At: common.Instant(a.At), Duration: a.Duration.Seconds()}
	if a.Status != 0 {
		out.Status = &a.Status
	}
	if a.Fault != "" {
		out.Fault = new(administration.DeliveryAttemptFault(a.Fault))
	}

	if text := string(a.Answer); text != "" {
		if !utf8.ValidString(text) {
			text = string([]rune(text)) // replaces invalid UTF-8, for example a letter cut in half
		}
		out.Answer = &text
	}

	return out
}
