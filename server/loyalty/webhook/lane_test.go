package webhook

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// counted is a webhook with deliveries that wait, and counts the transactions that they take.
type counted struct {
	loyalty.WebhookTx

	webhook                        loyalty.Webhook
	waiting, settled, transactions int
}

type countedStore struct {
	loyalty.WebhookStore

	hook *counted
}

func (c countedStore) WorkWebhook(_ context.Context, _ loyalty.ID, work func(loyalty.WebhookTx) error) error {
	c.hook.transactions++
	return work(c.hook)
}

func (c *counted) Webhook() *loyalty.Webhook           { return &c.webhook }
func (c *counted) Leased(time.Time) (int, error)       { return 0, nil }
func (c *counted) SaveHealth() error                   { return nil }
func (c *counted) Settle(list []loyalty.Settled) error { c.settled += len(list); return nil }

func (c *counted) Claim(_ loyalty.ID, _, _ time.Time, limit int, _ bool) (list []loyalty.Delivery, err error) {
	for ; len(list) < limit && c.waiting > 0; c.waiting-- {
		list = append(list, loyalty.Delivery{Number: int64(c.waiting)})
	}
	return list, nil
}

func (c *counted) Held(_ loyalty.ID, numbers []int64) (map[int64]bool, error) {
	held := map[int64]bool{}
	for _, n := range numbers {
		held[n] = true
	}
	return held, nil
}

// receiver answers each message a little later than the one before it.
type receiver struct{ took time.Duration }

func (r receiver) Send(_ context.Context, m *Message) Answer {
	time.Sleep(time.Duration(m.Body[0]%8) * r.took)
	return Answer{Status: 200}
}

func (r receiver) Render(_ context.Context, _ *loyalty.Webhook, list []loyalty.Delivery) (bodies [][]byte, err error) {
	for _, d := range list {
		bodies = append(bodies, []byte{byte(d.Number)})
	}
	return bodies, nil
}

type clock struct{ Engine }

func (clock) Now() time.Time { return time.Now() }

// TestResultsShareATransaction: what a receiver answers within a moment is written at once, and so is what it answers
// while others have their turn.
func TestResultsShareATransaction(t *testing.T) {
	for what, c := range map[string]struct {
		crowd bool
		took  time.Duration
	}{"answered at once": {false, 500 * time.Microsecond}, "callers go first": {true, 10 * time.Millisecond}} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const messages = 32
				s := &counted{waiting: messages, webhook: loyalty.Webhook{State: loyalty.WebhookActive, Concurrency: 8}}
				s.webhook.Health.Pace = 8
				d := New(Options{Store: countedStore{hook: s}, Engine: clock{}, Sender: receiver{c.took}, Renderer: receiver{}, Crowded: func() bool { return c.crowd }})
				if c.crowd { // others rest for as long as they may, again and again
					done := make(chan struct{})
					defer func() { <-done }()
					began := time.Now()
					go func() {
						defer close(done)
						for time.Since(began) < time.Minute {
							if d.yield.begin() {
								d.yield.end(time.Second)
							}
							time.Sleep(askAgain)
						}
					}()
				}

				newLane(d, loyalty.ID{1}, make(chan struct{})).run(t.Context())
				require.Equal(t, messages, s.settled)
				require.LessOrEqual(t, s.transactions, messages/8+2)
			})
		})
	}
}
