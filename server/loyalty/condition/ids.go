package condition

import "strings"

// sentIDs are the attributes of events, purchases and lines that are ids and codes: those with x-blanks in the Events
// document. A test compares the two.
var sentIDs = []string{
	"challenge", "code", "contest_id", "coupon_code", "coupons", "event", "item", "item_id", "offer", "offers", "pool",
	"product_id", "referrer",
	"reward", "reward_id", "store", "target", "transaction_id", "treasure_id",
}

// sentID makes a term one of an id that was sent. The platform trims blanks from its own attributes; attributes of the
// programme's own actions are stored as they were sent, and trimmed for the comparison.
func sentID(t term) term {
	eval := t.eval
	t.id, t.eval = true, func(f *frame) value {
		return eval(f).bare()
	}
	return t
}

// alike trims blanks from a literal that is compared with an id, because they are no part of the id.
func alike(a, b term) (term, term) {
	switch {
	case a.id:
		return a, bare(b)
	case b.id:
		return bare(a), b
	}
	return a, b
}

// bare returns a literal text, or list of texts, without surrounding blanks.
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
