// Package webhook has events sent to addresses that asked for them. It follows the tail and
// writes what is to be sent (fan-out), and it sends: which delivery when, what an answer
// means, when an address counts as out of order. It does not know HTTP, nor how a message
// looks: a Sender and a Renderer do.
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

// Message is what is sent.
type Message struct {
	URL     string
	Headers map[string]string // the receiver's own; those of the platform win
	Type    string            // of the body
	Body    []byte
	ID      string    // stays the same however often it is sent
	At      time.Time // of this attempt
	Secrets []string  // one signature for each
	Trace   string    // the attempt's place in a trace, a traceparent; empty: nothing is followed
	Replay  bool      // it is sent anew because somebody asked for it
}

// Renderer makes the bodies of messages, of what is known when they are sent.
type Renderer interface {
	// Render gives the body of each delivery; an empty one where there is no such event.
	Render(ctx context.Context, w *loyalty.Webhook, list []loyalty.Delivery) ([][]byte, error)
}

// Engine judges conditions over customers, and knows the time.
type Engine interface {
	View(ctx context.Context, n loyalty.CustomerNeeds, look func(*engine.Run) error) error
	Now() time.Time
}

// Tracer follows attempts.
type Tracer interface {
	// Attempt begins to follow an attempt to tell an event; kind is the type of the message.
	// place is the attempt's place in a trace, a traceparent; end hears what came of it.
	Attempt(event, webhook loyalty.ID, kind string) (place string, end func(*Answer))
}

// Options are what a Deliverer is made of.
type Options struct {
	Store    loyalty.WebhookStore
	Engine   Engine
	Zone     func() *time.Location // in which conditions count days
	Sender   Sender
	Renderer Renderer
	// Report hears what went wrong, Told what became of an address; nil: they are not told.
	Report func(error)
	Told   func(kind string, w *loyalty.Webhook)
	// Attempted hears of each attempt; nil: it is not told.
	Attempted func(webhook loyalty.ID, delivered bool, took time.Duration)
	// Tracer follows attempts; nil: nothing is followed.
	Tracer Tracer
	// Crowded says whether callers are served who go before what is told; nil: nobody does.
	Crowded func() bool
	// Sleep waits, or returns when ctx ends; nil: a timer.
	Sleep func(ctx context.Context, d time.Duration)
}

// How often a node looks for what is to be sent, also where there is no webhook; how long it
// leaves the fan-out to another node that was faster.
const (
	lookEvery = 250 * time.Millisecond
	idleEvery = time.Second
	yieldFor  = 2 * time.Second
)

// Deliverer fans out and sends on one node. Any number of nodes may do it at once: what is
// to be sent is written once, and a delivery is one node's at a time.
type Deliverer struct {
	o     Options
	yield yielding

	lanes sync.WaitGroup
	mu    sync.Mutex
	busy  map[loyalty.ID]chan<- struct{} // webhooks that a lane works for, to tell it that something is due
	free  int                            // how many more messages may be under way on this node

	conditions map[string]*condition.Condition // of filters; touched by the fan-out alone
	behind     time.Time                       // until then another node does the fan-out
}

// maxUnderWay is how many messages a node sends at a time: more than there may be webhooks, so
// that each has a place of its own, whatever the others do.
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
	return &Deliverer{o: o, yield: yielding{crowded: o.Crowded}, free: maxUnderWay, busy: map[loyalty.ID]chan<- struct{}{}, conditions: map[string]*condition.Condition{}}
}

// Work fans out and sends until ctx ends. Messages under way are waited for, so that what
// became of them is known.
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

// Turn fans out what was committed, and begins to send what is due. It does not wait for
// what it began. some: there are webhooks.
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

// Wait waits until what was begun is over.
func (d *Deliverer) Wait() { d.lanes.Wait() }

// start begins a lane for a webhook, or tells the one that there is.
func (d *Deliverer) start(ctx context.Context, id loyalty.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if lane, busy := d.busy[id]; busy {
		select {
		case lane <- struct{}{}:
		default: // it knows
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
