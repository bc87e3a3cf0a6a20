package histories_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// oneOf picks one of several.
func oneOf[T any](c *town, list ...T) T { return list[c.dice.IntN(len(list))] }

// chance comes true so many times of a hundred.
func (c *town) chance(percent int) bool { return c.dice.IntN(100) < percent }

// somebody draws a customer of the town, rarely one who left it.
func (c *town) somebody() string { return oneOf(c, c.people...) }

type attributes = map[string]any

// townActions are the submittable actions and the operations, each as often as it
// stands here.
var townActions = []string{
	"checkout", "checkout", "checkout", "checkout", "checkout", "checkout", "checkout_update", "checkout_update", "checkout_accept", "checkout_accept",
	"checkout_reject", "partial_refund", "partial_refund", "refund", "refund_item", "refund_item", "checkout_claim", "checkout_claim",
	"point_add", "point_add", "point_add", "point_sub", "point_spend", "point_spend", "point_unspend", "reserve_points", "reserve_points", "release_points",
	"visit", "visit", "visit", "video", "video", "review", "review_submit", "tasting", "subscribe", "profile", "suspend", "unsuspend", "unsuspend", "opt_out",
	"coupon", "coupon_create", "coupon_create", "coupon_redeem", "coupon_redeem", "coupon_redeem", "coupon_unredeem", "coupon_transfer", "coupon_transfer",
	"unassign_coupon", "coupon_invalidate", "reward_claim", "reward_claim", "reward_claim", "reward_claim", "reward_revoke", "reward_transfer",
	"offer_claim", "offer_redeem", "offer_redeem", "offer_unredeem", "challenge_reset", "contest_enter", "contest_enter", "contest_entry_revoke",
	"prize_wheel_spin", "prize_wheel_spin", "quiz_answer", "profile_answer", "treasure_found", "offline_treasure_found", "offline_treasure_code_found",
	"pending_validate", "pending_validate", "pending_validate", "pending_invalidate", "pending_expired", "tier_change", "tier_recalculation",
	"verify_customer", "visual_search", "merge",
}

// townOperations are those that only an operation can cause.
var townOperations = map[string]bool{
	"reward_claim": true, "offer_claim": true, "contest_enter": true, "prize_wheel_spin": true, "quiz_answer": true, "profile_answer": true,
	"verify_customer": true, "visual_search": true, "merge": true, "tier_change": true, "tier_recalculation": true,
}

// draw makes one submission.
func (c *town) draw() loyalty.Submission {
	sub, d := c.about()
	if c.few {
		c.mingle(&sub, d)
	}
	sub.Data, _ = json.Marshal(d)
	return sub
}

// about draws an action and its attributes.
func (c *town) about() (sub loyalty.Submission, d attributes) {
	if len(c.people) < 5 || c.chance(4) {
		return c.newcomer()
	}

	actions := townActions
	if c.few {
		actions = fewActions
	}

	action := oneOf(c, actions...)
	if rare[action] && !c.few && c.chance(75) {
		action = "visit"
	}

	sub = loyalty.Submission{Customer: c.somebody(), Action: action, Operation: townOperations[action]}
	d = attributes{}
	switch action {
	case "checkout":
		c.buy(&sub, d)
	case "checkout_update", "checkout_accept", "checkout_reject", "partial_refund", "refund", "refund_item", "checkout_claim", "release_points":
		c.settlePurchase(&sub, d)
	case "coupon_redeem", "coupon_unredeem", "coupon_transfer", "unassign_coupon", "coupon_invalidate":
		c.useCode(&sub, d)
	case "reward_revoke", "reward_transfer", "pending_validate", "pending_invalidate":
		c.undo(&sub, d)
	default:
		c.plain(action, d)
	}

	if late[action] && c.chance(12) {
		d["effective_timestamp"] = c.Clock().Add(-time.Duration(c.dice.IntN(9*24)) * time.Hour).Format(time.RFC3339)
	}

	return sub, d
}

// rare are actions that end things: too many of them, and little goes on.
var rare = map[string]bool{"opt_out": true, "suspend": true, "coupon_invalidate": true, "merge": true}

// late are actions that are now and then dated earlier.
var late = map[string]bool{"point_add": true, "point_spend": true, "visit": true, "checkout": true, "refund": true, "coupon_redeem": true}

// newcomer enrols a new customer; some are brought by a friend.
func (c *town) newcomer() (sub loyalty.Submission, d attributes) {
	c.opened++
	name := fmt.Sprint("member-", c.opened)
	d = attributes{"email": name + "@shop.test"}
	if len(c.people) > 0 && c.chance(30) {
		d["referrer"] = c.somebody()
	}
	c.people = append(c.people, name)
	return loyalty.Submission{Customer: name, Action: "opt_in"}, d
}

func (c *town) buy(sub *loyalty.Submission, d attributes) {
	c.opened++
	d["transaction_id"] = fmt.Sprint("T-", c.opened)
	c.fill(d)
	switch {
	case c.chance(12):
		sub.Guest = true
		c.guests++
		sub.Customer = fmt.Sprint("guest-", c.guests)
	case c.chance(20) && len(c.codes) > 0:
		code := oneOf(c, c.codes...)
		sub.Customer, d["coupons"] = code.customer, []string{code.id}
	case c.chance(20):
		d["points_burned"] = 1 + c.dice.IntN(15)
	case c.chance(10):
		d["offers"] = []string{"coffee"}
	}

	c.purchases = append(c.purchases, bought{d["transaction_id"].(string), sub.Customer})
}

