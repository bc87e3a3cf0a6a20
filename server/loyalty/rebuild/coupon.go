package rebuild

import (
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// coupon folds a coupon's state after an event: the highest version is the last. Events come family by family instead
// of in the order in which they were recorded, and a coupon may pass between families, so its versions arrive in any
// order.
func (rb *Rebuild) coupon(x *loyalty.Coupon) {
	if version, matched := rb.matched[x.ID]; matched {
		if x.Version <= version {
			return
		}
		delete(rb.matched, x.ID) // the stored row is behind the journal
	}
	if j := rb.coupons[x.ID]; j == nil || x.Version >= j.Version {
		rb.coupons[x.ID] = x
		rb.touched = append(rb.touched, x.ID)
	}
}

// Touched lists the coupons of the events since it was last called. Showing them to Match keeps memory from growing
// with the number of coupons.
func (rb *Rebuild) Touched() []loyalty.ID {
	list := rb.touched
	rb.touched = nil
	slices.SortFunc(list, loyalty.CompareID)
	return slices.Compact(list)
}

// Match drops a coupon whose stored row equals the result of the events so far. Other rows are left to Coupon, because
// later events may explain them.
func (rb *Rebuild) Match(s *loyalty.Coupon) {
	j := rb.coupons[s.ID]
	if j == nil {
		return
	}
	same := true
	// The same comparison as at the end, with its own report: a coupon that is dropped here must be as equal as one
	// that stays.
	quiet := &Rebuild{into: rb.into, report: func(Difference) { same = false }}
	quiet.compare(j, s)
	if same {
		delete(rb.coupons, s.ID)
		rb.matched[s.ID] = s.Version
	}
}

// Coupon compares one stored coupon, after all families. A coupon without any event is a code of a pool that was never
// given.
func (rb *Rebuild) Coupon(s *loyalty.Coupon) {
	if _, matched := rb.matched[s.ID]; matched {
		return
	}

	j, told := rb.coupons[s.ID]
	delete(rb.coupons, s.ID)
	if !told {
		// Codes of a pool are uploaded or generated without events. A code that was never given must be in its initial
		// state.
		if !rb.place(s.Customer, "coupon "+s.Code).exists(s.Pool != "", true) {
			return
		}
		j = new(*s)
		j.State, j.Customer, j.Version, j.Uses, j.ClaimedAt, j.RedeemedAt, j.Balance = loyalty.CouponCreated, loyalty.ID{}, 0,
			nil, time.Time{}, time.Time{}, 0
		if s.Type == loyalty.CouponGiftCard {
			j.Balance = s.Value
		}
	}

	rb.compare(j, s)
}

// compare compares a coupon. Its holder may have been merged into another customer since.
func (rb *Rebuild) compare(journal, stored *loyalty.Coupon) {
	j, s := *journal, *stored // copies, because the caller's must not change
	j.Customer, _ = rb.survivor(j.Customer)
	s.Customer, _ = rb.survivor(s.Customer)
	documents(rb.place(stored.Customer, "coupon "+stored.Code), &j, &s)
}
