package store

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

type deliveryRow struct {
	WebhookID  UUID  `gorm:"primaryKey"`
	Number     int64 `gorm:"primaryKey;autoIncrement:false"`
	Sequence   *int64
	CustomerID UUID
	EventID    UUID
	Type       string
	Previous   *int64
	Replay     bool
	Revision   int64
	State      loyalty.DeliveryState
	Reason     Text
	Front      bool
	Attempts   int
	NextAt     Millis
	Owner      UUID
	LeaseUntil Millis
	CreatedAt  Millis `gorm:"autoCreateTime:false"`
	LastAt     Millis
	LastStatus int
	LastFault  Text
	Notice     Raw
	Subject    []byte
}

func (deliveryRow) TableName() string { return "deliveries" }

func (s *database) delivery(r *deliveryRow) (loyalty.Delivery, error) {
	d := loyalty.Delivery{
		Webhook: loyalty.ID(r.WebhookID), Number: r.Number, Sequence: loyalty.Deref(r.Sequence), Customer: loyalty.ID(r.CustomerID), Event: loyalty.ID(r.EventID),
		Type: r.Type, Previous: loyalty.Deref(r.Previous), Replay: r.Replay, Revision: r.Revision, State: r.State, Reason: string(r.Reason), Attempts: r.Attempts, NextAt: r.NextAt.Time(),
		CreatedAt: r.CreatedAt.Time(), LastAt: r.LastAt.Time(), LastStatus: r.LastStatus, LastFault: string(r.LastFault), Notice: []byte(r.Notice),
	}
	if r.Subject != nil {
		name, err := s.sealer.open(subjectID(r), r.Subject)
		if err != nil {
			return d, err
		}
		d.Subject = string(name)
	}
	return d, nil
}

func deliveryRowOf(d *loyalty.Delivery) deliveryRow {
	r := deliveryRow{
		WebhookID: UUID(d.Webhook), Number: d.Number, CustomerID: UUID(d.Customer), EventID: UUID(d.Event), Type: d.Type, Replay: d.Replay, Revision: d.Revision,
		State: d.State, Attempts: d.Attempts, NextAt: Millis(d.NextAt), CreatedAt: Millis(d.CreatedAt), Notice: Raw(d.Notice),
	}
	if d.Sequence != 0 {
		r.Sequence = &d.Sequence
	}
	if d.Previous != 0 {
		r.Previous = &d.Previous
	}
	return r
}

// subjectID binds the name of a customer who left to the delivery that mentions it.
func subjectID(r *deliveryRow) []byte {
	number := [8]byte{}
	for i := range number {
		number[i] = byte(r.Number >> (8 * i))
	}
	return rowID("deliveries", string(r.WebhookID[:]), string(number[:]))
}

type replayRow struct {
	ID         UUID `gorm:"primaryKey"`
	WebhookID  UUID
	Types      Document[[]string]
	CustomerID UUID
	FromAt     Millis
	ToAt       Millis
	Position   int64
	Until      int64
	At         Millis
}

func (replayRow) TableName() string { return "replays" }

// Replays lists the periods of the past that are still to be sent, the oldest request first.
func (s webhookStore) Replays(ctx context.Context) ([]loyalty.Replay, error) {
	var rows []replayRow
	if err := s.read.WithContext(ctx).Order("id").Find(&rows).Error; err != nil {
		return nil, s.classify(err)
	}
	list := make([]loyalty.Replay, len(rows))
	for i, r := range rows {
		list[i] = loyalty.Replay{
			ID: loyalty.ID(r.ID), Webhook: loyalty.ID(r.WebhookID), Types: r.Types.V, Customer: loyalty.ID(r.CustomerID),
			From: r.FromAt.Time(), To: r.ToAt.Time(), Position: r.Position, Until: r.Until, At: r.At.Time(),
		}
	}
	return list, nil
}

// errOvertaken rolls back if another node was faster.
var errOvertaken = errors.New("another node was faster")

