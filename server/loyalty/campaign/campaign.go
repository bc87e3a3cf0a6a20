// Package campaign gives customers something when an event happens. It has the triggers,
// conditions and effects of campaigns, their previews, and backtests on past events.
package campaign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// The states of a campaign. Only an active one runs.
const (
	CampaignDraft  = "draft"
	CampaignActive = "active"
	CampaignPaused = "paused"
)

// What is taken back of a campaign's gifts once the purchase that brought them is undone.
const (
	refundsAll    = "all"    // everything that is unused
	refundsPoints = "points" // points only
)

// Campaign gives something when an action happens and its condition holds
// (automation/campaign).
type Campaign struct {
	ID        string   `json:"-"`
	Name      string   `json:"name"`
	Trigger   string   `json:"trigger"` // an action
	Condition string   `json:"condition"`
	Effects   []Effect `json:"effects"`
	Priority  int      `json:"priority"` // the highest runs first
	Limit     struct {
		PerCustomer *int64 `json:"per_customer"` // how often it gives one customer something; nil: no limit
		Total       *int64 `json:"total"`        // how often it gives in all; nil: no limit
	} `json:"limit"`
	Refunds string               `json:"refunds"` // refundsAll (also when empty) or refundsPoints
	Status  string               `json:"status"`  // draft (also when empty), active or paused
	Holds   *condition.Condition `json:"-"`
	loyalty.Dates
	CreatedAt time.Time `json:"-"`
}

// The types of an effect.
const (
	EffectPoints    = "points"
	EffectMultiply  = "multiply"
	EffectCoupon    = "coupon"
	EffectLabel     = "label"
	EffectTier      = "tier"
	EffectChallenge = "challenge"
)

var effectTypes = strings.Join([]string{EffectPoints, EffectMultiply, EffectCoupon, EffectLabel,
	EffectTier, EffectChallenge}, ", ")

// Effect is what a campaign gives.
type Effect struct {
	Type      string                 `json:"type"`
	Points    int64                  `json:"points"`
	Factor    money.Rate             `json:"factor"` // multiplies the base points: 2 doubles them
	Coupon    *coupon.CouponTemplate `json:"coupon"`
	Pool      string                 `json:"pool"`
	Label     string                 `json:"label"`
	Tier      string                 `json:"tier"`
	Challenge string                 `json:"challenge"`
	Amount    int64                  `json:"amount"` // by which the challenge moves; 0: 1

	extra decimal.Decimal // Factor − 1: what the campaign adds for each base point
}

// Campaigns give something when an event happens (module automation).
var Campaigns = &programme.EntityType[*Campaign]{Type: "automation/campaign", Module: programme.ModuleAutomation,
	Read: readCampaign, Index: orderCampaigns}

// campaignOrder has the campaigns in the order in which they run; triggered has the active ones by trigger.
var (
	campaignOrder programme.Slot[[]*Campaign]
	triggered     programme.Slot[map[string][]*Campaign]
)

func readCampaign(p *programme.Programme, e loyalty.Entity) (*Campaign, error) {
	c := &Campaign{ID: e.ID, CreatedAt: e.CreatedAt}
	err := programme.Decode(e, c)
	if err != nil {
		return nil, err
	}
	if c.Holds, err = programme.CompileCondition("condition", c.Condition); err != nil {
		return nil, err
	}

	c.Status = cmp.Or(c.Status, CampaignDraft)
	if err := c.check(p); err != nil {
		return nil, err
	}

	for i := range c.Effects {
		if err := c.Effects[i].check(p, fmt.Sprintf("effects[%d]", i)); err != nil {
			return nil, err
		}
	}

	return c, programme.CheckDates(c.Dates)
}

// Draft compiles a campaign that is not stored, as a version of one with this id. It
// fails as storing it would, naming the field.
func Draft(p *programme.Programme, id string, data json.RawMessage) (*Campaign, error) {
	return readCampaign(p, loyalty.Entity{ID: id, Data: programme.Dated(data, p.Location)})
}

// StatusAt is the campaign's status at an instant: draft or paused, or else scheduled, active or
// completed according to its dates. It is computed, so no job has to switch campaigns on and off.
func (c *Campaign) StatusAt(at time.Time) string {
	if c.Status != CampaignActive {
		return c.Status
	}
	return c.Dates.Status(at)
}

