package loyalty

import (
	"slices"
	"strings"
)

// TransactionMove is one event in the breakdown of a purchase.
type TransactionMove struct {
	*Event
	Worth  int64 // its points for the purchase: of a bundle, those that its lines do not show
	Earned int64 // its effect on the purchase's Earned; the sum over all moves is Earned
}

// bundles are the events that show the sum of what other events carry.
var bundles = []string{"checkout", "checkout_update", "checkout_accept", "checkout_claim", "pending_validate"}

// Breakdown lists the events that moved the points of a purchase, in order. It leaves out events without effect:
// pending points once they were given or rejected, and a burn of points that were held before. An event's effect on
// Earned follows from the state of the purchase after it.
func Breakdown(t *Transaction, events []Event) []TransactionMove {
	b := breakdown{purchase: t, moves: make([]TransactionMove, len(events)), settled: -1}
	for i := range events {
		b.moves[i] = TransactionMove{Event: &events[i]}
	}

	b.settle()
	if t.State == Pending {
		b.promise()
	} else if b.settled >= 0 {
		b.earn()
	}

	for i := range b.moves {
		b.worth(i)
	}

	return slices.DeleteFunc(b.moves, func(m TransactionMove) bool { return m.Earned == 0 && m.Change == 0 })
}

type breakdown struct {
	purchase *Transaction
	moves    []TransactionMove
	settled  int // the event from which an accepted purchase earns, for its holder
}

// state is the purchase after an event; nil: the event did not change it. An effect by which the purchase left a
// customer has no state.
func (m *TransactionMove) state() *TransactionEffect {
	if m.Effects == nil || m.Effects.Transaction == nil || m.Effects.Transaction.State == NoTransaction {
		return nil
	}
	return m.Effects.Transaction
}

// settle finds the event from which the purchase earns: its acceptance, or the claim that brought it, already accepted,
// from a guest.
func (b *breakdown) settle() {
	before := NoTransaction
	for i := range b.moves {
		s := b.moves[i].state()
		if s == nil {
			continue
		}
		if s.State != Pending && s.Claimed || s.State == Accepted && before != Accepted {
			b.settled = i
		}
		before = s.State
	}
}

// promise spreads the pending points of a purchase over the events of its present lines, and puts the rest on the event
// that changed it last.
func (b *breakdown) promise() {
	rest, last := b.purchase.Earned, -1
	for i := range b.moves {
		m := &b.moves[i]
		if l := b.purchase.LineOf(m.ID); l != nil {
			m.Earned = l.Points
			rest -= l.Points
		}
		if m.state() != nil {
			last = i
		}
	}

	if last >= 0 {
		b.moves[last].Earned += rest
	}
}

// earn spreads what an accepted purchase earned, and what was taken back. The last event of several campaigns has the
// state that all of them brought; each event has what its own campaign gave.
func (b *breakdown) earn() {
	var earned int64
	var untold []*TransactionMove
	for i := b.settled; i < len(b.moves); i++ {
		m := &b.moves[i]
		switch s := m.state(); {
		case s != nil:
			m.Earned += s.Earned - earned
			earned = s.Earned
			for _, gift := range untold {
				gift.Earned = *gift.Points
				m.Earned -= *gift.Points
			}
			untold = nil

		case m.Points == nil:
		case b.line(m):
			m.Earned = *m.Points
			b.moves[b.settled].Earned -= *m.Points
		case m.gift():
			untold = append(untold, m)
		}
	}
}

// gift reports whether an event gave points of a campaign to the purchase. An event that only names the purchase opens
// a lot which records that no purchase earned it.
func (m *TransactionMove) gift() bool {
	return m.Action == "point_add" && m.Parent != (ID{}) &&
		(m.Effects == nil || m.Effects.Lot == nil || m.Effects.Lot.Purchase == nil)
}

// line reports whether an event has a part of what the settling event shows: the line of a purchase, or a lot that a
// claim brought.
func (b *breakdown) line(m *TransactionMove) bool {
	settled := b.moves[b.settled]
	return m.Parent == settled.ID &&
		(strings.HasSuffix(m.Action, "_item") || settled.state().Claimed && m.Action == "point_add")
}

// worth is the points that an event shows, less those that other events show for it.
func (b *breakdown) worth(i int) {
	m := &b.moves[i]
	switch {
	case m.Earned != 0:
		m.Worth = m.Earned
	case slices.Contains(bundles, m.Action):
		m.Worth = m.Change
	case m.Points != nil:
		m.Worth = *m.Points
	}
}
