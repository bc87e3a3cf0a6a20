package administration

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
)

// GetWebhookAttempts counts the attempts of the last hour, minute by minute.
func (a *API) GetWebhookAttempts(
	ctx context.Context, in administration.GetWebhookAttemptsRequestObject,
) (administration.GetWebhookAttemptsResponseObject, error) {
	leave, err := a.Totals.Enter(ctx, api.RequestOf(ctx).Key.ID)
	if err != nil {
		return nil, err
	}
	defer leave()

	minutes, err := a.Webhooks.Attempts(api.Plain(ctx), in.WebhookID)
	if err != nil {
		return nil, err
	}

	out := administration.WebhookAttempts{At: common.Instant(a.Clock()),
		Minutes: make([]administration.WebhookMinute, len(minutes))}
	for i, m := range minutes {
		shown := administration.WebhookMinute{At: common.Instant(m.At),
			Delivered: m.Delivered, Refused: m.Refused, Unanswered: m.Unanswered}
		if m.Delivered+m.Refused > 0 {
			shown.Median, shown.P95 = new(m.Median.Seconds()), new(m.Slow.Seconds())
		}
		out.Minutes[i] = shown
	}

	return administration.GetWebhookAttempts200JSONResponse{Data: out}, nil
}