// check refuses a trigger that can never occur, and a condition about a purchase's line on a trigger that has no lines:
// such a campaign would silently give nothing.
func (c *Campaign) check(p *programme.Programme) error {
	switch {
	case !p.Happens(c.Trigger):
		return programme.Fault("trigger", "action_missing", map[string]any{"action": c.Trigger})
	case c.Holds.Uses("item") && c.Trigger != programme.LineAction:
		return programme.Fault("condition",
			"condition_trigger", map[string]any{"fact": "item", "trigger": programme.LineAction})
	}
	return nil
}

// check verifies what the schema cannot: that the entities which an effect names are in force.
func (f *Effect) check(p *programme.Programme, at string) error {
	switch f.Type {
	case EffectPoints:
		if f.Points <= 0 {
			return programme.Fault(at+".points", loyalty.ErrPropertyEmpty.Name, nil)
		}

	case EffectMultiply:
		one := decimal.NewFromInt(1)
		factor, err := decimal.NewFromString(f.Factor.String())
		if err != nil || factor.LessThan(one) {
			return programme.Fault(at+".factor", "too_small", map[string]any{"limit": 1})
		}
		f.extra = factor.Sub(one)

	case EffectCoupon:
		return f.checkCoupon(p, at)
	case EffectLabel:
		if f.Label = strings.TrimSpace(f.Label); f.Label == "" {
			return programme.Fault(at+".label", loyalty.ErrPropertyEmpty.Name, nil)
		}

	case EffectTier:
		if tier.Find(p, f.Tier) == nil {
			return programme.Missing(at+".tier", tier.Tiers.Type, f.Tier)
		}

	case EffectChallenge:
		if challenge.Challenges.Of(p)[f.Challenge] == nil {
			return programme.Missing(at+".challenge", challenge.Challenges.Type, f.Challenge)
		}
		f.Amount = cmp.Or(f.Amount, 1)

	default:
		return programme.Fault(at+".type", "must_be_one_of", map[string]any{"values": effectTypes})
	}

	return nil
}

// checkCoupon refuses an effect with both a pool and a template, or neither: a coupon comes from exactly one of them.
func (f *Effect) checkCoupon(p *programme.Programme, at string) error {
	switch {
	case f.Pool == "" && f.Coupon == nil:
		return programme.Fault(at+".coupon", loyalty.ErrPropertyEmpty.Name, nil)
	case f.Pool != "" && f.Coupon != nil:
		return programme.Fault(at+".coupon", "not_together", map[string]any{"other": "pool"})
	case f.Coupon != nil:
		return f.Coupon.Check(at + ".coupon")
	case coupon.Pools.Of(p)[f.Pool] == nil:
		return programme.Missing(at+".pool", coupon.PoolType, f.Pool)
	}
	return nil
}

// orderCampaigns sorts the campaigns into the order in which they run: highest priority first,
// then oldest first. It indexes the active ones by trigger, so that an event costs no more when
// there are many campaigns for other triggers.
func orderCampaigns(p *programme.Programme, all map[string]*Campaign) {
	ordered := slices.SortedFunc(maps.Values(all), func(a, b *Campaign) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	by := map[string][]*Campaign{}
	for _, c := range ordered {
		if c.Status == CampaignActive {
			by[c.Trigger] = append(by[c.Trigger], c)
		}
	}
	campaignOrder.Set(p, ordered)
	triggered.Set(p, by)
}

// InOrder lists the campaigns in the order in which they run.
func InOrder(p *programme.Programme) []*Campaign { return campaignOrder.Of(p) }

// onlyLabels reports whether a campaign gives nothing but labels.
func (c *Campaign) onlyLabels() bool {
	return !slices.ContainsFunc(c.Effects, func(f Effect) bool { return f.Type != EffectLabel })
}

// Find gives the campaign with an id, or nil if there is none or it is archived.
func Find(p *programme.Programme, id string) *Campaign {
	i := slices.IndexFunc(InOrder(p), func(c *Campaign) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return InOrder(p)[i]
}
