package histories_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestFewCustomersMeet has a few customers do everything to each other: they buy as guests and
// claim, pass on, merge, leave, while configurations change and things come due.
func TestFewCustomersMeet(t *testing.T) {
	eachFew(t, 12, 6, 0, func(_ *testing.T, c *town) {
		c.Enrol("ada", "ben", "cili", "dora")
		c.play(120)
	})
}

// eachFew runs a test on towns of few, each the same for its number, from first on: so many, or as
// many as LOYALTY_TORTURE says, and one in some on PostgreSQL.
func eachFew(t *testing.T, quick, postgres int, first uint64, test func(t *testing.T, c *town)) {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv("LOYALTY_TORTURE"), strconv.Itoa(quick)))
	require.NoError(t, err, "LOYALTY_TORTURE")

	for seed := range n {
		db := storetest.All[seed%postgres/(postgres-1)]
		t.Run(fmt.Sprint(db.Name, " ", seed), func(t *testing.T) {
			c := newTown(t, db.Migrated(t), first+uint64(seed), 3, true)
			c.people = fewPeople
			t.Cleanup(func() {
				for _, line := range c.log {
					if t.Failed() {
						t.Log(line)
					}
				}
			})
			test(t, c)
		})
	}
}

// fewPeople are the customers of a town of few, some more often than others, and two guests.
var fewPeople = []string{"ada", "ben", "cili", "dora", "ada", "ben", "cili", "guest-1", "guest-2", "emma"}

// fewActions are townActions with more of what needs others to have come before it.
var fewActions = append(slices.Clone(townActions),
	"opt_in", "opt_in", "opt_in", "opt_in", "point_add", "point_add", "checkout", "checkout", "checkout", "checkout", "checkout", "checkout", "checkout_accept", "checkout_reject", "checkout_claim", "checkout_claim", "checkout_claim",
	"partial_refund", "refund", "refund", "refund_item", "merge", "merge", "coupon_create", "coupon_transfer", "coupon_redeem", "reward_claim", "reward_revoke",
	"reward_revoke", "reward_transfer", "release_points", "point_unspend", "contest_entry_revoke", "offer_unredeem",
)

// fewThings are what such a town has besides: what runs out, what has several conditions, and what
// follows from other events.
var fewThings = things{
	{"coupons/pool", "short", `{"name":"Short-lived","source":"generated","pattern":"******","coupon":{"type":"amount","value":3,"valid_days":3}}`},
	{"coupons/pool", "empty", `{"name":"Empty","source":"uploaded","coupon":{"type":"gift_card","value":3}}`},
	{"rewards/reward", "brief", `{"title":{"en":"Brief"},"type":"coupon","points":10,"pool":"short","max_claims":3}`},
	{"rewards/reward", "none", `{"title":{"en":"None"},"type":"coupon","points":0,"pool":"empty"}`},
	{"rewards/reward", "last", `{"title":{"en":"Last"},"type":"physical","points":7,"stock":4}`},
	{"offers/offer", "scarce", `{"name":{"en":"Scarce"},"type":"cart","discount":{"type":"fixed_discount","value":1},"max_redemptions":5,"max_per_customer":2}`},
	{"tiers/structure", "grace", `{"name":"Grace","base":"points","window":{"kind":"rolling","days":5},"downgrade":"automatic","grace_days":1}`},
	{"tiers/tier", "bronze", `{"structure":"grace","name":{"en":"Bronze"},"threshold":50}`},
	{"challenges/challenge", "both", `{"title":{"en":"Both"},"criteria":[{"action":"checkout","threshold":2},{"action":"visit","threshold":1}],"points":4,"max_completions":3,"resetable":true,"window_days":4}`},
	{"challenges/challenge", "lines", `{"title":{"en":"Lines"},"criteria":[{"action":"checkout_item","sum":"item.subtotal","threshold":20}],"points":4,"max_completions":30}`},
	{"challenges/challenge", "bonuses", `{"title":{"en":"Bonuses"},"criteria":[{"action":"referral_bonus","threshold":1}],"points":2,"max_completions":30}`},
	{"contests/contest", "full", `{"title":{"en":"Full"},"points":3,"max_entries":5}`},
	{"prize-wheels/wheel", "prizes", `{"name":{"en":"Prizes"},"points":2,"limit":{"count":2,"period":"day"},"options":[{"type":"points","label":{"en":"4"},"weight":1,"points":4},
		{"type":"reward","label":{"en":"Brief"},"weight":2,"reward":"brief"},{"type":"reward","label":{"en":"None"},"weight":2,"reward":"none"}]}`},
	loyaltytest.AnyCampaign("twice", `"trigger":"checkout","condition":"transaction.total > 20","effects":[{"type":"multiply","factor":1.5},{"type":"label","label":"big"}],"limit":{"per_customer":2}`),
	loyaltytest.AnyCampaign("nine", `"trigger":"checkout_item","effects":[{"type":"points","points":1}],"limit":{"total":9}`),
	loyaltytest.AnyCampaign("union", `"trigger":"merge","condition":"customer.score > 30","effects":[{"type":"points","points":2},{"type":"tier","tier":"silver"}]`),
	loyaltytest.AnyCampaign("received", `"trigger":"coupon_receive","effects":[{"type":"challenge","challenge":"bonuses"},{"type":"points","points":1}],"limit":{"per_customer":3}`),
	loyaltytest.AnyCampaign("risen", `"trigger":"tier_up","effects":[{"type":"coupon","coupon":{"type":"free_shipping"}}]`),
	loyaltytest.AnyCampaign("expired", `"trigger":"point_expire","effects":[{"type":"points","points":1}],"limit":{"per_customer":4}`),
	loyaltytest.AnyCampaign("refunded", `"trigger":"refund","effects":[{"type":"tier","tier":"big"}]`),
}

