package loyalty

import (
	"slices"
	"time"
)

func (t *Transaction) Clone() *Transaction {
	c := *t
	c.counts = false
	c.Detail.Items, c.Detail.Gifts = slices.Clone(t.Detail.Items), slices.Clip(t.Detail.Gifts)
	return &c
}

// Earlier picks the earlier instant, where zero means never.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
