package admin

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

const (
	// attemptMinutes is how far back attempts are counted.
	attemptMinutes = 60
	// attemptsCounted is the most attempts that are counted, over all webhooks: a thousand a minute.
	attemptsCounted = 1000 * attemptMinutes
)

// AttemptMinute is the outcome of the attempts in one minute.
type AttemptMinute struct {
	At                             time.Time
	Delivered, Refused, Unanswered int64
	// of the answered ones: half, and 95 of 100, took no longer, to two digits
	Median, Slow time.Duration
}

// Attempts counts the attempts of a webhook in the last hour, minute by minute. If there were too
// many to count all, it begins with the first whole minute among those counted. It fails with
// ErrWebhookNotFound.
func (a *Webhooks) Attempts(ctx context.Context, id string) ([]AttemptMinute, error) {
	key, err := webhookID(id)
	if err != nil {
		return nil, err
	}

	now := a.now().Truncate(time.Minute)
	counts, since, err := a.store.Attempts(ctx, key, now.Add(-(attemptMinutes-1)*time.Minute), attemptsCounted)
	if err != nil {
		return nil, err
	}

	by := map[int64][]loyalty.AttemptCount{}
	for _, c := range counts {
		by[c.Minute.Unix()] = append(by[c.Minute.Unix()], c)
	}

	if whole := since.Truncate(time.Minute); whole.Before(since) {
		since = whole.Add(time.Minute)
	}

	list := []AttemptMinute{}
	for at := since; !at.After(now); at = at.Add(time.Minute) {
		list = append(list, minuteOf(at, by[at.Unix()]))
	}

	return list, nil
}

func minuteOf(at time.Time, counts []loyalty.AttemptCount) AttemptMinute {
	m := AttemptMinute{At: at}
	slices.SortFunc(counts, func(a, b loyalty.AttemptCount) int { return cmp.Compare(a.Took, b.Took) })
	for _, c := range counts {
		switch c.Outcome {
		case loyalty.AttemptDelivered:
			m.Delivered += c.Count
		case loyalty.AttemptRefused:
			m.Refused += c.Count
		default:
			m.Unanswered += c.Count
		}
	}

	answered, seen := m.Delivered+m.Refused, int64(0)
	for _, c := range counts {
		if c.Outcome == loyalty.AttemptUnanswered {
			continue
		}
		before := seen
		seen += c.Count
		if half := (answered + 1) / 2; before < half && half <= seen {
			m.Median = c.Took
		}
		if most := (95*answered + 99) / 100; before < most && most <= seen {
			m.Slow = c.Took
		}
	}

	return m
}
