package loyalty

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// The types of a reward.
const (
	RewardCoupon   = "coupon"
	RewardDownload = "download"
	RewardPhysical = "physical"
	RewardPoints   = "points"
	RewardCustom   = "custom"
)

// RewardTypes lists them.
var RewardTypes = []string{RewardCoupon, RewardDownload, RewardPhysical, RewardPoints, RewardCustom}

// Reward is something that a customer can claim (rewards/reward).
type Reward struct {
	ID          string          `json:"-"`
	Title       Texts           `json:"title"`
	Description Texts           `json:"description"`
	Image       Image           `json:"image"`
	Type        string          `json:"type"`
	Points      int64           `json:"points"`     // what it costs
	Award       int64           `json:"award"`      // what one of type points gives
	Stock       *int64          `json:"stock"`      // claims in all; nil: no limit
	MaxClaims   *int64          `json:"max_claims"` // of one customer; nil: no limit
	Stores      []string        `json:"stores"`
	Segments    []string        `json:"segments"` // who may claim it: members of any; empty: everybody
	Pool        string          `json:"pool"`     // where its codes come from
	Coupon      *CouponTemplate `json:"coupon"`   // or what codes are made of
	Dates

	// Custom are the attributes of the programme's own, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// Image are the web addresses of a picture in several sizes.
type Image struct {
	Small  string `json:"small"`
	Medium string `json:"medium"`
	Large  string `json:"large"`
}

// source is what the coupons of the reward are made of.
func (r *Reward) source() CouponSource {
	return CouponSource{Pool: r.Pool, Template: r.Coupon, Reward: r.ID}
}

// CouponTemplate is what a coupon is made of when the platform gives one.
type CouponTemplate struct {
	Type      string       `json:"type"`
	Value     money.Amount `json:"value"`
	Currency  string       `json:"currency"`
	Name      Texts        `json:"name"`
	ValidDays int          `json:"valid_days"` // from the day it is given; 0: for ever
	Stores    []string     `json:"stores"`
	Products  []string     `json:"products"`
}

// The sources of a pool's codes.
const (
	PoolUploaded  = "uploaded"
	PoolGenerated = "generated"
)

// Pool gives out codes (coupons/pool): uploaded ones, or generated ones.
type Pool struct {
	ID      string          `json:"-"`
	Name    string          `json:"name"`
	Source  string          `json:"source"`  // uploaded or generated
	Pattern string          `json:"pattern"` // # a digit, @ a letter, * either
	Coupon  *CouponTemplate `json:"coupon"`
	// AutoRedeem says whether a checkout that names one of its codes redeems it; nil:
	// it does.
	AutoRedeem *bool `json:"auto_redeem"`

	codes codePattern
}

// Pools are the sources of codes (module coupons).
var Pools = &EntityType[*Pool]{Type: "coupons/pool", Module: ModuleCoupons, Read: readPool}

func readPool(p *Programme, e Entity) (*Pool, error) {
	pool := &Pool{ID: e.ID}
	if err := decodeEntity(e, pool); err != nil {
		return nil, err
	}
	if pool.Coupon == nil {
		return nil, fieldFault("coupon", ErrPropertyEmpty.Name, nil)
	}
	if pool.Source == PoolGenerated {
		if err := pool.readPattern(); err != nil {
			return nil, err
		}
	}
	return pool, pool.Coupon.check("coupon")
}

// readPattern refuses a pattern whose codes could be guessed or not be addressed.
func (pool *Pool) readPattern() error {
	pool.codes = readPattern(pool.Pattern)
	switch {
	case pool.Pattern == "":
		return fieldFault("pattern", ErrPropertyEmpty.Name, nil)
	case pool.codes.codes() < leastCodes:
		return fieldFault("pattern", "pattern_codes", map[string]any{"limit": int(leastCodes)})
	case CheckName("code", pool.Pattern) != nil:
		return fieldFault("pattern", ErrPropertyInvalid.Name, map[string]any{"reason": "name"})
	}
	return nil
}

// Rewards are what can be claimed (module rewards).
var Rewards = &EntityType[*Reward]{Type: "rewards/reward", Module: ModuleRewards, Read: readReward}

func readReward(p *Programme, e Entity) (*Reward, error) {
	r := &Reward{ID: e.ID, Custom: customOf(e)}
	if err := decodeEntity(e, r); err != nil {
		return nil, err
	}
	if r.Pool != "" && Pools.Of(p)[r.Pool] == nil {
		return nil, missing("pool", "coupons/pool", r.Pool)
	}
	if err := p.knownSegments(r.Segments); err != nil {
		return nil, err
	}
	if err := r.checkGift(); err != nil {
		return nil, err
	}
	return r, r.check()
}

// checkGift holds what a claim gives against the type: a coupon comes from a pool
// or a template, points need an award, and the other types take none of these.
func (r *Reward) checkGift() error {
	coupon, award := r.Type == RewardCoupon, r.Type == RewardPoints
	switch {
	case coupon && r.Pool == "" && r.Coupon == nil:
		return fieldFault("coupon", ErrPropertyEmpty.Name, nil)
	case coupon && r.Pool != "" && r.Coupon != nil:
		return fieldFault("coupon", "not_together", map[string]any{"other": "pool"})
	case !coupon && r.Pool != "":
		return unfit("pool", "type", r.Type)
	case !coupon && r.Coupon != nil:
		return unfit("coupon", "type", r.Type)
	case award && r.Award <= 0:
		return fieldFault("award", ErrPropertyEmpty.Name, nil)
	case !award && r.Award != 0:
		return unfit("award", "type", r.Type)
	case r.Coupon != nil:
		return r.Coupon.check("coupon")
	}
	return nil
}
