package condition

// A customer may have several ids under one name of another system. A term with customer.external_ids.card reads one of
// them, and the comparison is repeated for each: == holds if it holds for one of them, and != if it holds for all, as
// the opposite of ==.

// choice is the one of several ids that a term reads at present.
type choice struct {
	at int // its index
	of int // how many there are, once the term was read
}

// choose adds a slot for the choice of a term; the surrounding comparison goes through its ids.
func (c *compiler) choose() (slot int) {
	slot, c.choices = c.choices, c.choices+1
	c.open = append(c.open, slot)
	return slot
}

// chosen is the present id of a slot.
func (f *frame) chosen(slot int, ids []string) value {
	now := &f.choices[slot]
	if now.of = len(ids); now.at >= now.of {
		return nothing
	}
	return textOf(ids[now.at])
}

// through repeats a comparison for every id of the terms in it that have a choice. The result is absent if it is for
// one of them and no other one decides.
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
