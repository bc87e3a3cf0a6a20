package campaign

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// gift is one campaign giving to the customer of an occurrence.
type gift struct {
	*engine.Occurrence
	campaign *Campaign
	cause    *loyalty.Event
	given    bool // anything at all
	gave     loyalty.CampaignGifts
	run      loyalty.CampaignRun // what is taken back if its cause is undone
}

// give applies one effect. An effect that cannot be given now, because its module is off or its pool is empty, is left
// out: a campaign never refuses the event that triggered it.
func (g *gift) give(f *Effect) error {
	if m := effectModules[f.Type]; m != "" && !g.Programme.On[m] {
		g.missed("reason.module_is_off", map[string]any{"module": m, "effect": f.Type})
		return nil
	}

	switch f.Type {
	case EffectPoints:
		return g.earn(f.Points)
	case EffectMultiply:
		// the factor less one: the occurrence has earned its own points already
		n, err := g.Programme.Purchase.Rounding.Whole(decimal.NewFromInt(base(g.Occurrence)).Mul(f.extra))
		if err != nil || n > points.Max {
			return engine.TooMany("the campaign " + g.campaign.ID)
		}
		return g.earn(n)

	case EffectCoupon:
		return g.coupon(f)
	case EffectLabel:
		return g.label(f.Label)
	case EffectTier:
		return g.tier(f.Tier)
	case EffectChallenge:
		return g.challenge(f)
	}

	return nil
}

// effectModules are the modules that effects need.
var effectModules = map[string]string{
	EffectCoupon: programme.ModuleCoupons, EffectTier: programme.ModuleTiers, EffectChallenge: programme.ModuleChallenges,
}

func (g *gift) missed(reason string, input map[string]any) {
	told(g.Occurrence, g.campaign, loyalty.Verdict{Verdict: "skipped", Reason: reason, Input: input})
}

// base is how many points the occurrence itself earned: a line, a purchase or an event. Points from campaigns do not
// count, or two multiplying campaigns would multiply each other.
func base(o *engine.Occurrence) (n int64) {
	switch {
	case o.Line != nil:
		return o.Line.Points - o.Line.Bonus
	case o.Accepted != nil:
		return o.Accepted.OriginalEarned - o.Accepted.Detail.Bonus
	}

	if brought(o.Trigger) {
		return 0
	}

	// only postings of this event: other events of the submission have theirs in the same book
	for _, p := range o.Book.Postings {
		switch {
		case p.Event != o.Trigger.ID:
		case p.From == points.Issued && p.To == points.Available:
			n += p.Points
		case p.From == points.Available && p.To == points.Issued: // was dropped while the event was held
			n -= p.Points
		}
	}

	return max(0, n)
}

// brought reports whether the points that come with an event were earned before: by the other customer of a merge, or
// by a guest whose purchase was claimed. A factor must not multiply them again.
func brought(e *loyalty.Event) bool {
	x := e.Effects
	return x != nil && (x.MergedFrom != nil || (x.Lot != nil && x.Lot.Origin != points.Unknown))
}

// campaignPoints are the attributes of a point_add made by a campaign.
type campaignPoints struct {
	Points        int64  `json:"points"`
	TransactionID string `json:"transaction_id,omitempty"`
	Campaign      string `json:"campaign"`
}

