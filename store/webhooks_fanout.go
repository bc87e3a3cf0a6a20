package store

import (
	"context"
	"errors"
	"maps"
	"slices"

	"gorm.io/gorm"

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
	State      loyalty.DeliveryState
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
		Type: r.Type, Previous: loyalty.Deref(r.Previous), Replay: r.Replay, State: r.State, Attempts: r.Attempts, NextAt: r.NextAt.Time(),
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
		WebhookID: UUID(d.Webhook), Number: d.Number, CustomerID: UUID(d.Customer), EventID: UUID(d.Event), Type: d.Type, Replay: d.Replay,
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

// subjectID binds the name of a customer who left to the delivery that mentions it, leaverID to the
// customer.
func subjectID(r *deliveryRow) []byte {
	number := [8]byte{}
	for i := range number {
		number[i] = byte(r.Number >> (8 * i))
	}
	return rowID("deliveries", string(r.WebhookID[:]), string(number[:]))
}

func leaverID(customer UUID) []byte { return rowID("leavers", string(customer[:])) }

type leaverRow struct {
	CustomerID UUID `gorm:"primaryKey"`
	Sealed     []byte
	At         Millis
}

func (leaverRow) TableName() string { return "leavers" }

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

// Replays lists the stretches of the past that are still to be sent, the oldest request
// first.
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

// errOvertaken rolls back where another node was faster.
var errOvertaken = errors.New("another node was faster")

// deliveriesAtOnce bounds the parameters of one statement.
const deliveriesAtOnce = 200

// FanOut writes deliveries and moves the positions that they follow, in one transaction. The rows
// of the webhooks are locked in the order of their ids: every writer of a delivery, or of its
// result, holds its webhook's row.
func (s webhookStore) FanOut(ctx context.Context, f loyalty.FanOut) (bool, error) {
	if s.broken() {
		return false, loyalty.ErrDamaged
	}
	err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		for _, id := range slices.SortedFunc(maps.Keys(f.Deliveries), loyalty.CompareID) {
			list := f.Deliveries[id]
			q := db.Model(&webhookRow{}).Where("id = ? AND state = ?", UUID(id), loyalty.WebhookActive)
			changes := map[string]any{"last_number": gorm.Expr("last_number + ?", len(list))}
			if f.Replay == nil && f.Notices == nil {
				q, changes["cursor"] = q.Where("cursor = ?", f.From), f.Through
			}
			if done := q.Updates(changes); done.Error != nil {
				return done.Error
			} else if done.RowsAffected != 1 {
				return errOvertaken
			}
			if err := s.addDeliveries(db, UUID(id), list); err != nil {
				return err
			}
		}
		if f.Notices != nil {
			return taken(db.Where("id IN ?", uuids(f.Notices)).Delete(&noticeRow{}), len(f.Notices))
		}
		if f.Replay == nil {
			return nil
		}
		at := db.Where("id = ? AND position = ?", UUID(f.Replay.ID), f.From)
		if f.Through >= f.Replay.Until {
			return taken(at.Delete(&replayRow{}), 1)
		}
		return taken(at.Model(&replayRow{}).Update("position", f.Through), 1)
	})
	switch {
	case errors.Is(err, errOvertaken):
		return false, nil
	case err != nil:
		return false, s.classify(s.noteSpace(err))
	}
	return true, nil
}

func uuids(ids []loyalty.ID) []UUID {
	list := make([]UUID, len(ids))
	for i, id := range ids {
		list[i] = UUID(id)
	}
	return list
}

// taken fails where a statement met other rows than it should have.
func taken(done *gorm.DB, want int) error {
	if done.Error == nil && done.RowsAffected != int64(want) {
		return errOvertaken
	}
	return done.Error
}

// addDeliveries writes new deliveries of a webhook whose row is locked, and whose numbers were
// advanced by as many.
func (s *database) addDeliveries(db *gorm.DB, webhook UUID, list []loyalty.Delivery) error {
	if len(list) == 0 {
		return nil
	}
	var w webhookRow
	if err := db.Select("id", "ordered", "last_number").Take(&w, "id = ?", webhook).Error; err != nil {
		return err
	}
	chains, err := chainsOf(db, webhook, list)
	if err != nil {
		return err
	}
	subjects, err := s.leavers(db, list)
	if err != nil {
		return err
	}
	rows := make([]deliveryRow, len(list))
	for i := range list {
		list[i].Number = w.LastNumber - int64(len(list)) + int64(i) + 1
		r := deliveryRowOf(&list[i])
		r.WebhookID, r.Front = webhook, r.State == loyalty.DeliveryWaiting
		if c := chains[chainKey{r.CustomerID, r.Replay}]; c != nil && r.CustomerID != (UUID{}) {
			if c.Previous != nil && (r.Sequence == nil || *c.Previous < *r.Sequence) {
				r.Previous = c.Previous
			}
			r.Front = r.Front && (!w.Ordered || !c.Busy)
			c.Busy = true
			if r.Sequence != nil {
				c.Previous = r.Sequence
			}
		}
		if name := subjects[r.CustomerID]; name != "" && r.Type == loyalty.OptOutType {
			r.Subject = s.sealer.seal(subjectID(&r), []byte(name))
		}
		rows[i] = r
	}
	return db.CreateInBatches(rows, deliveriesAtOnce).Error
}