// anySeason draws a configuration.
func (c *town) anySeason() modules {
	m := modules{
		"points_economy": oneOf(c, `{"expiry":{"policy":"rolling","days":9}}`, `{"expiry":{"policy":"last_activity","days":6}}`, `{}`,
			`{"negative":"refuse","expiry":{"policy":"rolling","days":4}}`),
		"friend_referral": oneOf(c, `{"referrer_points":5,"friend_points":3}`, `{"referrer_points":5,"friend_points":3,"pay_on":"opt_in"}`),
	}
	switch c.dice.IntN(4) {
	case 0:
		m["checkout_accept"] = oneOf(c, `{}`, `{"type":"accept","pending_days":2}`, `{"type":"reject","pending_days":2}`)
	case 1:
		m["pending_events"] = `{"actions":["checkout","point_add","visit","refund","checkout_claim","reserve_points","coupon_create","partial_refund","reward_revoke","treasure_found"],"days":3}`
	}
	return m
}

// mingle makes a submission one about few customers, purchases and codes, and adds attributes that
// most leave out.
func (c *town) mingle(sub *loyalty.Submission, d attributes) {
	who := func() any { return c.somebody() }
	purchase := func() any { return fmt.Sprint("T-", 1+c.dice.IntN(8)) }
	code := func() any { return oneOf(c, "C-1", "C-2", "C-3", "C-4", "C-5", "spring-00000", "spring-00001") }
	address := func() any { return oneOf(c, "new-1", "new-2", c.somebody()) + "@shop.test" }
	event := func() any { return oneOf(c, append(c.events, "none")...) }
	sub.Customer = c.somebody()
	if c.chance(10) {
		sub.Customer, sub.ExternalID = oneOf(c, "1", "2", "3"), "crm"
	}

	for _, given := range []struct {
		name string
		few  func() any
	}{{"transaction_id", purchase}, {"code", code}, {"event", event}, {"target", who}, {"source", who}, {"referrer", who}, {"email", address}} {
		if d[given.name] != nil && d["treasure_id"] == nil {
			d[given.name] = given.few()
		}
	}

	may := func(name string, value any) {
		if c.chance(50) {
			d[name] = value
		}
	}

	n := 1 + c.dice.IntN(60)
	switch sub.Action {
	case "opt_in", "subscribe":
		d["email"] = address()
		may("referrer", who())
	case "profile":
		d["external_ids"] = attributes{"crm": oneOf[any](c, "1", "2", "3", nil, []string{"1", "2"}, []string{"3", "1"})}
		d["cf_x"] = "undeclared"
		may("email", address())

	case "checkout":
		c.cart(sub, d)
		delete(d, "coupons")
		if c.chance(25) {
			d["coupon_code"] = code()
		}

	case "checkout_update":
		may("points_burned", n/4)
	case "partial_refund":
		d["amount"] = c.cents(3000)
	case "point_add", "coupon_redeem":
		may("transaction_id", purchase())
	case "release_points":
		may("points", 1+n/4)
	case "visit":
		may("points", n)
	case "coupon_create":
		may("amount", 10)
		may("expdate", c.Clock().Add(time.Duration(c.dice.IntN(200))*time.Hour).Format(time.RFC3339))
	case "coupon_transfer":
		if c.chance(33) {
			delete(d, "code")
			delete(d, "email")
			d["reward_id"], d["target"] = "brief", who()
		}

	case "reward_claim", "reward_transfer":
		d["reward"] = oneOf(c, "brief", "bonus", "none", "last")
	case "offer_redeem", "offer_unredeem":
		d["offer"] = "scarce"
	case "challenge_reset":
		d["challenge"] = "both"
	case "contest_enter":
		d["contest_id"] = "full"
	case "contest_entry_revoke":
		d["contest_id"] = "full"
		may("count", 1)
	case "prize_wheel_spin":
		d["wheel"] = "prizes"
	}

	if !sub.Operation && c.chance(8) {
		d["effective_timestamp"] = c.Clock().Add(-time.Duration(c.dice.IntN(30*24)) * time.Hour).Unix()
	}
}

