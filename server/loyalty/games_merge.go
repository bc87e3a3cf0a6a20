package loyalty

import (
	"slices"
	"time"
)

// What another account of the same person stands for is added to each progress
// when the two are merged. What is given once is not given again.

// Merge adds the entries of another account, as if they had been made last.
func (p *ContestProgress) Merge(o ContestProgress) {
	p.Entries += o.Entries
	p.Paid = append(slices.Clip(p.Paid), o.Paid...)
}

// Merge adds the spins of another account; those of a period that is over do not
// count.
func (p *WheelProgress) Merge(o WheelProgress) {
	p.Total += o.Total
	switch {
	case o.Period == p.Period:
		p.Spins += o.Spins
	case o.Period > p.Period: // by its first day
		p.Period, p.Spins = o.Period, o.Spins
	}
}

// Merge adds the claim and the redemptions of another account.
func (p *OfferProgress) Merge(o OfferProgress) {
	if o.ClaimedAt != nil && (p.ClaimedAt == nil || o.ClaimedAt.Before(*p.ClaimedAt)) {
		p.ClaimedAt = o.ClaimedAt
	}
	p.Redeemed += o.Redeemed
	p.Last = append(slices.Clip(p.Last), o.Last...)
	p.Last = p.Last[max(0, len(p.Last)-maxOfferUses):]
}

// Merge keeps the answer that was given first.
func (p *QuizProgress) Merge(o QuizProgress) {
	if before(o.AnsweredAt, p.AnsweredAt) {
		*p = o
	}
}

// Merge keeps the day on which the treasure was found first.
func (p *TreasureProgress) Merge(o TreasureProgress) {
	if before(o.FoundAt, p.FoundAt) {
		*p = o
	}
}

// Merge adds the questions that the other account answered.
func (p *FlowProgress) Merge(o FlowProgress) {
	for _, id := range o.Answered {
		if !slices.Contains(p.Answered, id) {
			p.Answered = append(p.Answered, id)
		}
	}
	p.Rewarded = p.Rewarded || o.Rewarded
}

// before says whether an instant was the first of two, where zero is none.
func before(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }
