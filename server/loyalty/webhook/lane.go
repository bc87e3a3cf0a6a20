package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// leaseTime is how long a lane has a delivery to itself: longer than an attempt may take. If a node is killed, its
// deliveries wait that long.
const leaseTime = 30 * time.Second

// How long attempts may take to end, and to be written, when the program stops; and how long a lane waits for a
// database that is away.
const (
	saveTime   = 10 * time.Second
	retryEvery = time.Second
)

// lane sends to one address, as many messages at a time as it can take.
type lane struct {
	*Deliverer
	id       loyalty.ID
	owner    loyalty.ID
	results  chan outcome
	due      <-chan struct{} // something to be sent was found
	underWay int
	done     []outcome // to be written
}

// outcome is the result of an attempt, or of a delivery that is skipped for a reason without an attempt.
type outcome struct {
	delivery loyalty.Delivery
	at       time.Time
	answer   Answer
}

// newLane makes a lane with its own owner id: two lanes of one address, on two nodes or one after the other, must not
// write each other's results.
func newLane(d *Deliverer, id loyalty.ID, due <-chan struct{}) *lane {
	return &lane{Deliverer: d, id: id, due: due, owner: loyalty.NewID(d.o.Engine.Now(), loyalty.ID{}),
		results: make(chan outcome, maxUnderWay)}
}

// run sends until nothing is due. Results are written together with the next claim, in one transaction.
func (l *lane) run(ctx context.Context) {
	for {
		w, claimed, err := l.exchange(ctx)
		if err == nil {
			err = l.send(w, claimed)
		}

		switch {
		case errors.Is(err, loyalty.ErrWebhookNotFound): // it was removed, and with it the results of its messages
			l.done = nil
		case err != nil:
			if !errors.Is(err, context.Canceled) { // Canceled: the program stops
				l.o.Report(err)
			}
			if len(l.done) == 0 || l.expired() || ctx.Err() != nil {
				l.done = nil
				if l.underWay == 0 {
					return
				}
			} else if l.o.Sleep(ctx, retryEvery); l.underWay == 0 {
				continue
			}
		}

		if l.underWay == 0 {
			return
		}

		l.wait()
	}
}

// expired reports whether the leases of the unwritten results have ended, so that other lanes send the messages again.
func (l *lane) expired() bool {
	return l.o.Engine.Now().Sub(l.done[0].at) > leaseTime
}

// gatherFor is how long a result waits for others, to be written with them: a transaction costs more than a message.
const gatherFor = 5 * time.Millisecond

// wait waits for a result, and a moment for more. If there are free slots, it also returns when something else falls
// due: a slow receiver delays only the messages that must come after the one it is handling.
func (l *lane) wait() {
	due := l.due
	if l.underWay >= maxConcurrency {
		due = nil
	}

	select {
	case o := <-l.results:
		l.arrived(o)
	case <-due:
		return
	}

	for more := time.After(gatherFor); l.underWay > 0; {
		select {
		case o := <-l.results:
			l.arrived(o)
		case <-more:
			return
		}
	}
}

// gather takes the results that have arrived.
func (l *lane) gather() {
	for {
		select {
		case o := <-l.results:
			l.arrived(o)
		default:
			return
		}
	}
}

func (l *lane) arrived(o outcome) {
	l.done = append(l.done, o)
	l.underWay--
}

// take takes slots of the node for more messages; none when the program stops. A lane never takes more slots than it
// leaves free: the more slow receivers there are, the fewer slots each gets. An address without a message in flight
// always finds a slot as long as there are fewer addresses than slots.
func (l *lane) take(ctx context.Context) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ctx.Err() == nil && n < maxConcurrency && l.underWay+n < l.free {
		n++
		l.free--
	}
	return n
}

// give returns slots of the node.
func (l *lane) give(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free += n
}

// maxConcurrency is the most messages in flight to one address.
const maxConcurrency = 8

