package histories_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

var (
	customers = []string{"ada", "ben", "cid", "dan"}
	emails    = []string{"ada@shop.test", "ben@shop.test", "x@shop.test"}
	products  = []string{"p", "q"}
)

// emphasis is what histories are mostly about.
type emphasis struct {
	weights map[string]int // how often each action is drawn where it may well succeed; it is drawn at all if it has one
	coupons int            // so many purchases of a hundred name coupons
	pending bool           // purchases wait for acceptance whenever the configuration allows
}

// everyAction is drawn about as often as it leads somewhere new.
var everyAction = emphasis{coupons: 25, weights: map[string]int{
	"point_add": 10, "point_sub": 3, "point_spend": 8, "point_unspend": 12, "reserve_points": 8, "release_points": 16, "visit": 5, "video": 4,
	"checkout": 24, "checkout_accept": 12, "checkout_reject": 9, "checkout_update": 10, "checkout_claim": 40,
	"partial_refund": 16, "refund": 10, "refund_item": 18,
	"opt_in": 4, "subscribe": 4, "profile": 2, "suspend": 2, "unsuspend": 10, "opt_out": 1, "merge": 3,
	"coupon": 2, "coupon_create": 6, "coupon_redeem": 9, "coupon_unredeem": 14, "coupon_invalidate": 2, "coupon_transfer": 9, "unassign_coupon": 6,
	"reward_claim": 14, "reward_revoke": 9, "reward_transfer": 12, "contest_enter": 8, "contest_entry_revoke": 12,
	"reward_redeem": 9, "quiz_answer": 2, "profile_answer": 3, "prize_wheel_spin": 5, "review": 2, "tier_change": 3,
	"offer_claim": 1, "offer_redeem": 6, "offer_unredeem": 9, "challenge_reset": 2,
	"treasure_found": 2, "offline_treasure_found": 2, "offline_treasure_code_found": 2,
	"pending_validate": 26, "pending_invalidate": 14, "pending_expired": 18,
}}

// mostlyCoupons has few codes pass through all states and many hands: what becomes of a
// code depends on a longer past than anything else.
var mostlyCoupons = emphasis{coupons: 80, pending: true, weights: map[string]int{
	"coupon": 2, "coupon_create": 16, "coupon_redeem": 24, "coupon_unredeem": 12, "coupon_invalidate": 2, "coupon_transfer": 12, "unassign_coupon": 8,
	"checkout": 14, "checkout_accept": 6, "checkout_reject": 8, "refund": 10, "partial_refund": 4, "opt_in": 4, "point_add": 2,
}}

// dice throws a fair one with n sides: rapid's ranges like small numbers too much
// for choices that are equals, its permutations are fair. It still shrinks to 0.
func dice(t *rapid.T, label string, n int) int {
	const sides = 8
	if n > sides {
		return (dice(t, label, (n+sides-1)/sides)*sides + dice(t, label, sides)) % n
	}
	numbers := []int{0, 1, 2, 3, 4, 5, 6, 7}
	return rapid.Permutation(numbers[:n]).Draw(t, label)[0]
}

func pick[T any](t *rapid.T, label string, from []T) T { return from[dice(t, label, len(from))] }

// chance comes true so many times of a hundred.
func chance(t *rapid.T, label string, percent int) bool { return dice(t, label, 100) >= 100-percent }

// liked picks from what is liked, where there is any, and now and then from the
// rest.
func liked[T any](t *rapid.T, label string, from, rest []T) T {
	if len(from) > 0 && (len(rest) == 0 || chance(t, label+" liked", 90)) {
		return pick(t, label, from)
	}
	return pick(t, label, rest)
}