// cents draws an amount of less than so many hundredths.
func (c *town) cents(below int) float64 { return float64(1+c.dice.IntN(below-1)) / 100 }

// cart makes a purchase a guest's now and then, with amounts that have decimals, attributes that name
// people, and a date of its own on which it is accepted.
func (c *town) cart(sub *loyalty.Submission, d attributes) {
	sub.Guest = c.chance(33)
	d["total"] = c.cents(9000)
	items, _ := d["items"].([]attributes)
	for _, item := range items {
		if item["subtotal"] = c.cents(4000); c.chance(20) {
			item["engraving"] = "secret"
		}
	}

	if c.chance(25) {
		d["offers"] = []string{"scarce"}
	}
	if c.chance(17) {
		d["auto_accept"] = c.Clock().Add(time.Duration(c.dice.IntN(100)) * time.Hour).Format(time.RFC3339)
	}
	if c.chance(50) {
		d["note"] = "personal"
	}
}

// play has submissions follow each other alone, in bulks, again, and as they were previewed, while
// time passes and the programme changes.
func (c *town) play(steps int) {
	for range steps {
		switch c.dice.IntN(12) {
		case 0:
			c.Wait(time.Duration(c.dice.IntN(60)) * time.Hour)
		case 1:
			if c.chance(33) {
				c.season(0)
				c.note("configured")
			}

		case 2:
			c.note("settled")
			require.NoError(c.T, c.SettleDue(ctx))
		case 3, 4, 5:
			c.bulk()
		case 6:
			c.again()
		case 7:
			c.foreseen(c.draw())
		default:
			c.single(c.draw())
		}

		if c.chance(12) {
			c.FoldsBack()
		}
	}

	c.Wait(100 * 24 * time.Hour)
	require.NoError(c.T, c.SettleDue(ctx))
	c.FoldsBack()
}

func (c *town) note(what ...any) {
	c.log = append(c.log, c.Clock().Format("01-02 15:04:05.000 ")+fmt.Sprint(what...))
}

func (c *town) bulk() {
	list := make([]loyalty.Submission, 2+c.dice.IntN(6))
	for i := range list {
		list[i] = c.draw()
	}
	c.note("bulk of ", len(list))
	for i, r := range c.SubmitAll(ctx, list) {
		c.judge(list[i], r)
	}
}

func (c *town) single(sub loyalty.Submission) {
	if c.chance(33) {
		sub = loyaltytest.Keyed(sub, fmt.Sprint("k", len(c.log)))
		c.keyed = append(c.keyed, sub)
	}
	o, err := c.Submit(ctx, sub)
	c.judge(sub, loyalty.Result{Outcome: o, Err: err})
}