// earn gives points through a point_add. Points for a purchase are tied to it, so that a refund
// takes them back.
func (g *gift) earn(n int64) error {
	if n <= 0 {
		return nil
	}

	t, name := g.Accepted, ""
	if t != nil {
		name = t.Name
	}

	e := g.Derive(g.cause, "point_add", campaignPoints{n, name, g.campaign.ID})
	if t != nil {
		e.Transaction = name
	}
	// a full balance refuses the whole event: promised points must not be dropped silently
	if err := g.Credit(e, n, name); err != nil {
		return engine.TooMany("the campaign " + g.campaign.ID)
	}

	g.given, g.gave.Points = true, g.gave.Points+n
	if t == nil {
		// The lot goes back if a refund undoes the cause: a completion, or a purchase where the points are not the
		// purchase's own.
		if _, completion := challenge.CauseOf(g.Run, g.cause); completion {
			return challenge.NoteGift(g.Run, g.cause, e, g.campaign.ID, n)
		}
		g.run.Lots = append(g.run.Lots, loyalty.CampaignLot{Event: e.ID, Points: n})
		return nil
	}

	if err := t.AddBonus(g.Line, n); err != nil {
		return err
	}

	t.NoteGift(g.campaign.ID, g.Line, n)
	// several campaigns may change the purchase; its state is written once, after all of them
	g.TellLater(e, t)
	return nil
}

// campaignOrigin are the attributes of the other events that a campaign causes.
type campaignOrigin struct {
	Campaign string `json:"campaign"`
}

// label puts a label on the customer through a profile event. The event carries all their labels,
// because profile replaces the list.
func (g *gift) label(label string) error {
	p := &g.Customer.Profile
	if slices.Contains(p.Labels, label) {
		return nil
	}
	// a new list: the guard compares with the old one
	labels := append(slices.Clip(p.Labels), label)
	personal := map[string]json.RawMessage{"labels": loyalty.JSON(labels)}
	if _, err := g.DeriveSealed(g.cause, "profile", campaignOrigin{g.campaign.ID}, personal); err != nil {
		return err
	}
	p.Labels, g.Customer.UpdatedAt, g.given, g.run.Stays = labels, g.Now, true, true
	g.gave.Labels++
	return nil
}

// campaignCoupon are the attributes of a coupon_create made by a campaign.
type campaignCoupon struct {
	Code     string `json:"code"`
	Pool     string `json:"pool,omitempty"`
	Campaign string `json:"campaign"`
}

// coupon gives a coupon by a coupon_create.
func (g *gift) coupon(f *Effect) error {
	before, last := len(g.Events()), g.Customer.LastEvent
	e := g.Derive(g.cause, "coupon_create", campaignOrigin{g.campaign.ID})
	c, err := coupon.Issue(g.Run, e, coupon.CouponSource{Pool: f.Pool, Template: f.Coupon})
	if errors.Is(err, loyalty.ErrPoolEmpty) || errors.Is(err, loyalty.ErrPatternSpent) {
		g.Unrecord(before, last) // e, which no other event refers to
		g.missed("reason.pool_has_no_code", map[string]any{"pool": f.Pool})
		return nil
	}

	if err != nil {
		return err
	}

	e.Data, g.given = loyalty.JSON(campaignCoupon{c.Code, c.Pool, g.campaign.ID}), true
	g.gave.Coupons++
	if g.campaign.Refunds == refundsPoints {
		g.run.Stays = true
		return nil
	}

	g.run.Coupons = append(g.run.Coupons, loyalty.GivenCoupon{Code: c.Code, Event: e.ID})
	return nil
}

// tier puts the customer into a tier.
func (g *gift) tier(id string) error {
	// a customer who is already in the tier gets nothing, and no event is written
	before := len(g.Events())
	if err := tier.Change(g.Run, g.cause, tier.Find(g.Programme, id), time.Time{}); err != nil {
		return err
	}
	if len(g.Events()) > before {
		g.given, g.run.Stays = true, true
		g.gave.Tiers++
	}
	return nil
}

// challenge moves a challenge forward.
func (g *gift) challenge(f *Effect) error {
	c := challenge.Challenges.Of(g.Programme)[f.Challenge]
	moved, err := challenge.Advance(g.Run, g.cause, c, f.Amount)
	if moved {
		g.given = true
		// a challenge that takes progress back on a refund does so by the counts of its cause
		g.run.Stays = g.run.Stays || c.Refunds == challenge.RefundsKeep
		g.gave.Challenge += f.Amount
	}
	return err
}
