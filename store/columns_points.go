package store

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

type (
	changedLot         = loyalty.Changed[loyalty.CustomerLot]
	changedReservation = loyalty.Changed[loyalty.Reservation]
)

// lotTable holds lots of points. lotFate are the columns that change.
var lotTable = table[loyalty.CustomerLot]{name: "lots", fields: []field[loyalty.CustomerLot]{
	{"customer_id", "uuid", func(l *loyalty.CustomerLot) any { return (*UUID)(&l.Customer) }},
	{"id", "uuid", func(l *loyalty.CustomerLot) any { return (*UUID)(&l.ID) }},
	{"remaining", "bigint", func(l *loyalty.CustomerLot) any { return (*number)(&l.Remaining) }},
	{"reserved", "bigint", func(l *loyalty.CustomerLot) any { return (*number)(&l.Reserved) }},
	{"spent", "bigint", func(l *loyalty.CustomerLot) any { return (*number)(&l.Spent) }},
	{"expired", "bigint", func(l *loyalty.CustomerLot) any { return (*number)(&l.Expired) }},
	{"points", "bigint", func(l *loyalty.CustomerLot) any { return (*number)(&l.Points) }},
	{"earned_at", "bigint", func(l *loyalty.CustomerLot) any { return (*Millis)(&l.EarnedAt) }},
	{"expires_at", "bigint", func(l *loyalty.CustomerLot) any { return (*Millis)(&l.ExpiresAt) }},
	{"idle_months", "integer", func(l *loyalty.CustomerLot) any { return wholeIn(&l.Idle.Months) }},
	{"idle_days", "integer", func(l *loyalty.CustomerLot) any { return wholeIn(&l.Idle.Days) }},
	{"transaction_id", "text", func(l *loyalty.CustomerLot) any { return (*Text)(&l.Transaction) }},
	{"origin", "integer", func(l *loyalty.CustomerLot) any { return wholeIn(&l.Origin) }},
}, derived: []field[loyalty.CustomerLot]{
	{"open", "boolean", func(l *loyalty.CustomerLot) any { return flag(isOpen(&l.Lot)) }},
}}

func isOpen(l *points.Lot) bool { return l.Remaining+l.Reserved > 0 }

// lotFate is the part of a lot that changes.
var lotFate = table[loyalty.CustomerLot]{
	name: "lots", fields: lotTable.some("customer_id", "id", "remaining", "reserved", "spent", "expired").fields, derived: lotTable.derived,
}

var (
	insertLots = lotTable.inserts()
	updateLots = guards(`UPDATE lots AS l SET `+lotFate.set("customer_id", "id")+` FROM v WHERE l.customer_id = v.customer_id AND l.id = v.id
 AND l.remaining = v.was_remaining AND l.reserved = v.was_reserved AND l.spent = v.was_spent AND l.expired = v.was_expired`, append(
		through(lotFate.all(), func(l *changedLot) *loyalty.CustomerLot { return &l.After }),
		field[changedLot]{"was_remaining", "bigint", func(l *changedLot) any { return (*number)(&l.Before.Remaining) }},
		field[changedLot]{"was_reserved", "bigint", func(l *changedLot) any { return (*number)(&l.Before.Reserved) }},
		field[changedLot]{"was_spent", "bigint", func(l *changedLot) any { return (*number)(&l.Before.Spent) }},
		field[changedLot]{"was_expired", "bigint", func(l *changedLot) any { return (*number)(&l.Before.Expired) }})...)
)

// reservationTable holds what an open purchase reserves of a customer's lots.
var reservationTable = table[loyalty.Reservation]{name: "reservations", fields: []field[loyalty.Reservation]{
	{"customer_id", "uuid", func(r *loyalty.Reservation) any { return (*UUID)(&r.Customer) }},
	{"transaction_id", "text", func(r *loyalty.Reservation) any { return (*plain)(&r.Transaction) }},
	{"hold", "text", func(r *loyalty.Reservation) any { return documentIn(&r.Hold) }},
}}

var (
	insertReservations = reservationTable.inserts()
	updateReservations = guards(`UPDATE reservations AS r SET hold = v.hold FROM v
 WHERE r.customer_id = v.customer_id AND r.transaction_id = v.transaction_id AND r.hold = v.was`, reservationChange...)
	deleteReservations = guards(`DELETE FROM reservations WHERE (customer_id, transaction_id, hold) IN
 (SELECT customer_id, transaction_id, was FROM v)`, reservationChange...)

	reservationChange = append(through(reservationTable.fields, func(r *changedReservation) *loyalty.Reservation { return &r.After }),
		field[changedReservation]{"was", "text", func(r *changedReservation) any { return documentIn(&r.Before.Hold) }})
)
