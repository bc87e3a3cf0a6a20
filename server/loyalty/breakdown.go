package loyalty

import (
	"slices"
	"strings"
)

// TransactionMove is one event in the breakdown of a purchase.
type TransactionMove struct {
	*Event
	Worth  int64 // what it is worth to the purchase: of a bundle what its lines do not tell
	Earned int64 // what it did to the purchase's Earned; the sum over all moves is Earned
}

// bundles are the events that show the sum of what other events carry.
var bundles = []string{"checkout", "checkout_update", "checkout_accept", "checkout_claim", "pending_validate"}

// Breakdown is what moved the points of a purchase, from its events in their order.
// Left out are those that did nothing: what was promised once it was given or
// rejected, and a burn of points that were held before. What an event did to Earned
// is told by the state of the purchase after it.
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
	settled  int // the event that says what an accepted purchase earned, for its holder
}

// state is the purchase after an event; nil: the event did not change it. Where it
// left a customer, the effect has no state.
func (m *TransactionMove) state() *TransactionEffect {
	if m.Effects == nil || m.Effects.Transaction == nil || m.Effects.Transaction.State == NoTransaction {
		return nil
	}
	return m.Effects.Transaction
}

// settle finds the event from which on the purchase earns: its acceptance, or the
// claim that brought it, accepted, from a guest.
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

// promise tells what a pending purchase promises: on the events of the lines that it
// has now, and the rest on the one that changed it last.
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

// earn tells what an accepted purchase earned, and what was taken back of it. The state that several
// campaigns brought is told by the last of their events, and each of them tells what it gave.
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

// gift reports whether an event gave points of a campaign to the purchase. What only names the purchase opens a
// lot that says that no purchase earned it.
func (m *TransactionMove) gift() bool {
	return m.Action == "point_add" && m.Parent != (ID{}) && (m.Effects == nil || m.Effects.Lot == nil || m.Effects.Lot.Purchase == nil)
}

// line reports whether an event carries a part of what the settling one tells: the line
// of a purchase, or a lot that a claim brought.
func (b *breakdown) line(m *TransactionMove) bool {
	settled := b.moves[b.settled]
	return m.Parent == settled.ID && (strings.HasSuffix(m.Action, "_item") || settled.state().Claimed && m.Action == "point_add")
}

// worth is what an event shows of its points, less what others show for it.
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
