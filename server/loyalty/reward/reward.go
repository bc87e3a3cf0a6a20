// Package reward has the rewards that customers claim for points, and the life of a claim: handed
// out, passed on or revoked.
package reward

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// The types of a reward.
const (
	RewardCoupon   = "coupon"
	RewardDownload = "download"
	RewardPhysical = "physical"
	RewardPoints   = "points"
	RewardCustom   = "custom"
)

// RewardTypes lists the types of a reward.
var RewardTypes = []string{RewardCoupon, RewardDownload, RewardPhysical, RewardPoints, RewardCustom}

// Reward is something that a customer can claim (rewards/reward).
type Reward struct {
	ID          string                 `json:"-"`
	Title       loyalty.Texts          `json:"title"`
	Description loyalty.Texts          `json:"description"`
	Image       Image                  `json:"image"`
	Type        string                 `json:"type"`
	Points      int64                  `json:"points"`     // what it costs
	Award       int64                  `json:"award"`      // what one of type points gives
	Stock       *int64                 `json:"stock"`      // claims in all; nil: no limit
	MaxClaims   *int64                 `json:"max_claims"` // of one customer; nil: no limit
	Stores      []string               `json:"stores"`
	Segments    []string               `json:"segments"` // members of any of these may claim it; empty: every customer
	Pool        string                 `json:"pool"`     // the source of its codes
	Coupon      *coupon.CouponTemplate `json:"coupon"`   // or the template of its coupons
	loyalty.Dates

	// Custom holds the custom attributes, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// Image has the URLs of a picture in several sizes.
type Image struct {
	Small  string `json:"small"`
	Medium string `json:"medium"`
	Large  string `json:"large"`
}

// Source is what the coupons of the reward are made from.
func (r *Reward) Source() coupon.CouponSource {
	return coupon.CouponSource{Pool: r.Pool, Template: r.Coupon, Reward: r.ID}
}

// Rewards are given for points (module rewards).
var Rewards = &programme.EntityType[*Reward]{Type: loyalty.RewardType,
	Module: programme.ModuleRewards, Read: readReward}

func readReward(p *programme.Programme, e loyalty.Entity) (*Reward, error) {
	r := &Reward{ID: e.ID, Custom: programme.CustomFields(e)}
	if err := programme.Decode(e, r); err != nil {
		return nil, err
	}
	// refused here instead of at the claim, because a customer cannot correct it
	if r.Pool != "" && coupon.Pools.Of(p)[r.Pool] == nil {
		return nil, programme.Missing("pool", coupon.PoolType, r.Pool)
	}
	if err := p.KnownSegments(r.Segments); err != nil {
		return nil, err
	}
	if err := r.checkGift(); err != nil {
		return nil, err
	}

	return r, programme.CheckDates(r.Dates)
}

// checkGift checks that the gift fits the type: a coupon comes from a pool or a template, points need an award, and the
// other types take none of these.
func (r *Reward) checkGift() error {
	coupon, award := r.Type == RewardCoupon, r.Type == RewardPoints
	switch {
	case coupon && r.Pool == "" && r.Coupon == nil:
		return programme.Fault("coupon", loyalty.ErrPropertyEmpty.Name, nil)
		// with two sources it would be open which one a claim takes
	case coupon && r.Pool != "" && r.Coupon != nil:
		return programme.Fault("coupon", "not_together", map[string]any{"other": "pool"})
	case !coupon && r.Pool != "":
		return programme.NotWith("pool", "type", r.Type)
	case !coupon && r.Coupon != nil:
		return programme.NotWith("coupon", "type", r.Type)
	case award && r.Award <= 0:
		return programme.Fault("award", loyalty.ErrPropertyEmpty.Name, nil)
	case !award && r.Award != 0:
		return programme.NotWith("award", "type", r.Type)
	case r.Coupon != nil:
		return r.Coupon.Check("coupon")
	}

	return nil
}
