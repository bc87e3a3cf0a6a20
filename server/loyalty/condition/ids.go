package condition

import "strings"

// sentIDs are the attributes of events, purchases and lines that are ids and codes: those that the document of events marks with
// x-blanks, which a test compares.
var sentIDs = []string{
	"challenge", "code", "contest_id", "coupon_code", "coupons", "event", "item", "item_id", "offer", "offers", "pool", "product_id", "referrer",
	"reward", "reward_id", "store", "target", "transaction_id", "treasure_id",
}

// sentID makes a term one of an id that was sent. The platform takes the blanks off its own attributes; those of the programme's
// own actions are kept as they came, and are compared without them.
func sentID(t term) term {
	eval := t.eval
	t.id, t.eval = true, func(f *frame) value {
		return eval(f).bare()
	}
	return t
}

// alike takes the blanks off what is written out beside an id, because they are no part of one.
func alike(a, b term) (term, term) {
	switch {
	case a.id:
		return a, bare(b)
	case b.id:
		return bare(a), b
	}
	return a, b
}

// bare is a text, or a list of them, without the blanks around it, where it is written out.
func bare(t term) term {
	if !t.literal {
		return t
	}
	if all, ok := t.constant.ref.(values); ok {
		trimmed := make(values, len(all))
		for i, v := range all {
			trimmed[i] = v.bare()
		}
		t.constant.ref = trimmed
	}
	t.constant = t.constant.bare()
	constant := t.constant
	t.eval = func(*frame) value { return constant }
	return t
}

func (v value) bare() value {
	v.s = strings.TrimSpace(v.s)
	return v
}
