package programme

import (
	"encoding/json"
)

// The moments at which a referral pays.
const (
	PayOnCheckout = "first_checkout"
	PayOnOptIn    = "opt_in"
)

// Referral is the configuration of friend_referral.
type Referral struct {
	ReferrerPoints int    `json:"referrer_points"`
	FriendPoints   int    `json:"friend_points"`
	PayOn          string `json:"pay_on"`
}

// maxReferral bounds what a referral gives, in points.
const maxReferral = 1_000_000_000

func readReferral(raw json.RawMessage) (any, error) {
	c := Referral{PayOn: PayOnCheckout}
	o := openObject(raw, "config")
	o.count("referrer_points", &c.ReferrerPoints, 0, maxReferral)
	o.count("friend_points", &c.FriendPoints, 0, maxReferral)
	o.choice("pay_on", &c.PayOn, PayOnCheckout, PayOnOptIn)
	return c, o.done()
}

func (c Referral) compile(p *Programme) { p.Referral = c }