// again repeats a request. Who left is not found; what is a day old is forgotten.
func (c *town) again() {
	if len(c.keyed) == 0 {
		return
	}
	sub := oneOf(c, c.keyed...)
	o, err := c.Submit(ctx, sub)
	if o.Replayed == nil && !errors.Is(err, loyalty.ErrCustomerNotFound) {
		c.judge(sub, loyalty.Result{Outcome: o, Err: err})
	}
}

// foreseen submits what was previewed. A spin has another chance each time.
func (c *town) foreseen(sub loyalty.Submission) {
	before, refusal := c.Preview(ctx, sub)
	o, err := c.Submit(ctx, sub)
	c.judge(sub, loyalty.Result{Outcome: o, Err: err})
	if sub.Action == "prize_wheel_spin" {
		return
	}
	require.Equal(c.T, refusal == nil, err == nil, "%s %s: previewed %v, then %v", sub.Action, sub.Data, refusal, err)
	if err == nil {
		require.Equal(c.T, before.Customer.Figures, o.Customer.Figures, "%s %s", sub.Action, sub.Data)
	}
}

// judge lets nothing fail but by a rule.
func (c *town) judge(sub loyalty.Submission, r loyalty.Result) {
	c.note(sub.Customer, sub.ExternalID, " ", sub.Action, " ", string(sub.Data), ": ", r.Err)
	if r.Err != nil {
		c.refuse(sub, r.Err)
		return
	}
	c.learn(sub, r.Outcome)
}

// zones are where days and years begin at other instants.
var zones = []string{"UTC", "Europe/Budapest", "America/New_York", "Pacific/Kiritimati"}

// followed plays steps for figures that are folded from the tail: by a job, whose zone may be another one, and by
// readers.
func (c *town) followed(steps int, job string, look func()) {
	for range steps {
		c.single(c.draw())
		switch c.dice.IntN(10) {
		case 0:
			c.Wait(time.Duration(c.dice.IntN(60)) * time.Hour)
		case 1:
			require.NoError(c.T, c.SettleDue(ctx))
		case 2:
			done, err := c.Jobs().Run(ctx, job)
			require.NoError(c.T, err)
			require.Zero(c.T, done.Failed, done.Result)

		case 3:
			c.bulk()
		case 4:
			look()
		case 5:
			c.bound()
		case 6:
			c.season(0)
		case 7, 8:
			c.shops()
		}
	}

	look()
}

// bound moves to just before or after midnight somewhere, at the end of a year.
func (c *town) bound() {
	year := time.Date(c.Clock().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
	if next := year.Add(time.Duration(c.dice.IntN(29)-14)*time.Hour + time.Duration(c.dice.IntN(3)-1)*time.Millisecond); next.Before(c.Clock().AddDate(0, 2, 0)) {
		c.Wait(max(0, next.Sub(c.Clock())))
	}
}

// shops buys where it can be told apart, and perhaps gives it back.
func (c *town) shops() {
	who, name := c.somebody(), fmt.Sprint("S-", len(c.log))
	d := attributes{"transaction_id": name, "total": c.cents(100_000)}
	for attribute, value := range map[string]string{
		"store": oneOf(c, "", "north", "south\x1f", strings.Repeat("é", 120)), "channel": oneOf(c, "", "web", "till"), "currency": oneOf(c, "", "EUR", "huf", "USD"),
	} {
		if value != "" {
			d[attribute] = value
		}
	}

	c.does(who, "checkout", d)
	switch c.dice.IntN(4) {
	case 0:
		c.does(who, "checkout_accept", attributes{"transaction_id": name})
	case 1:
		c.does(who, "partial_refund", attributes{"transaction_id": name, "amount": 1 + c.dice.IntN(50)})
		c.does(who, "refund", attributes{"transaction_id": name})
	}
}

// does submits an event, now and then dated earlier.
func (c *town) does(who, action string, d attributes) {
	if c.chance(8) {
		d["effective_timestamp"] = c.Clock().Add(-time.Duration(c.dice.IntN(30*24)) * time.Hour).Unix()
	}
	data, err := json.Marshal(d)
	require.NoError(c.T, err)
	c.single(loyaltytest.Event(who, action, string(data)))
}
