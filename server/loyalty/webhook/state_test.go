package webhook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestSchedule: twelve tries over 71 hours, a fifth more or less.
func TestSchedule(t *testing.T) {
	var sum time.Duration
	for _, w := range waits {
		sum += w
		for range 100 {
			j := jittered(w)
			require.InDelta(t, float64(w), float64(j), 0.2*float64(w)+1)
		}
	}
	require.Equal(t, 12, maxTries)
	require.Equal(t, 70*time.Hour+42*time.Minute+35*time.Second, sum)
}

// TestAnswersDecide draws what an address answers to one delivery after the other, and holds
// what becomes of it against what is promised.
func TestAnswersDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(1_800_000_000_000)
		w := &loyalty.Webhook{State: loyalty.WebhookActive, Concurrency: rapid.IntRange(1, 8).Draw(t, "concurrency")}
		w.Health.Pace = w.Concurrency
		d := &loyalty.Delivery{State: loyalty.DeliveryWaiting}
		sent, row, told := 0, 0, map[told]int{}
		for range rapid.IntRange(1, 120).Draw(t, "attempts") {
			if w.State != loyalty.WebhookActive {
				break
			}

			a := &Answer{
				Status:     rapid.SampledFrom([]int{0, 200, 204, 301, 400, 404, 410, 429, 500, 500, 500, 500, 500, 502, 503, 504}).Draw(t, "status"),
				RetryAfter: time.Duration(rapid.SampledFrom([]int{0, 0, 10, 7200, 9_000_000}).Draw(t, "after")) * time.Second,
			}

			if a.Status == 0 {
				a.Fault = "timeout"
			}

			tries, out := d.Attempts, OnProbation(&w.Health)
			tell, recovered := settle(w, d, a, now)
			told[tell]++
			require.Equal(t, now, d.LastAt)
			require.GreaterOrEqual(t, w.Health.Pace, 1)
			require.LessOrEqual(t, allowed(w), w.Concurrency)
			switch {
			case a.success():
				require.Equal(t, loyalty.DeliverySent, d.State)
				require.Equal(t, tries+1, d.Attempts, "the try that was taken counts")
				require.Equal(t, out, recovered)
				require.Zero(t, w.Health.Failures)
				require.True(t, w.Health.FailingSince.IsZero())
				row, sent = 0, sent+1
				d = &loyalty.Delivery{State: loyalty.DeliveryWaiting}

			case a.gone():
				require.Equal(t, loyalty.WebhookDisabled, w.State)
				require.Equal(t, loyalty.DisabledGone, w.Reason)
				require.Equal(t, loyalty.DeliveryWaiting, d.State, "what waits is there when it is resumed")
				require.Equal(t, tries, d.Attempts)

			default:
				row++
				require.Equal(t, row, w.Health.Failures)
				if out {
					require.Equal(t, tries, d.Attempts, "an outage uses up no tries")
					require.Equal(t, loyalty.DeliveryWaiting, d.State)
					require.False(t, w.Health.RestUntil.Before(now.Add(probeEvery)), "one probe a minute")
				} else {
					require.Equal(t, tries+1, d.Attempts)
					require.Equal(t, d.Attempts >= 12, d.State == loyalty.DeliveryDead)
				}

				if d.State == loyalty.DeliveryWaiting && !out {
					least := time.Duration(float64(waits[tries]) * 0.8)
					require.False(t, d.NextAt.Before(now.Add(least)))
					require.False(t, d.NextAt.Before(now.Add(min(a.RetryAfter, 24*time.Hour))), "Retry-After is honoured")
					require.False(t, d.NextAt.After(now.Add(max(24*time.Hour, time.Duration(float64(waits[tries])*1.2))+time.Millisecond)), "up to a day")
				}

				if a.slow() && a.RetryAfter > 0 {
					require.False(t, w.Health.RestUntil.Before(now.Add(min(a.RetryAfter, 24*time.Hour))))
				}
				if d.State == loyalty.DeliveryDead {
					d = &loyalty.Delivery{State: loyalty.DeliveryWaiting}
				}

				since := now.Sub(w.Health.FailingSince)
				require.Equal(t, since >= tellAfter, w.Health.Told || tell == tellDisabled)
				if w.State == loyalty.WebhookDisabled {
					require.GreaterOrEqual(t, since, giveUpAfter)
					require.GreaterOrEqual(t, w.Health.Tries, giveUpTries)
				}
			}

			now = now.Add(time.Duration(rapid.IntRange(1, 20_000).Draw(t, "seconds")) * time.Second)
		}

		require.LessOrEqual(t, told[tellRecovered], told[tellFailing], "who was told that it fails hears that it does not")
		require.LessOrEqual(t, told[tellFailing], told[tellRecovered]+1)
	})
}
