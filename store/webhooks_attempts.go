package store

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// readAttempts counts the newest attempts by minute, outcome and duration, to two digits. It reads the attempts of
// all webhooks, because an index by webhook would have to be written with each attempt; those of other webhooks
// become one row.
const readAttempts = `SELECT CASE WHEN mine = 1 THEN minute ELSE 0 END, CASE WHEN mine = 1 THEN outcome ELSE 0 END, CASE WHEN mine = 1 THEN took ELSE 0 END, count(*), min(at)
FROM (SELECT at, at / 60000 AS minute, CASE WHEN webhook_id = ? THEN 1 ELSE 0 END AS mine,
CASE WHEN status = 0 THEN 3 WHEN status BETWEEN 200 AND 299 THEN 1 ELSE 2 END AS outcome,
CASE WHEN duration < 10000 THEN duration / 100 * 100 WHEN duration < 100000 THEN duration / 1000 * 1000 WHEN duration < 1000000 THEN duration / 10000 * 10000
ELSE duration / 100000 * 100000 END AS took
FROM attempts WHERE at >= ? ORDER BY at DESC LIMIT ?) a GROUP BY 1, 2, 3`

// Attempts counts the attempts of a webhook from an instant on, among the given number of the newest attempts of all
// webhooks.
func (s webhookStore) Attempts(ctx context.Context, webhook loyalty.ID, from time.Time, most int) (list []loyalty.AttemptCount, since time.Time, err error) {
	var known, minute, outcome, took, count, first number
	all, oldest := 0, int64(0)
	counts := sqlFragment{readAttempts, []any{UUID(webhook), Millis(from), most}}.reads(func() bool {
		if all += int(count); oldest == 0 || int64(first) < oldest {
			oldest = int64(first)
		}
		if outcome != 0 {
			list = append(list, loyalty.AttemptCount{
				Minute: time.UnixMilli(int64(minute) * time.Minute.Milliseconds()).UTC(), Outcome: loyalty.AttemptOutcome(outcome),
				Took: time.Duration(took) * time.Microsecond, Count: int64(count),
			})
		}
		return false
	}, &minute, &outcome, &took, &count, &first)

	err = s.ask(ctx, []question{sqlFragment{"SELECT 1 FROM webhooks WHERE id = ?", []any{UUID(webhook)}}.one(&known), counts}, func() ([]question, error) {
		if known == 0 {
			return nil, loyalty.ErrWebhookNotFound.With("webhook", webhook.String())
		}
		return nil, nil
	})

	if since = from; all >= most {
		since = time.UnixMilli(oldest).UTC()
	}

	return list, since, err
}
