package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

type changedCoupon = loyalty.Changed[loyalty.Coupon]

// couponTable holds coupons.
var couponTable = table[loyalty.Coupon]{name: "coupons", fields: []field[loyalty.Coupon]{
	{"id", "uuid", func(c *loyalty.Coupon) any { return (*UUID)(&c.ID) }},
	{"code", "text", func(c *loyalty.Coupon) any { return (*plain)(&c.Code) }},
	{"created_at", "bigint", func(c *loyalty.Coupon) any { return (*Millis)(&c.CreatedAt) }},
	{"state", "text", func(c *loyalty.Coupon) any { return (*plain)(&c.State) }},
	{"customer_id", "uuid", func(c *loyalty.Coupon) any { return (*UUID)(&c.Customer) }},
	{"type", "text", func(c *loyalty.Coupon) any { return (*plain)(&c.Type) }},
	{"value", "bigint", func(c *loyalty.Coupon) any { return (*number)(&c.Value) }},
	{"balance", "bigint", func(c *loyalty.Coupon) any { return (*number)(&c.Balance) }},
	{"currency", "text", func(c *loyalty.Coupon) any { return (*plain)(&c.Currency) }},
	{"name", "text", func(c *loyalty.Coupon) any { return documentIn(&c.Name) }},
	{"pool", "text", func(c *loyalty.Coupon) any { return (*Text)(&c.Pool) }},
	{"reward", "text", func(c *loyalty.Coupon) any { return (*Text)(&c.Reward) }},
	{"cost", "bigint", func(c *loyalty.Coupon) any { return (*number)(&c.Cost) }},
	{"stores", "text", func(c *loyalty.Coupon) any { return documentIn(&c.Stores) }},
	{"products", "text", func(c *loyalty.Coupon) any { return documentIn(&c.Products) }},
	{"claimed_at", "bigint", func(c *loyalty.Coupon) any { return (*Millis)(&c.ClaimedAt) }},
	{"redeemed_at", "bigint", func(c *loyalty.Coupon) any { return (*Millis)(&c.RedeemedAt) }},
	{"expires_at", "bigint", func(c *loyalty.Coupon) any { return (*Millis)(&c.ExpiresAt) }},
	{"version", "bigint", func(c *loyalty.Coupon) any { return (*number)(&c.Version) }},
	{"given", "uuid", func(c *loyalty.Coupon) any { return (*UUID)(&c.Given) }},
	{"voided", "boolean", func(c *loyalty.Coupon) any { return (*flag)(&c.Voided) }},
	{"uses", "text", func(c *loyalty.Coupon) any { return documentIn(&c.Uses) }},
}}

// couponRead reads coupons as k, with the customer who owns the holder's data now.
var couponRead = couponTable.of("k", "customer_id", "COALESCE(h.merged_into, k.customer_id)")

var (
	insertCoupons = couponTable.inserts()
	updateCoupons = guards(`UPDATE coupons AS k SET `+couponTable.set("id", "code", "created_at")+` FROM v WHERE k.id = v.id AND k.version = v.was`, append(
		through(couponTable.fields, func(c *changedCoupon) *loyalty.Coupon { return &c.After }),
		field[changedCoupon]{"was", "bigint", func(c *changedCoupon) any { return (*number)(&c.Before.Version) }})...)
)