// FanOut writes deliveries and moves the positions that they follow, in one transaction. The rows of the webhooks are
// locked in the order of their ids: every writer of a delivery, or of its result, holds its webhook's row.
func (s webhookStore) FanOut(ctx context.Context, f loyalty.FanOut) (bool, error) {
	if s.broken() {
		return false, loyalty.ErrDamaged
	}
	err := s.noteSpace(s.numbering(ctx, func(step step) error { return s.fanOut(&f, step) }))
	switch {
	case errors.Is(err, errOvertaken), errors.Is(err, loyalty.ErrBatchConflict):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, nil
}

func (s *database) fanOut(f *loyalty.FanOut, step step) error {
	ids := slices.SortedFunc(maps.Keys(f.Deliveries), loyalty.CompareID)
	follows := f.Replay == nil && f.Notices == nil
	hooks := make([]hookRow, len(ids))
	for i, id := range ids {
		hooks[i] = hookRow{id: UUID(id), active: true, added: int64(len(f.Deliveries[id]))}
		if follows {
			hooks[i].at, hooks[i].through = &f.From, &f.Through
		}
	}

	if err := s.addDeliveries(hooks, f.Deliveries, step); err != nil {
		return err
	}

	var list []calls
	switch {
	case follows:
	case f.Notices != nil:
		list = write(list, dropNotices, uuids(f.Notices))
	case f.Through >= f.Replay.Until:
		list = write(list, endReplay, []replayMove{{f.Replay.ID, f.From, f.Through}})
	default:
		list = write(list, moveReplay, []replayMove{{f.Replay.ID, f.From, f.Through}})
	}

	return step(list)
}

func uuids(ids []loyalty.ID) []UUID {
	list := make([]UUID, len(ids))
	for i, id := range ids {
		list[i] = UUID(id)
	}
	return list
}

// addDeliveries locks the rows of webhooks and adds new deliveries, with their numbers and their places among those
// of the same customers.
func (s *database) addDeliveries(hooks []hookRow, lists map[loyalty.ID][]loyalty.Delivery, step step) error {
	if len(hooks) == 0 {
		return nil
	}

	f := &fanning{hooks: map[UUID]hookRow{}, chains: map[chainKey]*chained{}, subjects: map[UUID]string{}}
	if err := step(f.reads(s, hooks, lists)); err != nil {
		return err
	}
	if len(f.hooks) != len(hooks) {
		return errOvertaken
	}

	var rows []deliveryRow
	for i := range hooks {
		rows = f.extend(s, rows, f.hooks[hooks[i].id], lists[loyalty.ID(hooks[i].id)])
	}

	return step(write(write(nil, moveHooks, hooks), insertDeliveries, rows))
}

// fanning is what new deliveries follow.
type fanning struct {
	hooks    map[UUID]hookRow
	chains   map[chainKey]*chained
	subjects map[UUID]string // the names of customers who left, for deliveries that mention them
}

// reads locks the webhooks, and then reads where the chains of their deliveries end.
func (f *fanning) reads(s *database, hooks []hookRow, lists map[loyalty.ID][]loyalty.Delivery) []calls {
	var h hookRow
	list := read(nil, lockHooks, hooks, []any{&h.id, (*flag)(&h.ordered), (*number)(&h.last)}, func() error {
		f.hooks[h.id] = h
		return nil
	})

	var keys []chainKey
	var leavers []UUID
	for i := range hooks {
		for _, d := range lists[loyalty.ID(hooks[i].id)] {
			k := chainKey{hooks[i].id, UUID(d.Customer), d.Replay}
			if _, known := f.chains[k]; !known && d.Customer != (loyalty.ID{}) {
				f.chains[k], keys = &chained{}, append(keys, k)
			}
			if d.Type == loyalty.OptOutType {
				leavers = also(leavers, d.Customer)
			}
		}
	}

	if len(keys) > 0 {
		var k chainKey
		var end chained
		list = read(list, chainEnds, keys, []any{&k.webhook, &k.customer, (*flag)(&k.replay), optional{&end.previous}, (*flag)(&end.busy)}, func() error {
			if *f.chains[k] = end; k.replay {
				f.chains[k].previous = nil // a replay itself says what precedes it
			}
			return nil
		})
	}

	if len(leavers) > 0 {
		var l leaverRow
		list = read(list, selectLeavers, leavers, []any{&l.CustomerID, (*blob)(&l.Sealed)}, func() error {
			name, err := s.sealer.open(leaverID(l.CustomerID), l.Sealed)
			f.subjects[l.CustomerID] = string(name)
			return err
		})
	}

	return list
}

// extend adds the rows of a webhook's new deliveries, and numbers them.
func (f *fanning) extend(s *database, rows []deliveryRow, w hookRow, list []loyalty.Delivery) []deliveryRow {
	for i := range list {
		list[i].Number = w.last + int64(i) + 1
		r := deliveryRowOf(&list[i])
		r.WebhookID, r.Front = w.id, r.State == loyalty.DeliveryWaiting
		if c := f.chains[chainKey{w.id, r.CustomerID, r.Replay}]; c != nil {
			if c.previous != nil && (r.Sequence == nil || *c.previous < *r.Sequence) {
				r.Previous = c.previous
			}
			r.Front = r.Front && (!w.ordered || !c.busy)
			c.busy = true
			if r.Sequence != nil {
				c.previous = r.Sequence
			}
		}

		if name := f.subjects[r.CustomerID]; name != "" && r.Type == loyalty.OptOutType {
			r.Subject = s.sealer.seal(subjectID(&r), []byte(name))
		}

		rows = append(rows, r)
	}

	return rows
}
