package histories_test

import (
	"slices"
)

// plainProgress is how far a challenge has come.
type plainProgress struct {
	completions int64
	counts      []int64
	slots       []int // what purchases that count name this progress by
	done        []plainDone
}

// plainCount is what a purchase or a completion counted towards one completion.
type plainCount struct {
	challenge string
	slot      int
	moves     []int64
}

// plainDone is a completion that a refund may break.
type plainDone struct {
	serial, lot   int
	points        int64
	slots         []int
	counts, needs []int64
	counted       []plainCount // by its event
	gifts         []plainGift  // what campaigns gave because of it
}

type plainGift struct {
	lot    int
	points int64
}

func (d plainDone) clone() plainDone {
	d.slots, d.counts, d.counted, d.gifts = slices.Clone(d.slots), slices.Clone(d.counts), clonedCounts(d.counted), slices.Clone(d.gifts)
	return d
}

func clonedCounts(all []plainCount) []plainCount {
	all = slices.Clone(all)
	for i := range all {
		all[i].moves = slices.Clone(all[i].moves)
	}
	return all
}

// under lets what is told follow from an event.
func (w *plainWorld) under(t *told, do func()) {
	before := w.parent
	w.parent = 1 + slices.Index(w.told, t)
	do()
	w.parent = before
}

// plainCounter is in whose name something counts.
type plainCounter struct {
	purchase *plainPurchase
	done     int // the number of a completion; 0: none
}

// counter finds in whose name an event counts.
func (w *plainWorld) counter(c *plainCustomer, t *told) plainCounter {
	for t.customer == c.index {
		switch {
		case t.purchase != "":
			return plainCounter{purchase: c.purchases[t.purchase]}
		case t.action == "challenge":
			return plainCounter{done: t.done}
		case t.action == "tier_up" || t.action == "tier_down":
			return plainCounter{}
		case t.action == "checkout" || t.action == "checkout_update":
			return plainCounter{purchase: c.purchases[t.about]}
		case t.parent == 0:
			return plainCounter{}
		}
		t = w.told[t.parent-1]
	}

	return plainCounter{}
}

// completion finds a completion by its number; nil: there is none.
func (c *plainCustomer) completion(serial int) *plainDone {
	for _, p := range c.challenges {
		for i := range p.done {
			if p.done[i].serial == serial && serial != 0 {
				return &p.done[i]
			}
		}
	}
	return nil
}

func (w *plainWorld) advance(c *plainCustomer, x *plainChallenge, moves []int64, t *told) {
	p := c.challenges[x.id]
	if p == nil {
		p = &plainProgress{counts: make([]int64, len(x.criteria))}
		c.challenges[x.id] = p
	}

	if p.completions >= x.most {
		return
	}

	done, needs := true, make([]int64, len(x.criteria))
	for i, k := range x.criteria {
		p.counts[i] += moves[i]
		if needs[i] = k.threshold; k.sum == "transaction.total" {
			needs[i] *= 10_000
		}
		done = done && p.counts[i] >= needs[i]
	}

	if !x.keep {
		w.note(c, x, p, moves, t)
	}
	if !done {
		return
	}

	lot, told := 0, w.tell(c, "challenge", x.points)
	lot = w.earn(told, x.points, "")
	if len(p.slots) > 0 {
		told.done = w.next()
		p.done = append(p.done, plainDone{serial: told.done, lot: lot, points: x.points, slots: p.slots, counts: p.counts, needs: needs})
	}

	p.completions, p.counts, p.slots = p.completions+1, make([]int64, len(x.criteria)), nil
}

// note remembers what was counted in the name of a purchase or completion.
func (w *plainWorld) note(c *plainCustomer, x *plainChallenge, p *plainProgress, moves []int64, t *told) {
	by := w.counter(c, t)
	var list *[]plainCount
	if d := c.completion(by.done); d != nil {
		list = &d.counted
	} else if by.purchase != nil {
		list = &by.purchase.counted
	} else {
		return
	}

	if len(p.slots) == 0 {
		p.slots = []int{w.next()}
	}

	for i := range *list {
		if k := &(*list)[i]; k.challenge == x.id && k.slot == p.slots[0] {
			for n := range moves {
				k.moves[n] += moves[n]
			}
			return
		}
	}

	*list = append(*list, plainCount{x.id, p.slots[0], slices.Clone(moves)})
}

// undoChallenges takes out what a purchase counted, the last first.
func (w *plainWorld) undoChallenges(c *plainCustomer, p *plainPurchase) {
	counted := p.counted
	p.counted = nil
	w.undo(c, counted)
}

func (w *plainWorld) undo(c *plainCustomer, counted []plainCount) {
	for _, k := range slices.Backward(counted) {
		p := c.challenges[k.challenge]
		left := slices.Clone(k.moves)
		if p == nil {
			continue
		}

		if slices.Contains(p.slots, k.slot) {
			lower(left, p.counts)
			p.tidy()
		}

		for {
			i := p.holding(k.slot, left)
			if i < 0 {
				break
			}
			d := &p.done[i]
			lower(left, d.counts)
			if d.holds() || w.filled(p, d, k.challenge) {
				continue
			}
			gone := *d
			p.done = slices.Delete(p.done, i, i+1)
			p.completions--
			w.takeCompletion(c, gone)
		}
	}
}

// lower takes from counts what they have of moves.
func lower(moves, counts []int64) {
	for i := range moves {
		n := min(moves[i], counts[i])
		moves[i], counts[i] = moves[i]-n, counts[i]-n
	}
}

func (p *plainProgress) tidy() {
	if slices.Max(p.counts) == 0 {
		p.slots = nil
	}
}

// holding is the last completion in which some of the moves stand; −1: none.
func (p *plainProgress) holding(slot int, moves []int64) int {
	for i := len(p.done) - 1; i >= 0; i-- {
		for k, n := range moves {
			if n > 0 && p.done[i].counts[k] > 0 && slices.Contains(p.done[i].slots, slot) {
				return i
			}
		}
	}
	return -1
}

func (d *plainDone) holds() bool {
	for i, n := range d.needs {
		if d.counts[i] < n {
			return false
		}
	}
	return true
}

// filled gives a completion what it needs of what was counted since, or gives what it
// still has to that.
func (w *plainWorld) filled(p *plainProgress, d *plainDone, challenge string) bool {
	x := w.rules.challenges[slices.IndexFunc(w.rules.challenges, func(x *plainChallenge) bool { return x.id == challenge })]
	enough := true
	for i, n := range d.needs {
		enough = enough && d.counts[i]+p.counts[i] >= n
	}

	if !enough {
		if slices.Max(d.counts) > 0 {
			p.slots = append(slices.Clone(p.slots), d.slots...)
		}
		for i := range d.counts {
			p.counts[i] += d.counts[i]
		}
		return false
	}

	for i, n := range d.needs {
		if n -= d.counts[i]; n <= 0 {
			continue
		}
		if x.criteria[i].sum != "" {
			n = p.counts[i]
		}
		p.counts[i], d.counts[i] = p.counts[i]-n, d.counts[i]+n
	}

	d.slots = append(slices.Clone(d.slots), p.slots...)
	p.tidy()
	return true
}

// takeCompletion takes the points back, and what followed from the completion out.
func (w *plainWorld) takeCompletion(c *plainCustomer, d plainDone) {
	for _, g := range append([]plainGift{{d.lot, d.points}}, d.gifts...) {
		n := g.points
		if w.rules.refuseNegative {
			n = min(n, max(0, c.spendable())+c.lot(g.lot).expired)
		}
		if n > 0 {
			w.tell(c, "point_sub", -n)
			c.takeBack("", n, g.lot)
		}
	}
	w.undo(c, d.counted)
}