// fill makes lines and a total.
func (c *town) fill(d attributes) {
	items := make([]attributes, c.dice.IntN(4))
	total := 0
	for i := range items {
		price := 1 + c.dice.IntN(60)
		total += price
		items[i] = attributes{
			"product_id": oneOf(c, "p-1", "p-2"), "product_name": "Beans", "product_url": "https://shop.test/p", "quantity": 1 + c.dice.IntN(3), "subtotal": price,
		}
	}
	d["total"] = total + c.dice.IntN(40)
	if len(items) > 0 {
		d["items"] = items
	}
}

func (c *town) settlePurchase(sub *loyalty.Submission, d attributes) {
	d["transaction_id"] = "T-0"
	from := c.purchases
	if sub.Action == "release_points" {
		from = c.holds
	}

	if len(from) > 0 {
		p := oneOf(c, from...)
		d["transaction_id"] = p.name
		if sub.Action != "checkout_claim" {
			sub.Customer = p.customer
		}
	}

	switch sub.Action {
	case "checkout_update":
		c.fill(d)
		if c.chance(30) {
			d["points_burned"] = c.dice.IntN(12)
		}
		if c.chance(15) {
			d["items"] = []attributes{}
		}

	case "partial_refund":
		d["amount"] = 1 + c.dice.IntN(30)
	case "refund_item":
		d["product_id"] = oneOf(c, "p-1", "p-2")
		if c.chance(70) {
			d["quantity"] = 1
		}
	}
}

func (c *town) useCode(sub *loyalty.Submission, d attributes) {
	d["code"] = "NONE"
	if len(c.codes) > 0 {
		code := oneOf(c, c.codes...)
		d["code"], sub.Customer = code.id, code.customer
	}

	switch {
	case sub.Action == "coupon_transfer" && c.chance(25):
		c.opened++
		d["email"] = fmt.Sprintf("friend-%d@shop.test", c.opened)
	case sub.Action == "coupon_transfer":
		d["target"] = c.somebody()
	case sub.Action == "coupon_redeem" && c.chance(40):
		d["amount"] = c.dice.IntN(8)
	}
}

func (c *town) undo(sub *loyalty.Submission, d attributes) {
	from := c.held
	if strings.HasPrefix(sub.Action, "reward_") {
		from = c.claims
	}

	one := had{"00000000-0000-7000-8000-000000000000", sub.Customer, "five"}
	if len(from) > 0 {
		one = oneOf(c, from...)
	}

	sub.Customer = one.customer
	if sub.Action == "reward_transfer" {
		d["target"], d["reward"] = c.somebody(), one.reward
	} else {
		d["event"] = one.id
	}
}

// plain fills the attributes that no earlier event tells.
func (c *town) plain(action string, d attributes) {
	switch action {
	case "point_add", "point_sub", "point_spend", "point_unspend", "pending_expired":
		d["points"] = 1 + c.dice.IntN(30)
	case "reserve_points":
		c.opened++
		d["transaction_id"], d["points"] = fmt.Sprint("R-", c.opened), 1+c.dice.IntN(10)
	case "visit":
		d["url"], d["type"] = "https://shop.test/", oneOf(c, "landing", "page")
	case "video":
		d["url"], d["points"] = "https://shop.test/v", 1+c.dice.IntN(4)
	case "review":
		d["item_id"] = "p-1"
	case "review_submit":
		d["item"], d["review"] = "p-1", "Good"
	case "tasting":
		d["bean"] = "arabica"
	case "subscribe":
		d["handler"] = "reader"
	case "profile":
		d["labels"] = []string{oneOf(c, "vip", "new")}
	case "coupon", "coupon_create":
		c.opened++
		d["code"] = fmt.Sprint("C-", c.opened)
		if action == "coupon" {
			d["amount"] = 5
		} else if d["value"] = 1 + c.dice.IntN(20); c.chance(40) {
			d["type"] = "gift_card"
		}

	case "reward_claim":
		d["reward"] = oneOf(c, "five", "card", "bonus", "mug")
	case "offer_claim", "offer_redeem", "offer_unredeem":
		d["offer"] = "coffee"
	case "challenge_reset":
		d["challenge"] = "visits"
	case "contest_enter":
		d["contest_id"], d["count"] = "bicycle", 1+c.dice.IntN(2)
	case "contest_entry_revoke":
		d["contest_id"], d["refund_points"] = "bicycle", c.chance(50)
	case "prize_wheel_spin":
		d["wheel"] = "daily"
	case "quiz_answer":
		d["quiz"], d["answer"] = "origin", oneOf(c, "a", "b")
	case "profile_answer":
		d["flow"], d["question"], d["answer"] = "taste", "drink", "tea"
	case "treasure_found":
		d["treasure_id"] = "bean"
	case "offline_treasure_found":
		d["treasure_id"] = "spoon"
	case "offline_treasure_code_found":
		d["treasure_id"], d["code"] = "jar", "JAR-77"
	case "tier_change":
		d["tier"] = oneOf(c, "silver", "gold", "big")
	case "tier_recalculation":
		d["structure"] = "club"
	case "visual_search":
		d["bounds"] = []attributes{{"label": "cup"}}
	case "merge":
		d["source"] = c.somebody()
	}
}
