// Package webhook sends events to the addresses of webhooks. It follows the tail and writes deliveries (fan-out), and
// it sends them: it decides which delivery is sent when, what an answer means, and when an address counts as out of
// order. It knows neither HTTP nor the form of messages; a Sender and a Renderer do.
package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// Sender sends a message once.
type Sender interface {
	Send(ctx context.Context, m *Message) Answer
}

// Message is one message to send.
type Message struct {
	URL     string
	Headers map[string]string // the webhook's own; the platform's take precedence
	Type    string            // of the body
	Body    []byte
	ID      string    // the same in every attempt
	At      time.Time // of this attempt
	Secrets []string  // one signature for each
	Trace   string    // the attempt's place in a trace, a traceparent; empty: not traced
	Replay  bool      // it is sent again by request
}

// Renderer makes the bodies of messages from what is known when they are sent.
type Renderer interface {
	// Render returns the body of each delivery; an empty one if its event does not exist.
	Render(ctx context.Context, w *loyalty.Webhook, list []loyalty.Delivery) ([][]byte, error)
}

// Engine evaluates conditions on customers, and provides the time.
type Engine interface {
	View(ctx context.Context, n loyalty.CustomerNeeds, look func(*engine.Run) error) error
	Now() time.Time
}

// Tracer traces attempts.
type Tracer interface {
	// Attempt begins to trace an attempt to send an event; kind is the type of the message. place is the attempt's
	// place in a trace, a traceparent; end must be called with the result.
	Attempt(event, webhook loyalty.ID, kind string) (place string, end func(*Answer))
}

// Options configures a Deliverer.
type Options struct {
	Store    loyalty.WebhookStore
	Engine   Engine
	Zone     func() *time.Location // for the days in conditions
	Sender   Sender
	Renderer Renderer
	// Report is called with failures, Told with changes in the state of an address; both may be nil.
	Report func(error)
	Told   func(kind string, w *loyalty.Webhook)
	// Attempted is called for each attempt; may be nil.
	Attempted func(webhook loyalty.ID, delivered bool, took time.Duration)
	// Tracer traces attempts; may be nil.
	Tracer Tracer
	// Crowded reports whether a crowd of callers is being served, which takes precedence over deliveries; nil means
	// never.
	Crowded func() bool
	// Sleep waits, or returns when ctx ends; nil means a timer.
	Sleep func(ctx context.Context, d time.Duration)
}

// How often a node looks for something to send, even if there is no webhook, and how long it leaves the fan-out to
// another node that was faster.
const (
	lookEvery = 250 * time.Millisecond
	idleEvery = time.Second
	yieldFor  = 2 * time.Second
)

// Deliverer fans out and sends on one node. Any number of nodes may do so at once: each delivery is written once, and
// sent by one node at a time.
type Deliverer struct {
	o     Options
	yield yielding

	lanes sync.WaitGroup
	mu    sync.Mutex
	busy  map[loyalty.ID]chan<- struct{} // wakes the lanes, by webhook
	free  int                            // how many more messages may be in flight on this node

	conditions map[string]*condition.Condition // by filter

	behind time.Time // until then another node does the fan-out
}

// maxUnderWay is the most messages that a node sends at a time. It exceeds the number of webhooks, so that each has a
// slot of its own at any time.
const maxUnderWay = 128

// New makes a Deliverer. It starts nothing.
func New(o Options) *Deliverer {
	if o.Report == nil {
		o.Report = func(error) {}
	}
	if o.Told == nil {
		o.Told = func(string, *loyalty.Webhook) {}
	}
	if o.Attempted == nil {
		o.Attempted = func(loyalty.ID, bool, time.Duration) {}
	}

	if o.Sleep == nil {
		o.Sleep = func(ctx context.Context, d time.Duration) {
			select {
			case <-ctx.Done():
			case <-time.After(d):
			}
		}
	}

	return &Deliverer{o: o, yield: yielding{crowded: o.Crowded}, free: maxUnderWay, busy: map[loyalty.ID]chan<- struct{}{},
		conditions: map[string]*condition.Condition{}}
}

// Work fans out and sends until ctx ends. It waits for messages in flight, so that their results are known.
func (d *Deliverer) Work(ctx context.Context) {
	defer d.lanes.Wait()
	for ctx.Err() == nil {
		some, err := d.Turn(ctx)
		if err != nil && ctx.Err() == nil {
			d.o.Report(err)
		}
		if some {
			d.o.Sleep(ctx, lookEvery)
		} else {
			d.o.Sleep(ctx, idleEvery)
		}
	}
}

// Turn fans out committed events, and begins to send what is due, without waiting for its end. some reports whether
// there are webhooks.
func (d *Deliverer) Turn(ctx context.Context) (some bool, err error) {
	all, err := d.o.Store.Webhooks(ctx)
	if err != nil || len(all) == 0 {
		return false, err
	}
	if err := d.fanOut(ctx, all); err != nil {
		return true, err
	}
	due, err := d.o.Store.DueWebhooks(ctx, d.o.Engine.Now())
	for _, id := range due {
		d.start(ctx, id)
	}
	return true, err
}

// Wait waits until all lanes have ended.
func (d *Deliverer) Wait() { d.lanes.Wait() }

// start begins a lane for a webhook, or wakes the existing one.
func (d *Deliverer) start(ctx context.Context, id loyalty.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if lane, busy := d.busy[id]; busy {
		select {
		case lane <- struct{}{}:
		default: // it has been notified already
		}
		return
	}

	due := make(chan struct{}, 1)
	d.busy[id] = due
	d.lanes.Go(func() {
		defer func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(d.busy, id)
		}()
		newLane(d, id, due).run(ctx)
	})
}
