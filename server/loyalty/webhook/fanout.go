package webhook

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Limits of the fan-out: events that become deliveries at once, positions of the feed that are read for them, pieces of
// each kind per turn, deliveries that may wait while a replay makes more, and notices at once.
const (
	pieceEvents   = 500
	pieceNumbers  = 2000
	piecesATurn   = 20
	replayAhead   = 2000
	noticesAtOnce = 100
	crowdRows     = 100 // deliveries at once while callers go first
)

// fanOut writes the deliveries for committed events, for notices, and for replays.
func (d *Deliverer) fanOut(ctx context.Context, all []loyalty.Webhook) error {
	if d.o.Engine.Now().Before(d.behind) && d.behind.Sub(d.o.Engine.Now()) <= yieldFor {
		return nil
	}

	all = slices.DeleteFunc(slices.Clone(all), func(w loyalty.Webhook) bool { return w.State != loyalty.WebhookActive })
	if err := d.notices(ctx, all); err != nil {
		return err
	}

	state, err := d.o.Store.TailState(ctx)
	if err != nil {
		return err
	}

	// One read of the feed serves all webhooks that are at the same position.
	groups := map[int64][]*loyalty.Webhook{} // by position: most are at the end
	for i := range all {
		groups[all[i].Cursor] = append(groups[all[i].Cursor], &all[i])
	}

	for _, cursor := range slices.Sorted(maps.Keys(groups)) {
		for pieces := 0; cursor < state.Head && pieces < piecesATurn; pieces++ {
			next, err := d.piece(ctx, groups[cursor], cursor, state.Head)
			// unchanged: another node was faster, and continues
			if err != nil || next == cursor {
				return err
			}
			groups[next] = append(groups[next], groups[cursor]...)
			delete(groups, cursor)
			cursor = next
			if d.yield.crowd() { // the existing deliveries are sent first
				break
			}
		}
	}

	return d.replays(ctx, all)
}

// piece fans out the next events for webhooks at the same position. If another node was faster, the work is left to
// that node for a while, and next is the unchanged cursor.
func (d *Deliverer) piece(ctx context.Context, group []*loyalty.Webhook, cursor, head int64) (next int64, err error) {
	f := loyalty.FanOut{From: cursor, Through: head, Deliveries: map[loyalty.ID][]loyalty.Delivery{}}
	q := loyalty.FeedQuery{After: cursor, Limit: pieceEvents, Scan: pieceNumbers}
	if d.yield.crowd() { // on SQLite, a large piece would hold up every writer
		q.Limit = max(1, crowdRows/len(group))
	}

	var types []string
	for _, w := range group {
		// a webhook that gets none of these events still moves past them
		f.Deliveries[w.ID] = nil
		types = append(types, w.Types...)
	}

	wanted := false
	if q.Actions, q.Prefixes, wanted = loyalty.ActionsOf(types); wanted {
		part, err := d.o.Store.Feed(ctx, q)
		if err != nil {
			return cursor, err
		}

		for i := range part.Events {
			e := &part.Events[i]
			kind := loyalty.EventType + e.Action
			for _, w := range group {
				if !w.Wants(kind) {
					continue
				}
				if fits, err := d.fits(ctx, w, e); err != nil {
					return cursor, err
				} else if fits {
					f.Deliveries[w.ID] = append(f.Deliveries[w.ID], d.delivery(w, e, part.Numbers[i], false))
				}
			}
		}

		f.Through = part.Through
	}

	if f.Through <= cursor {
		return cursor, nil
	}

	return d.write(ctx, f)
}

// write stores a piece, unless another node was faster. The same transaction moves the cursor of each webhook, under a
// guard of its old value: if two nodes made the same piece, one writes it.
func (d *Deliverer) write(ctx context.Context, f loyalty.FanOut) (int64, error) {
	var done bool
	err := d.yield.turn(ctx, d.o.Sleep, func() (err error) {
		done, err = d.o.Store.FanOut(ctx, f)
		return err
	})
	if err == nil && !done || errors.Is(err, loyalty.ErrBatchConflict) {
		d.behind = d.o.Engine.Now().Add(yieldFor)
		return f.From, nil
	}
	if err != nil {
		return f.From, err
	}
	return f.Through, nil
}

