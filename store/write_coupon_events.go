package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// couponEvent records that an event changed a coupon, so that the history of a coupon is found without reading the
// events of all its holders.
type couponEvent struct {
	coupon  loyalty.ID
	version int64
	event   *loyalty.Event
}

// couponEvents lists the coupons that the events of a batch changed.
func couponEvents(w *loyalty.Writes) (list []couponEvent) {
	for i := range w.Events {
		e := &w.Events[i]
		if e.Effects == nil {
			continue
		}
		for _, c := range e.Effects.Coupons {
			list = append(list, couponEvent{c.ID, c.Version, e})
		}
	}
	return list
}

var insertCouponEvents = insertsInto("coupon_events",
	field[couponEvent]{"coupon_id", "uuid", func(c *couponEvent) any { return (*UUID)(&c.coupon) }},
	field[couponEvent]{"version", "bigint", func(c *couponEvent) any { return (*number)(&c.version) }},
	field[couponEvent]{"customer_id", "uuid", func(c *couponEvent) any { return (*UUID)(&c.of().Customer) }},
	field[couponEvent]{"event_id", "uuid", func(c *couponEvent) any { return (*UUID)(&c.of().ID) }},
	field[couponEvent]{"recorded_at", "bigint", func(c *couponEvent) any { return (*Millis)(&c.of().RecordedAt) }})

// of also works on an empty row, which is used only for its types.
func (c *couponEvent) of() *loyalty.Event {
	if c.event == nil {
		return &loyalty.Event{}
	}
	return c.event
}