// draw makes one event.
func (h *chronicle) draw(t *rapid.T) said {
	good, rest := h.possible()
	e := said{action: liked(t, "action", good, rest)}
	e.customer = liked(t, "customer", h.fit(e.action), h.known())
	number := func(label string, least, most int64) *int64 { return new(rapid.Int64Range(least, most).Draw(t, label)) }
	if !e.operation() && !strings.HasPrefix(e.action, "pending_") && chance(t, "late", 10) {
		e.effective = h.now.Add(-time.Duration(dice(t, "hours late", 8*24)) * time.Hour).Truncate(time.Second)
	}

	switch e.action {
	case "subscribe", "opt_in", "profile":
		h.drawPerson(t, &e)
	case "visit", "video":
		if chance(t, "with points", 50) {
			e.points = number("points", 1, 30)
		}

	case "point_add":
		e.points = number("points", 1, 120)
	case "point_sub", "point_spend":
		e.points = number("points", 1, 60)
	case "point_unspend":
		e.points = number("points", 1, 20)
	case "reserve_points":
		e.points = number("points", 1, 40)
	case "release_points":
		if chance(t, "some of it", 50) {
			e.points = number("points", 1, 40)
		}

	case "checkout", "checkout_update":
		h.drawPurchase(t, &e)
	case "partial_refund":
		e.total = rapid.OneOf(rapid.Int64Range(-10_000, 10_000), rapid.Int64Range(1, 400_000), rapid.SampledFrom([]int64{333_300, 0, 1, 999_900})).Draw(t, "amount")
	case "refund_item":
		if e.product = pick(t, "product", products); chance(t, "pieces", 70) {
			e.points = number("pieces", 1, 6)
		}

	case "merge":
		e.target = pick(t, "source", h.known())
	default:
		h.drawThing(t, &e)
	}

	e.transaction = h.drawTransaction(t, e)
	return e
}

// possible are the actions that may well succeed for some customer now, and the rest.
func (h *chronicle) possible() (good, rest []string) {
	for _, a := range slices.Sorted(maps.Keys(h.reached.about.weights)) {
		if len(h.fit(a)) > 0 {
			good = append(good, slices.Repeat([]string{a}, h.reached.about.weights[a])...)
		} else {
			rest = append(rest, a)
		}
	}
	return good, rest
}

// known are the names that may be sent: those of members to be, and those that the
// platform gave to customers it began.
func (h *chronicle) known() []string {
	names := slices.Clone(customers)
	for _, name := range slices.Sorted(maps.Keys(h.world.names)) {
		if strings.HasPrefix(name, "$") && h.made[name] != "" {
			names = append(names, name)
		}
	}
	return names
}

// fit are the customers with whom an action may well succeed.
func (h *chronicle) fit(action string) (names []string) {
	if m := plainModules[action]; m != "" && !h.world.rules.on(m) {
		return nil
	}
	for _, name := range h.known() {
		i, known := h.world.names[name]
		switch {
		case !known && (action == "opt_in" || action == "subscribe"):
			names = append(names, name)
		case known && h.suits(action, h.world.survivor(i)):
			names = append(names, name)
		}
	}
	return names
}

func (h *chronicle) suits(action string, c *plainCustomer) bool {
	w := h.world
	bought := func(states ...loyalty.TransactionState) bool { return len(c.bought(states...)) > 0 }
	coupons := func(states ...loyalty.CouponState) bool {
		for _, k := range w.coupons {
			if k.owner == c.index && slices.Contains(states, k.state) {
				return true
			}
		}
		return false
	}

	claims := func() bool {
		for _, k := range w.claims {
			if w.survivor(k.owner) == c && k.state == loyalty.ClaimClaimed {
				return true
			}
		}
		return false
	}

	good := c.enrolled()
	switch action {
	case "visit", "video", "review", "opt_out", "profile":
		return true
	case "merge":
		return good && len(w.names) > 2
	case "opt_in":
		return c.status == loyalty.Inactive
	case "subscribe":
		return false
	case "checkout_accept", "checkout_reject", "checkout_update":
		return bought(loyalty.Pending)
	case "refund", "refund_item", "partial_refund":
		return bought(loyalty.Accepted)
	case "pending_validate", "pending_invalidate", "pending_expired":
		return len(c.waiting) > 0
	case "suspend":
		return c.status == loyalty.Active
	case "unsuspend":
		return c.status == loyalty.Suspended
	case "checkout_claim":
		return good && len(h.guests()) > 0
	case "release_points":
		return good && len(c.held()) > 0
	case "point_spend", "reserve_points", "contest_enter", "reward_claim":
		return c.status == loyalty.Active && c.spendable() > 5
	case "point_unspend":
		return good && c.figures().Spent > 0
	case "coupon_unredeem":
		return good && coupons(loyalty.CouponRedeemed, loyalty.CouponPartiallyRedeemed)
	case "unassign_coupon":
		return good && coupons(loyalty.CouponClaimed)
	case "coupon_transfer", "coupon_redeem":
		return c.status == loyalty.Active && coupons(loyalty.CouponClaimed, loyalty.CouponPartiallyRedeemed)
	case "reward_revoke", "reward_transfer":
		return good && claims()
	case "reward_redeem":
		return c.status == loyalty.Active && claims()
	case "contest_entry_revoke":
		return good && len(c.entries) > 0
	case "offer_unredeem":
		return good && len(c.used()) > 0
	case "challenge_reset":
		return good && len(c.challenges) > 0
	}

	return good
}