// exchange writes results and claims new deliveries. When the program stops, it still writes the results, once more if
// a write was in progress, and claims nothing.
func (l *lane) exchange(ctx context.Context) (w *loyalty.Webhook, claimed []loyalty.Delivery, err error) {
	if ctx.Err() == nil {
		w, claimed, err = l.write(ctx, true)
		if err == nil || ctx.Err() == nil {
			return w, claimed, err
		}
	}
	if len(l.done) == 0 {
		return nil, nil, ctx.Err()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	return l.write(last, false)
}

// write is the transaction of an exchange; more allows it to claim deliveries. Results that arrive while it waits for
// its turn are written too, and it claims as many deliveries as there are slots by then.
func (l *lane) write(ctx context.Context, more bool) (w *loyalty.Webhook, claimed []loyalty.Delivery, err error) {
	var tell []told
	slots := 0
	err = l.yield.turn(ctx, l.o.Sleep, func() error {
		l.gather()
		if more {
			// before deliveries are claimed: a claimed delivery that waited for a slot would use up its lease
			slots = l.take(ctx)
		}

		if len(l.done)+slots == 0 {
			return nil
		}

		return l.o.Store.WorkWebhook(ctx, l.id, func(tx loyalty.WebhookTx) (err error) {
			w, claimed, tell = tx.Webhook(), nil, nil
			if tell, err = l.record(tx, l.done); err != nil || slots == 0 {
				return err
			}
			claimed, err = l.claim(tx, slots)
			return err
		})
	})
	if err != nil { // nothing was claimed, even if the transaction got that far
		l.give(slots)
		return nil, nil, err
	}

	l.give(slots - len(claimed))
	l.done = nil
	for _, t := range tell {
		l.o.Told(string(t), w)
	}

	return w, claimed, nil
}

// claim takes what may be sent now.
func (l *lane) claim(tx loyalty.WebhookTx, slots int) ([]loyalty.Delivery, error) {
	now, w := l.o.Engine.Now(), tx.Webhook()
	if w.State != loyalty.WebhookActive || w.Health.RestUntil.After(now) {
		return nil, nil
	}

	leased, err := tx.Leased(now)
	if err != nil {
		return nil, err
	}

	// messages that other nodes have in flight to the same address count too
	n := min(slots, allowed(w)-leased)
	if n <= 0 {
		return nil, nil
	}

	return tx.Claim(l.owner, now, now.Add(leaseTime), n, OnProbation(&w.Health))
}

// record writes results. It drops a result whose delivery belongs to another lane by now.
func (l *lane) record(tx loyalty.WebhookTx, done []outcome) (tell []told, err error) {
	if len(done) == 0 {
		return nil, nil
	}

	numbers := make([]int64, len(done))
	for i := range done {
		numbers[i] = done[i].delivery.Number
	}

	held, err := tx.Held(l.owner, numbers)
	if err != nil {
		return nil, err
	}

	now, w, hurry := l.o.Engine.Now(), tx.Webhook(), false
	settled := make([]loyalty.Settled, 0, len(done))
	for _, o := range done {
		before, d := *w, o.delivery // a transaction may be tried again
		if !held[d.Number] {
			continue
		}

		delete(held, d.Number) // a message that was sent twice is settled once
		if d.Reason != "" {
			d.State = loyalty.DeliverySkipped
			// an attempt without an instant counts as none, and the result of the last one stays
			settled = append(settled,
				loyalty.Settled{Delivery: d, Attempt: loyalty.Attempt{Status: d.LastStatus, Fault: d.LastFault}})
			continue
		}

		t, recovered := settle(w, &d, &o.answer, now)
		settled = append(settled, loyalty.Settled{Delivery: d, Attempt: loyalty.Attempt{
			At: o.at, Status: o.answer.Status, Fault: o.answer.Fault, Duration: o.answer.Took, Answer: o.answer.Body,
		}})
		hurry = hurry || recovered
		if t == tellNothing {
			continue
		}

		tell = append(tell, t)
		if err := tx.Notify(noticeOf(t, &before, w, now)); err != nil {
			return nil, err
		}
	}

	if err := tx.Settle(settled); err != nil {
		return nil, err
	}

	if hurry {
		if err := tx.Hurry(now); err != nil {
			return nil, err
		}
	}

	return tell, tx.SaveHealth()
}

// notice is the content of a notice about a webhook.
type notice struct {
	Webhook  loyalty.ID `json:"webhook_id"`
	Label    string     `json:"label"`
	Since    *time.Time `json:"since,omitempty"`
	Failures int        `json:"failures,omitempty"`
	Reason   string     `json:"reason,omitempty"`
}

// noticeOf makes the notice about a webhook that other webhooks get.
func noticeOf(t told, before, w *loyalty.Webhook, now time.Time) loyalty.Notice {
	said := notice{Webhook: w.ID, Label: w.Label, Failures: w.Health.Failures, Reason: w.Reason}
	h := &w.Health
	if t == tellRecovered {
		h = &before.Health
		said.Failures = h.Failures
	}
	if !h.FailingSince.IsZero() {
		since := h.FailingSince.UTC()
		said.Since = &since
	}
	data, _ := json.Marshal(said) // it always can be encoded
	return loyalty.Notice{ID: loyalty.NewID(now, loyalty.ID{}), Type: string(t), About: w.ID, Data: data, At: now}
}

// send begins to send the claimed deliveries, except for skipped ones. It fails if the messages cannot be made; then
// they are tried again after their leases.
func (l *lane) send(w *loyalty.Webhook, claimed []loyalty.Delivery) error {
	if len(claimed) == 0 {
		return nil
	}

	ctx, cancel := context.WithTimeout(context.Background(), leaseTime/3)
	defer cancel()
	err := l.judge(ctx, w, claimed)
	var bodies [][]byte
	if err == nil {
		// all at once: one read for the events of a claim
		bodies, err = l.o.Renderer.Render(ctx, w, claimed)
	}

	if err != nil {
		l.give(len(claimed))
		return err
	}

	now := l.o.Engine.Now()
	m := Message{URL: w.URL, Headers: w.Headers, Type: contentType(w.Format), At: now}
	for _, s := range w.Secrets {
		// while secrets overlap, each of them signs the message: a receiver needs one that verifies
		if s.ExpiresAt.IsZero() || s.ExpiresAt.After(now) {
			m.Secrets = append(m.Secrets, s.Value)
		}
	}

	for i, d := range claimed {
		one := m
		one.ID, one.Body, one.Replay = d.Event.String(), bodies[i], d.Replay
		l.underWay++
		go func() {
			if d.Reason == "" && len(one.Body) == 0 {
				d.Reason = loyalty.SkippedGone
			}
			o := outcome{delivery: d, at: now}
			if d.Reason == "" {
				o.answer = l.attempt(&d, &one)
				l.o.Attempted(w.ID, o.answer.success(), o.answer.Took)
			}
			l.give(1)
			l.results <- o
		}()
	}

	return nil
}

// attempt sends a message once, traced if the tracer wants it.
func (l *lane) attempt(d *loyalty.Delivery, m *Message) Answer {
	end := func(*Answer) {}
	if l.o.Tracer != nil {
		m.Trace, end = l.o.Tracer.Attempt(d.Event, l.id, d.Type)
	}
	a := l.o.Sender.Send(context.Background(), m) // it has its own time limit
	end(&a)
	return a
}

// The formats of messages.
const (
	FormatJSON        = "json"
	FormatCloudEvents = "cloudevents"
)

// contentType returns the content type of the webhook's format.
func contentType(format string) string {
	if format == FormatCloudEvents {
		return "application/cloudevents+json; charset=utf-8"
	}
	return "application/json"
}