// chainKey names what is sent one after the other.
type chainKey struct {
	customer UUID
	replay   bool
}

// chained is where the deliveries about a customer end.
type chained struct {
	ID       UUID
	Previous *int64 // the last one's place in the tail
	Busy     bool   // something waits
}

// chainedCustomers are a table c of ids. SQLite has no arrays, and looks into customers for it.
func chainedCustomers(db *gorm.DB, ids []UUID) sqlFragment {
	if db.Name() == "sqlite" {
		return sqlFragment{"customers c WHERE c.id IN ?", []any{ids}}
	}
	return sqlFragment{"unnest(?::uuid[]) AS c(id)", []any{&array[UUID]{ids, func(id *UUID) any { return id }}}}
}

// chainsOf reads the ends of the chains that deliveries lengthen. The customers are looked up
// one by one, along the indexes: they may have many deliveries.
func chainsOf(db *gorm.DB, webhook UUID, list []loyalty.Delivery) (map[chainKey]*chained, error) {
	chains := map[chainKey]*chained{}
	for _, replay := range []bool{false, true} {
		var ids []UUID
		seen := set[UUID]{}
		for i := range list {
			if d := &list[i]; d.Replay == replay && d.Customer != (loyalty.ID{}) && seen.add(UUID(d.Customer)) {
				ids = append(ids, UUID(d.Customer))
			}
		}
		for some := range slices.Chunk(ids, deliveriesAtOnce) {
			var ends []chained
			from := chainedCustomers(db, some)
			err := db.Raw(`SELECT c.id, (SELECT d.sequence FROM `+deliveriesBy(db, "d", "deliveries_customer")+` WHERE d.webhook_id = ? AND d.customer_id = c.id AND NOT d.replay
ORDER BY d.number DESC LIMIT 1) AS previous, EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = ? AND d.customer_id = c.id AND d.replay = ? AND d.state = 'waiting') AS busy
FROM `+from.text, append([]any{webhook, webhook, replay}, from.args...)...).Scan(&ends).Error
			if err != nil {
				return nil, err
			}
			for i := range ends {
				if replay {
					ends[i].Previous = nil // of the past it is told by the replay itself
				}
				chains[chainKey{ends[i].ID, replay}] = &ends[i]
			}
		}
	}
	return chains, nil
}

// leavers reads the names of customers who left and whom deliveries mention.
func (s *database) leavers(db *gorm.DB, list []loyalty.Delivery) (map[UUID]string, error) {
	var ids []UUID
	for i := range list {
		if list[i].Type == loyalty.OptOutType {
			ids = append(ids, UUID(list[i].Customer))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []leaverRow
	if err := db.Where("customer_id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	names := map[UUID]string{}
	for _, r := range rows {
		name, err := s.sealer.open(leaverID(r.CustomerID), r.Sealed)
		if err != nil {
			return nil, err
		}
		names[r.CustomerID] = string(name)
	}
	return names, nil
}

// insertLeavers stores the names of customers who leave, for webhooks only: if no webhook has to be
// told, nothing is stored.
var insertLeavers = inserts(`INSERT INTO leavers (customer_id, sealed, at) SELECT v.customer_id, v.sealed, v.at FROM v
WHERE EXISTS (SELECT 1 FROM webhooks w WHERE `+listening+`) ON CONFLICT (customer_id) DO NOTHING`,
	field[leaverRow]{"customer_id", "uuid", func(r *leaverRow) any { return &r.CustomerID }},
	field[leaverRow]{"sealed", "bytea", func(r *leaverRow) any { return (*blob)(&r.Sealed) }},
	field[leaverRow]{"at", "bigint", func(r *leaverRow) any { return &r.At }})

// leaversOf are the customers who leave with a batch.
func leaversOf(w *loyalty.Writes, key sealer) (rows []leaverRow) {
	for i := range w.Customers {
		c := &w.Customers[i]
		if c.After.Status == loyalty.OptedOut && c.Before.Status != loyalty.OptedOut && c.Before.Name != "" && c.Before.Name != c.After.Name {
			id := UUID(c.After.ID)
			rows = append(rows, leaverRow{id, key.seal(leaverID(id), []byte(c.Before.Name)), Millis(c.After.UpdatedAt)})
		}
	}
	return rows
}
