package webhook

import (
	"math/rand/v2"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// waits are the pauses after each try of a delivery: twelve in 71 hours.
var waits = [...]time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
	3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour,
}

// maxTries is how often a delivery is tried.
const maxTries = len(waits) + 1

// spread is the fraction by which a wait is made longer or shorter at random, so that deliveries that failed together
// do not come back together.
const spread = 0.2

// How often an address on probation is tried, when its failure is reported, and when it is given up.
const (
	probeEvery    = time.Minute
	tellAfter     = time.Hour
	giveUpAfter   = 5 * 24 * time.Hour
	giveUpTries   = 20
	maxRetryAfter = 24 * time.Hour
)

// Answer is the result of an attempt.
type Answer struct {
	Status     int           // 0: there was none
	Fault      string        // why
	RetryAfter time.Duration // how long the receiver asks to be left alone; 0: it does not say
	Took       time.Duration
	Body       []byte // its first bytes
}

func (a *Answer) success() bool { return a.Status >= 200 && a.Status < 300 }

// gone reports whether the receiver has declined all further messages.
func (a *Answer) gone() bool { return a.Status == 410 }

// slow reports whether the receiver, or a proxy in front of it, is overloaded.
func (a *Answer) slow() bool {
	return a.Status == 429 || a.Status == 502 || a.Status == 503 || a.Status == 504
}

// OnProbation reports whether an address counts as out of order.
func OnProbation(h *loyalty.WebhookHealth) bool { return h.Failures >= loyalty.ProbationAfter }

// allowed is how many messages may be in flight at a time.
func allowed(w *loyalty.Webhook) int {
	if OnProbation(&w.Health) {
		return 1
	}
	return max(1, min(w.Concurrency, w.Health.Pace))
}

// told is the type of a notice about a webhook.
type told string

const (
	tellNothing   told = ""
	tellFailing   told = "webhook.failing"
	tellDisabled  told = "webhook.disabled"
	tellRecovered told = "webhook.recovered"
)

// settle decides what an answer means for the delivery and its webhook; recovered reports that the address was on
// probation and works again.
func settle(w *loyalty.Webhook, d *loyalty.Delivery, a *Answer, now time.Time) (tell told, recovered bool) {
	d.LastAt, d.LastStatus, d.LastFault = now, a.Status, a.Fault
	h := &w.Health
	if a.success() {
		d.State, d.Attempts = loyalty.DeliverySent, d.Attempts+1
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

// jittered makes a wait a little longer or shorter at random.
func jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 - spread + 2*spread*rand.Float64())) //nolint:gosec // no secret
}
