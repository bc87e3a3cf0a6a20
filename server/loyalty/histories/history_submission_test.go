package histories_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// submission writes an event as an integrator would.
func (h *chronicle) submission(t require.TestingT, e said) loyalty.Submission {
	d := map[string]any{}
	put := func(name, value string) {
		if value != "" {
			d[name] = value
		}
	}

	put("transaction_id", h.ownOr(e.transaction))
	put("email", h.ownOr(e.email))
	put("target", h.ownOr(e.target))
	put("referrer", h.ownOr(e.referrer))
	if !e.effective.IsZero() {
		d["effective_timestamp"] = e.effective.Format(time.RFC3339)
	}

	things := map[string]string{
		"reward_claim": "reward", "reward_transfer": "reward", "coupon_transfer": "reward_id", "contest_enter": "contest_id", "contest_entry_revoke": "contest_id",
		"offer_claim": "offer", "offer_redeem": "offer", "offer_unredeem": "offer", "challenge_reset": "challenge",
		"quiz_answer": "quiz", "profile_answer": "flow", "prize_wheel_spin": "wheel", "tier_change": "tier",
		"treasure_found": "treasure_id", "offline_treasure_found": "treasure_id", "offline_treasure_code_found": "treasure_id",
	}

	put(things[e.action], h.ownOr(e.thing))
	switch e.action {
	case "subscribe":
		d["handler"] = "h"
	case "profile":
		d["opt_in"] = e.optIn
	case "visit", "video":
		d["url"] = "https://shop.test/"
	case "checkout", "checkout_update":
		h.writePurchase(d, e)
	case "partial_refund":
		d["amount"] = amount(e.total)
	case "refund_item":
		d["product_id"] = e.product
	case "merge":
		d = map[string]any{"source": h.own(e.target)}
	case "contest_entry_revoke":
		d["refund_points"] = e.flag
	case "offline_treasure_code_found":
		d["code"] = e.code
	case "coupon_create":
		d["value"], d["type"] = amount(e.total), strings.ReplaceAll(e.kind, "_", " ")
		if e.kind == loyalty.CouponGiftCard {
			d["type"] = e.kind
		}
		if e.points != nil && e.total == 50_000 {
			delete(d, "type") // the amount tells it
		}
		put("product", e.product)

	case "reward_revoke", "pending_validate", "pending_invalidate":
		d["event"] = h.recorded[e.ref].String()
	case "reward_redeem":
		d["claim"] = h.recorded[e.ref].String()
	case "quiz_answer":
		d["answer"] = e.code
	case "profile_answer":
		d["question"], d["answer"] = e.code, "tea"
	case "review":
		d["item_id"] = "p"
	}

	switch e.action {
	case "coupon", "coupon_create":
		put("code", h.ownOr(e.code))
	case "coupon_redeem", "coupon_unredeem", "coupon_invalidate", "unassign_coupon", "coupon_transfer":
		put("code", strings.ToLower(h.ownOr(e.code))) // it is found in any letters
	}

	if !e.expires.IsZero() {
		d[map[string]string{"coupon": "expiration_date", "coupon_create": "expdate", "tier_change": "expdate"}[e.action]] = e.expires.Format(time.RFC3339)
	}

	if e.points != nil {
		switch e.action {
		case "checkout", "checkout_update":
			d["points_burned"] = *e.points
		case "refund_item":
			d["quantity"] = *e.points
		case "contest_enter", "contest_entry_revoke":
			d["count"] = *e.points
		case "coupon", "coupon_create", "coupon_redeem":
			d["amount"] = amount(*e.points)
		default:
			d["points"] = *e.points
		}
	}

	sub := loyaltytest.Event(h.own(e.customer), e.action, string(marshaled(d)))
	sub.Guest, sub.Operation = e.guest, e.operation()
	return sub
}

func amount(n int64) json.Number {
	return json.Number(new(big.Rat).SetFrac64(n, 10_000).FloatString(4))
}

func (h *chronicle) writePurchase(d map[string]any, e said) {
	d["total"] = amount(e.total)
	if e.rewarded != nil {
		d["points_rewarded"] = *e.rewarded
	}
	if e.auto != nil {
		d["auto_accept"] = e.auto.Format(time.RFC3339)
	}
	if e.removeAuto {
		d["auto_accept"] = ""
	}

	names := func(list []string) (all []string) {
		for _, name := range list {
			all = append(all, h.own(name))
		}
		return all
	}

	if len(e.coupons) > 0 {
		typed := names(e.coupons)
		for i := range typed {
			typed[i] = strings.ToUpper(typed[i])
		}
		d["coupons"] = typed
	}

	if len(e.offers) > 0 {
		d["offers"] = names(e.offers)
	}
	if !e.hasItems {
		return
	}

	items := make([]map[string]any, len(e.items))
	for i, l := range e.items {
		items[i] = map[string]any{
			"product_id": l.product, "product_name": "n", "product_url": "https://shop.test/p", "quantity": l.quantity, "subtotal": amount(l.subtotal),
		}
		if l.rewarded != nil {
			items[i]["points_rewarded"] = *l.rewarded
		}
	}

	d["items"] = items
}
