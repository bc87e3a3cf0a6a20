// Package coupon handles coupons: the pools and patterns that their codes come from, and how they
// are given, redeemed, given back and passed on.
package coupon

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// PoolType is the entity type of a pool.
const PoolType = "coupons/pool"

// CouponTemplate holds the properties of a coupon that the platform gives.
type CouponTemplate struct {
	Type      string        `json:"type"`
	Value     money.Amount  `json:"value"`
	Currency  string        `json:"currency"`
	Name      loyalty.Texts `json:"name"`
	ValidDays int           `json:"valid_days"` // from the day on which it is given; 0: for ever
	Stores    []string      `json:"stores"`
	Products  []string      `json:"products"`
}

// Where a pool's codes come from.
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
	// AutoRedeem reports whether a checkout that names one of its codes redeems it; nil means that
	// it does.
	AutoRedeem *bool `json:"auto_redeem"`

	Codes codePattern `json:"-"`
}

// Pools are the sources of codes (module coupons).
var Pools = &programme.EntityType[*Pool]{Type: PoolType, Module: programme.ModuleCoupons, Read: readPool}

func readPool(p *programme.Programme, e loyalty.Entity) (*Pool, error) {
	pool := &Pool{ID: e.ID}
	if err := programme.Decode(e, pool); err != nil {
		return nil, err
	}
	if pool.Coupon == nil {
		return nil, programme.Fault("coupon", loyalty.ErrPropertyEmpty.Name, nil)
	}
	if pool.Source == PoolGenerated {
		if err := pool.readPattern(); err != nil {
			return nil, err
		}
	}
	return pool, pool.Coupon.Check("coupon")
}

// readPattern refuses a pattern whose codes could be guessed or could not be part of a URL.
func (pool *Pool) readPattern() error {
	pool.Codes = readPattern(pool.Pattern)
	switch {
	case pool.Pattern == "":
		return programme.Fault("pattern", loyalty.ErrPropertyEmpty.Name, nil)
	case pool.Codes.Codes() < LeastCodes:
		return programme.Fault("pattern", "pattern_codes", map[string]any{"limit": int(LeastCodes)})
	case loyalty.CheckName("code", pool.Pattern) != nil:
		return programme.Fault("pattern", loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": "name"})
	}
	return nil
}
