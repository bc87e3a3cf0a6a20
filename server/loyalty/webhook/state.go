package webhook

import (
	"math/rand/v2"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// waits are how long a delivery waits behind each of its tries: twelve of them in 71 hours.
var waits = [...]time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
	3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour,
}

// maxTries is how often a delivery is tried.
const maxTries = len(waits) + 1

// spread is by which part of it a wait is longer or shorter, so that what failed together
// does not come back together.
const spread = 0.2

// How often an address is asked that counts as out of order, and when that is told and it
// is given up.
const (
	probeEvery    = time.Minute
	tellAfter     = time.Hour
	giveUpAfter   = 5 * 24 * time.Hour
	giveUpTries   = 20
	maxRetryAfter = 24 * time.Hour
)

// Answer is what came of an attempt.
type Answer struct {
	Status     int           // of HTTP; 0: there was none
	Fault      string        // why
	RetryAfter time.Duration // for how long the receiver wants to be left alone; 0: it does not say
	Took       time.Duration
	Body       []byte // the beginning of it
}

func (a *Answer) success() bool { return a.Status >= 200 && a.Status < 300 }

// gone: the receiver wants no more, whatever it is.
func (a *Answer) gone() bool { return a.Status == 410 }

// slow: the receiver, or what stands before it, has too much to do.
func (a *Answer) slow() bool {
	return a.Status == 429 || a.Status == 502 || a.Status == 503 || a.Status == 504
}

// OnProbation says whether an address counts as out of order.
func OnProbation(h *loyalty.WebhookHealth) bool { return h.Failures >= loyalty.ProbationAfter }

// allowed is how many messages may be under way at a time.
func allowed(w *loyalty.Webhook) int {
	if OnProbation(&w.Health) {
		return 1
	}
	return max(1, min(w.Concurrency, w.Health.Pace))
}

// told is what others are to hear of a webhook.
type told string

const (
	tellNothing   told = ""
	tellFailing   told = "webhook.failing"
	tellDisabled  told = "webhook.disabled"
	tellRecovered told = "webhook.recovered"
)

// settle decides what an answer means, to the delivery and to its webhook; recovered: the
// address was out of order, and is back.
func settle(w *loyalty.Webhook, d *loyalty.Delivery, a *Answer, now time.Time) (tell told, recovered bool) {
	d.LastAt, d.LastStatus, d.LastFault = now, a.Status, a.Fault
	h := &w.Health
	if a.success() {
		d.State = loyalty.DeliverySent
		recovered = OnProbation(h)
		if h.Told {
			tell = tellRecovered
		}
		pace := min(w.Concurrency, max(1, h.Pace)+1)
		if recovered {
			pace = 1
		}
		*h = loyalty.WebhookHealth{Pace: pace, LastSuccessAt: now}
		return tell, recovered
	}
	out := OnProbation(h)
	h.Failures, h.Tries = h.Failures+1, h.Tries+1
	if h.FailingSince.IsZero() {
		h.FailingSince = now
	}
	rest := min(a.RetryAfter, maxRetryAfter)
	if a.slow() {
		h.Pace = max(1, h.Pace/2)
		h.RestUntil = later(h.RestUntil, now.Add(rest))
	}
	switch {
	case a.gone():
		w.State, w.Reason, d.NextAt = loyalty.WebhookDisabled, loyalty.DisabledGone, now
		return tellDisabled, false
	case out:
		d.NextAt = now.Add(probeEvery)
	default:
		d.Attempts++
		if d.Attempts >= maxTries {
			d.State = loyalty.DeliveryDead
		} else {
			d.NextAt = now.Add(max(rest, jittered(waits[d.Attempts-1])))
		}
	}
	if OnProbation(h) {
		h.RestUntil = later(h.RestUntil, now.Add(probeEvery))
	}
	failing := now.Sub(h.FailingSince)
	switch {
	case failing >= giveUpAfter && h.Tries >= giveUpTries && w.State == loyalty.WebhookActive:
		w.State, w.Reason = loyalty.WebhookDisabled, loyalty.DisabledFailing
		return tellDisabled, false
	case failing >= tellAfter && !h.Told:
		h.Told = true
		return tellFailing, false
	}
	return tellNothing, false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// jittered is a wait, a little longer or shorter.
func jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 - spread + 2*spread*rand.Float64())) //nolint:gosec // no secret
}
