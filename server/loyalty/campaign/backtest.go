package campaign

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// BulkBacktest is the kind of a bulk operation that tries a campaign on past events; Target is the campaign.
const BulkBacktest = "campaign_backtest"

// MostBacktests limits how many backtests may wait or run at a time, because each of them reads
// the whole journal of its period and they run one after the other.
const MostBacktests = 10

// BacktestPlan describes a backtest: the campaign, in the form of its entity, and the period of
// recorded events to try it on, from From up to but not including To.
type BacktestPlan struct {
	From     time.Time       `json:"from"`
	To       time.Time       `json:"to"`
	Campaign json.RawMessage `json:"campaign"`
}

// Check fails if the period ends before it begins, or if the campaign, taken as a new version of
// the one with this id, does not fit the programme.
func (plan *BacktestPlan) Check(p *programme.Programme, id string) error {
	if !plan.From.Before(plan.To) {
		return programme.Fault("to", "must_follow", map[string]any{"other": "from"})
	}
	_, err := Draft(p, id, plan.Campaign)
	return loyalty.PrefixFields(err, "campaign.")
}

// BacktestFigures is what a campaign would have given.
type BacktestFigures struct {
	Events  int64 `json:"events"` // how often
	Winners int64 `json:"winners"`
	Points  int64 `json:"points"`
	Coupons int64 `json:"coupons"`
	// Fault is why it could not be tried, in the form of loyalty.StoredError, so that each reader gets it in their own
	// language; nil: it was tried.
	Fault json.RawMessage `json:"fault,omitempty"`
}

// chance is a past occurrence for which the campaign's condition held, so that it could have
// given something. It can also be a merge, which moves what customers have won so far, or an undoing,
// which gives uses of the limits back.
type chance struct {
	customer loyalty.ID
	base     int64      // the points that a multiply effect multiplies
	merged   loyalty.ID // the customer merged into customer; zero: it is no merge
	purchase string     // the purchase that gives the use back; empty: none
	line     loyalty.ID // the line of the purchase; zero: all of it
	undone   bool       // the purchase, or the line, is undone
}

// use is one count towards the limits; undoing its purchase or line gives it back.
type use struct {
	customer loyalty.ID
	line     loyalty.ID
}

// Backtest counts what a campaign would have given, chance by chance in the order of recording.
// It remembers the winners, because limits apply per customer.
type Backtest struct {
	BacktestFigures
	Campaign  *Campaign
	programme *programme.Programme
	times     map[loyalty.ID]int64      // how often it gave each customer something
	labelled  map[loyalty.ID]bool       // customers who got a label: a merge does not bring labels along
	into      map[loyalty.ID]loyalty.ID // merged customers, and their targets
	used      map[loyalty.ID]int64      // uses of the limit per customer
	usedUp    int64                     // uses of the limit in total
	uses      map[string][]use          // uses by purchase, which may give them back
}

// NewBacktest prepares a backtest of a campaign as the programme would run it today. It applies today's modules and
// rounding, because it predicts what the campaign would give from now on.
func NewBacktest(p *programme.Programme, c *Campaign) *Backtest {
	return &Backtest{
		Campaign: c, programme: p, times: map[loyalty.ID]int64{}, labelled: map[loyalty.ID]bool{},
		into: map[loyalty.ID]loyalty.ID{}, used: map[loyalty.ID]int64{}, uses: map[string][]use{},
	}
}

// Take evaluates one chance.
func (b *Backtest) Take(x chance) {
	customer := b.survivor(x.customer)
	switch {
	case x.merged != (loyalty.ID{}):
		b.merge(b.survivor(x.merged), customer)
		return
	case x.undone:
		b.giveBack(x.purchase, x.line)
		return
	}

	l := &b.Campaign.Limit
	if l.PerCustomer != nil && b.used[customer] >= *l.PerCustomer || l.Total != nil && b.usedUp >= *l.Total {
		return
	}

	given, stays := false, false
	for i := range b.Campaign.Effects {
		f := &b.Campaign.Effects[i]
		if b.give(f, customer, x.base) {
			given, stays = true, stays || b.stays(f)
		}
	}

	if !given {
		return
	}

	if b.times[customer] == 0 {
		b.Winners++
	}

	b.times[customer]++
	b.Events++
	b.used[customer]++
	b.usedUp++
	if limited := l.PerCustomer != nil || l.Total != nil; limited && x.purchase != "" && !stays {
		b.uses[x.purchase] = append(b.uses[x.purchase], use{x.customer, x.line})
	}
}

// giveBack gives back the uses for a purchase, or for one line of it, as its refund does.
func (b *Backtest) giveBack(purchase string, line loyalty.ID) {
	left := b.uses[purchase][:0]
	for _, u := range b.uses[purchase] {
		if line != (loyalty.ID{}) && u.line != line {
			left = append(left, u)
			continue
		}
		b.used[b.survivor(u.customer)]--
		b.usedUp--
	}
	b.uses[purchase] = left
}

// stays reports whether what an effect gave stays when its purchase is undone. A coupon counts as
// unused, because it was never issued.
func (b *Backtest) stays(f *Effect) bool {
	switch f.Type {
	case EffectLabel, EffectTier:
		return true
	case EffectCoupon:
		return b.Campaign.Refunds == refundsPoints
	case EffectChallenge:
		c := challenge.Challenges.Of(b.programme)[f.Challenge]
		return c != nil && c.Refunds == challenge.RefundsKeep
	}
	return false
}

// give counts one effect and reports whether it gives anything: a customer who already has a
// label or a tier does not get it again.
func (b *Backtest) give(f *Effect, customer loyalty.ID, base int64) bool {
	if m := effectModules[f.Type]; m != "" && !b.programme.On[m] {
		return false
	}

	switch f.Type {
	case EffectPoints:
		b.Points += f.Points
		return true
	case EffectMultiply:
		n, err := b.programme.Purchase.Rounding.Whole(decimal.NewFromInt(base).Mul(f.extra))
		// as in a real run, a multiplication that rounds to nothing or overflows gives nothing
		if err != nil || n <= 0 || n > points.Max {
			return false
		}
		b.Points += n
		return true

	case EffectCoupon:
		b.Coupons++
		return true
	case EffectLabel:
		has := b.labelled[customer]
		b.labelled[customer] = true
		return !has

	case EffectTier:
		return b.times[customer] == 0
	}

	return true
}

func (b *Backtest) survivor(id loyalty.ID) loyalty.ID {
	// bounded, although a journal has no circle of merges: a damaged one must not hang the job
	for range len(b.into) {
		into, merged := b.into[id]
		if !merged {
			break
		}
		id = into
	}
	return id
}

// merge counts the two merged customers as one winner from here on.
func (b *Backtest) merge(source, target loyalty.ID) {
	if source == target {
		return
	}
	// limits count them as one customer from here on, as those of a real campaign do
	// (CampaignFeature.Join)
	if b.times[source] > 0 && b.times[target] > 0 {
		b.Winners--
	}

	if n := b.times[source]; n > 0 {
		b.times[target] += n
		delete(b.times, source)
	}

	b.used[target] += b.used[source]
	delete(b.used, source)
	b.into[source] = target
}
