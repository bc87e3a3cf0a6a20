package condition

// A customer may have several ids under one name of another system. What asks for customer.external_ids.card reads one of them, and
// a comparison is made with each: it holds where it holds of one of them, and != where it holds of all, as the
// opposite of ==.

// choice is which of several ids a term reads at the moment.
type choice struct {
	at int // its place
	of int // how many there are, once the term was read
}

// choose makes a place for the choice of a term, which the comparison around it goes through.
func (c *compiler) choose() (slot int) {
	slot, c.choices = c.choices, c.choices+1
	c.open = append(c.open, slot)
	return slot
}

// chosen is the id that is chosen in a slot.
func (f *frame) chosen(slot int, ids []string) value {
	now := &f.choices[slot]
	if now.of = len(ids); now.at >= now.of {
		return nothing
	}
	return textOf(ids[now.at])
}

// through makes a comparison with every id of the terms in it that have a choice. What the comparison cannot tell of one of
// them is absent, unless another one decides.
func (c *compiler) through(t term, slots []int, all bool) term {
	decides := int64(1)
	if all {
		decides = 0
	}
	for _, slot := range slots {
		one := t.eval
		t.eval = func(f *frame) value {
			now := &f.choices[slot]
			*now = choice{}
			verdict := one(f)
			for f.err == nil && now.at+1 < now.of && (verdict.kind != truth || verdict.n != decides) {
				now.at++
				if v := one(f); verdict.kind == truth || v.kind == truth && v.n == decides {
					verdict = v
				}
			}
			return verdict
		}
	}
	return t
}