// delivery is one event for one webhook. It refers to the event and does not copy it: the message is made when it is
// sent, so that it does not disclose the personal data of a customer who has left by then.
func (d *Deliverer) delivery(w *loyalty.Webhook, e *loyalty.Event, number int64, replay bool) loyalty.Delivery {
	now := d.o.Engine.Now()
	return loyalty.Delivery{
		Webhook: w.ID, Sequence: number, Customer: e.Customer, Event: e.ID, Type: loyalty.EventType + e.Action,
		Replay: replay, Revision: w.Revision,
		State: loyalty.DeliveryWaiting, NextAt: now, CreatedAt: now,
	}
}

// notices fans out the platform's own messages. Each notice is a transaction.
func (d *Deliverer) notices(ctx context.Context, all []loyalty.Webhook) error {
	list, err := d.o.Store.Notices(ctx, noticesAtOnce)
	for i := 0; err == nil && i < len(list); i++ {
		n := &list[i]
		f := loyalty.FanOut{Deliveries: map[loyalty.ID][]loyalty.Delivery{}, Notices: []loyalty.ID{n.ID}}
		for _, w := range all {
			// a failing webhook is not told of its own failure
			if w.ID != n.About && w.Wants(n.Type) {
				now := d.o.Engine.Now()
				f.Deliveries[w.ID] = []loyalty.Delivery{{
					Webhook: w.ID, Event: n.ID, Type: n.Type, Revision: w.Revision, State: loyalty.DeliveryWaiting, NextAt: now,
					CreatedAt: n.At, Notice: n.Data,
				}}
			}
		}
		_, err = d.write(ctx, f)
	}

	return err
}

// replays fans out periods of the past. Only a few deliveries wait at a time, so that replays do not become a second
// journal.
func (d *Deliverer) replays(ctx context.Context, all []loyalty.Webhook) error {
	list, err := d.o.Store.Replays(ctx)
	if err != nil || len(list) == 0 {
		return err
	}

	backlogs, err := d.o.Store.Backlogs(ctx)
	if err != nil {
		return err
	}

	for i := range list {
		at := slices.IndexFunc(all, func(w loyalty.Webhook) bool { return w.ID == list[i].Webhook })
		if at < 0 || backlogs[list[i].Webhook].Waiting > replayAhead {
			continue
		}
		if err := d.replay(ctx, &all[at], &list[i]); err != nil {
			return err
		}
	}

	return nil
}

// replay makes the deliveries of the next piece of one replay.
func (d *Deliverer) replay(ctx context.Context, w *loyalty.Webhook, r *loyalty.Replay) error {
	f := loyalty.FanOut{From: r.Position, Through: r.Until, Replay: r}
	q := loyalty.FeedQuery{After: r.Position, Limit: pieceEvents, Scan: pieceNumbers}
	types := w.Types
	if len(r.Types) > 0 {
		types = r.Types
	}

	var deliveries []loyalty.Delivery
	wanted := false
	if q.Actions, q.Prefixes, wanted = loyalty.ActionsOf(types); wanted {
		part, err := d.o.Store.Feed(ctx, q)
		if err != nil {
			return err
		}

		for i := range part.Events {
			e := &part.Events[i]
			kind := loyalty.EventType + e.Action
			if part.Numbers[i] > r.Until || e.RecordedAt.Before(r.From) || !e.RecordedAt.Before(r.To) || !w.Wants(kind) ||
				!loyalty.FitsTypes(types, kind) {
				continue
			}
			// a customer who was merged since is found by either id
			if r.Customer != (loyalty.ID{}) && cmp.Or(part.Customers[e.Customer].ID, e.Customer) != r.Customer &&
				e.Customer != r.Customer {
				continue
			}

			fits, err := d.fits(ctx, w, e)
			if err != nil {
				return err
			}
			if fits {
				deliveries = append(deliveries, d.delivery(w, e, part.Numbers[i], true))
			}
		}

		f.Through = min(part.Through, r.Until)
	}

	if f.Through <= r.Position && r.Position < r.Until {
		f.Through = r.Until // no further event belongs to the replay
	}

	f.Deliveries = map[loyalty.ID][]loyalty.Delivery{w.ID: deliveries}
	_, err := d.write(ctx, f)
	return err
}