// bought are the purchases in one of some states.
func (c *plainCustomer) bought(states ...loyalty.TransactionState) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(c.purchases)) {
		if slices.Contains(states, c.purchases[id].state) {
			ids = append(ids, id)
		}
	}
	return ids
}

// held are the reservations that hold something.
func (c *plainCustomer) held() (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(c.holds)) {
		if parts(c.holds[id]) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// used are the offers of which a use stands.
func (c *plainCustomer) used() (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(c.offers)) {
		if len(c.offers[id].uses) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// strangers are the names without an enrolled customer.
func (h *chronicle) strangers() []string {
	return slices.DeleteFunc(h.known(), func(name string) bool { return h.member(name).enrolled() })
}

// guests are the purchases of guests.
func (h *chronicle) guests() (ids []string) {
	for _, c := range h.world.all {
		if c.status == loyalty.Inactive {
			ids = append(ids, c.bought(loyalty.Pending, loyalty.Accepted, loyalty.Rejected, loyalty.Refunded)...)
		}
	}
	return ids
}

func (h *chronicle) drawPerson(t *rapid.T, e *said) {
	e.optIn = e.action == "profile" && chance(t, "enrols", 50)
	if e.action == "opt_in" || chance(t, "e-mail", 50) {
		e.email = pick(t, "address", emails)
	}
	if e.action == "opt_in" && chance(t, "brought", 50) {
		e.referrer = pick(t, "referrer", customers)
	}
}

// drawThing draws what an event is about besides points and purchases.
func (h *chronicle) drawThing(t *rapid.T, e *said) {
	rules := h.world.rules
	ids := func(all []string) { e.thing = liked(t, "thing", all, []string{"nothing"}) }
	switch e.action {
	case "coupon", "coupon_create":
		h.drawCoupon(t, e)
	case "coupon_redeem", "coupon_unredeem", "coupon_invalidate", "unassign_coupon", "coupon_transfer":
		e.code = h.drawCode(t, *e)
		if e.action == "coupon_redeem" && chance(t, "some of it", 50) {
			e.points = new(rapid.SampledFrom([]int64{0, 10_000, 40_000, 100_000}).Draw(t, "amount"))
		}
		if e.action == "coupon_transfer" && chance(t, "by reward", 35) {
			e.code, e.thing = "", liked(t, "thing", h.claimed(e.customer), []string{"bean", "card", "gift"})
		}
		h.drawReceiver(t, e)

	case "reward_claim":
		ids(slices.Sorted(maps.Keys(rules.rewards)))
	case "reward_transfer":
		e.thing = liked(t, "thing", h.claimed(e.customer), []string{"mug", "nothing"})
		h.drawReceiver(t, e)
	case "reward_revoke", "reward_redeem":
		e.ref = h.drawClaim(t, e.customer)
	case "quiz_answer":
		ids(slices.Sorted(maps.Keys(rules.quizzes)))
		e.code = pick(t, "answer", []string{"a", "b"})
	case "profile_answer":
		ids(slices.Sorted(maps.Keys(rules.flows)))
		e.code = liked(t, "question", []string{"drink", "name"}, []string{"none"})
	case "prize_wheel_spin":
		ids(slices.Sorted(maps.Keys(rules.wheels)))
	case "tier_change":
		ids([]string{"life1", "life2", "spend1", "spend2"})
		if chance(t, "ends", 60) {
			e.expires = h.now.Add(time.Duration(1+dice(t, "in hours", 96)) * time.Hour).Truncate(time.Second)
		}

	case "contest_enter", "contest_entry_revoke":
		if e.action == "contest_entry_revoke" {
			e.thing = liked(t, "thing", slices.Sorted(maps.Keys(h.member(e.customer).entries)), []string{"raffle", "free", "nothing"})
		} else {
			ids(slices.Sorted(maps.Keys(rules.contests)))
		}
		if e.flag = chance(t, "refund", 60); chance(t, "count", 50) {
			e.points = new(int64(1 + dice(t, "count", 3)))
		}

	case "offer_unredeem":
		e.thing = liked(t, "thing", h.member(e.customer).used(), []string{"deal", "open", "nothing"})
	case "offer_claim", "offer_redeem":
		ids(slices.Sorted(maps.Keys(rules.offers)))
	case "treasure_found", "offline_treasure_found", "offline_treasure_code_found":
		fits := map[string]string{"treasure_found": "online", "offline_treasure_found": "offline", "offline_treasure_code_found": "coded"}
		e.thing = liked(t, "treasure", []string{fits[e.action]}, []string{"online", "offline", "coded", "nothing"})
		if e.action == "offline_treasure_code_found" {
			e.code = liked(t, "code", []string{"OAK"}, []string{"ELM"})
		}

	case "challenge_reset":
		e.thing = liked(t, "challenge", []string{"count", "money"}, []string{"both", "sum", "nothing"})
	case "pending_validate", "pending_invalidate":
		e.ref = h.drawHeld(t, e.customer)
	case "pending_expired":
		e.points = new(rapid.Int64Range(1, 30).Draw(t, "points"))
	}
}

func (h *chronicle) drawCoupon(t *rapid.T, e *said) {
	e.code = fmt.Sprint("C", 1+dice(t, "code", 12))
	e.kind = loyalty.CouponAmount
	if e.action == "coupon_create" {
		e.kind = pick(t, "type", []string{loyalty.CouponAmount, loyalty.CouponPercentage, loyalty.CouponFreeShipping, loyalty.CouponGiftCard})
		e.total = pick(t, "value", []int64{50_000, 100_000, 200_000})
		if chance(t, "for a product", 20) {
			e.product = pick(t, "product", products)
		}
	}

	if chance(t, "amount", 40) {
		e.points, e.kind = new(pick(t, "balance", []int64{0, 50_000, 100_000})), loyalty.CouponGiftCard
	}
	if chance(t, "expires", 30) {
		e.expires = h.now.Add(time.Duration(dice(t, "in hours", 64)-4) * time.Hour).Truncate(time.Second)
	}
}

// drawCode likes the codes that the customer can do this with.
func (h *chronicle) drawCode(t *rapid.T, e said) string {
	var good, rest []string
	i, known := h.world.names[e.customer]
	for _, code := range slices.Sorted(maps.Keys(h.world.coupons)) {
		k := h.world.coupons[code]
		if strings.HasPrefix(code, "$") && h.made[code] == "" {
			continue // it was not told yet
		}
		rest = append(rest, code)
		used := k.state == loyalty.CouponRedeemed || k.state == loyalty.CouponPartiallyRedeemed
		nobodys := k.owner < 0 && e.action == "coupon_redeem" && chance(t, "nobody's", 30)
		if known && (k.owner == h.world.survivor(i).index || nobodys) && (e.action != "coupon_unredeem" || used) {
			good = append(good, code)
		}
	}

	return liked(t, "code", good, append(rest, "C99"))
}

func (h *chronicle) drawReceiver(t *rapid.T, e *said) {
	if e.action != "coupon_transfer" && e.action != "reward_transfer" {
		return
	}
	if chance(t, "by e-mail", 40) {
		e.email = pick(t, "address", append([]string{"new@shop.test"}, emails...))
	} else {
		e.target = pick(t, "target", h.known())
	}
}

// claimed are the rewards of which a customer has a claim.
func (h *chronicle) claimed(name string) (rewards []string) {
	for _, k := range h.claimsOf(name) {
		rewards = append(rewards, h.world.claims[k].reward)
	}
	return rewards
}

func (h *chronicle) claimsOf(name string) (list []int) {
	i, known := h.world.names[name]
	for _, k := range slices.Sorted(maps.Keys(h.world.claims)) {
		if _, told := h.recorded[k]; known && told && h.world.survivor(h.world.claims[k].owner) == h.world.survivor(i) {
			list = append(list, k)
		}
	}
	return list
}

// drawClaim gives the number of a claim; 0 is none at all.
func (h *chronicle) drawClaim(t *rapid.T, name string) int {
	rest := []int{0}
	for _, k := range slices.Sorted(maps.Keys(h.world.claims)) {
		if _, told := h.recorded[k]; told {
			rest = append(rest, k)
		}
	}
	return liked(t, "claim", h.claimsOf(name), rest)
}

func (h *chronicle) drawHeld(t *rapid.T, name string) int {
	var good []int
	if i, known := h.world.names[name]; known {
		for _, x := range h.world.survivor(i).waiting {
			if _, told := h.recorded[x.serial]; told {
				good = append(good, x.serial)
			}
		}
	}
	return liked(t, "held", good, append([]int{0}, slices.Sorted(maps.Keys(h.recorded))...))
}

// member is the customer that has a name now, or an empty one if none has it.
func (h *chronicle) member(name string) *plainCustomer {
	if i, known := h.world.names[name]; known {
		return h.world.survivor(i)
	}
	return &plainCustomer{}
}

// drawTransaction likes what the customer has, where the action needs it.
func (h *chronicle) drawTransaction(t *rapid.T, e said) string {
	var good []string
	c := h.member(e.customer)
	switch e.action {
	case "checkout_accept", "checkout_reject", "checkout_update":
		good = c.bought(loyalty.Pending)
	case "partial_refund", "refund", "refund_item":
		good = c.bought(loyalty.Accepted)
	case "release_points":
		good = c.held()
	case "checkout":
		if chance(t, "reserved for", 50) {
			good = c.held()
		}

	case "checkout_claim":
		good = h.guests()
	case "reserve_points":
	default:
		return ""
	}

	if len(good) > 0 && chance(t, "liked", 85) {
		return pick(t, "purchase", good)
	}

	return fmt.Sprint("T", dice(t, "transaction", 30))
}

func (h *chronicle) drawPurchase(t *rapid.T, e *said) {
	e.total = rapid.OneOf(rapid.Int64Range(0, 2_000_000), rapid.SampledFrom([]int64{0, 1, 999_900, 1_000_000})).Draw(t, "total")
	if e.hasItems = chance(t, "items", 80); e.hasItems {
		for range dice(t, "lines", 4) {
			l := plainLine{
				product: pick(t, "product", products), quantity: rapid.Int64Range(1, 4).Draw(t, "quantity"),
				subtotal: rapid.OneOf(rapid.Int64Range(0, 800_000), rapid.SampledFrom([]int64{0, 399_900, 600_000})).Draw(t, "subtotal"),
			}
			if chance(t, "line's own points", 15) {
				l.rewarded = new(rapid.Int64Range(1, 60).Draw(t, "rewarded"))
			}
			e.items = append(e.items, l)
		}
	}

	if chance(t, "burns", 30) {
		e.points = new(rapid.Int64Range(0, 50).Draw(t, "burned"))
	}

	if chance(t, "own date", 30) {
		e.auto = new(h.now.Add(time.Duration(dice(t, "date", 120)-30) * time.Hour).Truncate(time.Second))
	} else if e.action == "checkout_update" {
		e.removeAuto = chance(t, "no date", 20)
	}

	if e.action != "checkout" {
		return
	}
	if chance(t, "own points", 10) {
		e.rewarded = new(rapid.Int64Range(1, 90).Draw(t, "rewarded"))
	}
	if chance(t, "guest", 25) {
		e.guest, e.customer = true, liked(t, "guest", h.strangers(), h.known())
	}

	if chance(t, "coupons", h.reached.about.coupons) {
		for range 1 + dice(t, "how many coupons", 2) {
			e.coupons = append(e.coupons, h.drawCode(t, said{customer: e.customer, action: "coupon_redeem"}))
		}
	}

	if chance(t, "offers", 20) {
		for range 1 + dice(t, "how many offers", 2) {
			e.offers = append(e.offers, pick(t, "offer", []string{"deal", "open"}))
		}
	}
}
