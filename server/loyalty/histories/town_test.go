package histories_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// town is a programme of everything, and random customers who use it. There is no model of it:
// what must hold is that nothing fails but by a rule, that a preview tells the truth, that an answer
// is repeated, that the ledger's invariants hold, and that the journal gives what is stored.
type town struct {
	*shop
	dice      *rand.Rand
	few       bool // few customers, purchases and codes, which meet all the time; otherwise ever new ones
	people    []string
	guests    int
	purchases []bought
	codes     []had
	claims    []had
	held      []had
	events    []string // the ids of the last ones
	keyed     []loyalty.Submission
	log       []string
	holds     []bought // reservations
	opened    int
	accepted  int
	reached   map[string]int // journal rows by action
	refused   map[string]int // by action and error
}

// bought is a purchase and its customer.
type bought struct{ name, customer string }

// had is a code, or the event of a claim or of what is held, and whose it is.
type had struct {
	id, customer string
	reward       string // of a claim
}

var townThings = things{
	{"stores/store", "buda", `{"name":"Buda shop"}`},
	{"custom-events/action", "tasting", `{"name":"tasting","schema":{"type":"object","properties":{"bean":{"type":"string"}}}}`},
	{"segments/segment", "rich", `{"name":"Rich","condition":"customer.score >= 100"}`},
	{"coupons/pool", "spring", `{"name":"Spring","source":"uploaded","coupon":{"type":"amount","value":5,"valid_days":30}}`},
	{"coupons/pool", "cards", `{"name":"Cards","source":"generated","pattern":"CARD-@@@@####","coupon":{"type":"gift_card","value":20}}`},
	{"tiers/structure", "club", `{"name":"Club","base":"points","window":{"kind":"rolling","days":10},"downgrade":"automatic"}`},
	{"tiers/tier", "silver", `{"structure":"club","name":{"en":"Silver"},"threshold":40}`},
	{"tiers/tier", "gold", `{"structure":"club","name":{"en":"Gold"},"threshold":160}`},
	{"tiers/structure", "spenders", `{"name":"Spenders","base":"spend","window":{"kind":"calendar","months":1},"downgrade":"automatic","grace_days":2}`},
	{"tiers/tier", "big", `{"structure":"spenders","name":{"en":"Big"},"threshold":100}`},
	{"rewards/reward", "five", `{"title":{"en":"Five"},"type":"coupon","points":10,"pool":"spring"}`},
	{"rewards/reward", "card", `{"title":{"en":"Card"},"type":"coupon","points":15,"pool":"cards","max_claims":3}`},
	{"rewards/reward", "bonus", `{"title":{"en":"Bonus"},"type":"points","points":5,"award":8}`},
	{"rewards/reward", "mug", `{"title":{"en":"Mug"},"type":"physical","points":20,"stock":100000,"segments":["rich"]}`},
	{"offers/offer", "coffee", `{"name":{"en":"Coffee"},"type":"cart","discount":{"type":"percent_discount","value":10},"max_per_customer":4}`},
	{"challenges/challenge", "visits", `{"title":{"en":"Visits"},"criteria":[{"action":"visit","threshold":2}],"points":6,"max_completions":50,"resetable":true}`},
	{"challenges/challenge", "money", `{"title":{"en":"Money"},"criteria":[{"action":"checkout","sum":"data.total","threshold":150}],"points":9,"max_completions":9,"window_days":5}`},
	{"contests/contest", "bicycle", `{"title":{"en":"Bicycle"},"points":3}`},
	{"prize-wheels/wheel", "daily", `{"name":{"en":"Wheel"},"points":2,"limit":{"count":3,"period":"day"},"options":[{"type":"points","label":{"en":"7"},"weight":2,"points":7},
		{"type":"reward","label":{"en":"Five"},"weight":1,"reward":"five"},{"type":"empty","label":{"en":"Nothing"},"weight":1}]}`},
	{"quizzes/quiz", "origin", `{"title":{"en":"Quiz"},"question":{"en":"Where from?"},"answers":[{"id":"a","text":{"en":"Here"}},{"id":"b","text":{"en":"There"}}],"correct_answer":"a","points":4}`},
	{"treasure-hunt/treasure", "bean", `{"title":{"en":"Bean"},"kind":"online","points":3}`},
	{"treasure-hunt/treasure", "spoon", `{"title":{"en":"Spoon"},"kind":"offline","points":3}`},
	{"treasure-hunt/treasure", "jar", `{"title":{"en":"Jar"},"kind":"offline","code":"JAR-77","points":3}`},
	{"profiling/flow", "taste", `{"title":{"en":"Taste"},"points":5,"questions":[{"id":"drink","field":"cf_drink","text":{"en":"Drink"},"answers":[{"id":"tea","text":{"en":"Tea"}}],"points":2}]}`},
	loyaltytest.AnyCampaign("double", `"trigger":"checkout","condition":"transaction.total >= 60","effects":[{"type":"multiply","factor":1.5}]`),
	loyaltytest.AnyCampaign("beans", `"trigger":"checkout_item","condition":"item.product_id == \"p-1\"","effects":[{"type":"points","points":2}]`),
	loyaltytest.AnyCampaign("looker", `"trigger":"visit","condition":"event.data.type == \"landing\"","effects":[{"type":"points","points":1},{"type":"label","label":"looker"},{"type":"challenge","challenge":"money","amount":10}]`),
	loyaltytest.AnyCampaign("film", `"trigger":"video","effects":[{"type":"coupon","coupon":{"type":"percentage","value":10,"valid_days":9}},{"type":"tier","tier":"silver"}]`),
}

// townSeasons are the configurations that follow each other.
var townSeasons = []modules{
	{"points_economy": `{"expiry":{"policy":"rolling","days":20}}`, "checkout_accept": `{"type":"accept","pending_days":2}`},
	{"points_economy": `{"expiry":{"policy":"last_activity","days":6}}`, "pending_events": `{"actions":["checkout","point_add","visit","review_submit","checkout_claim"],"days":3}`},
	{"points_economy": `{"expiry":{"policy":"none"}}`},
	{"points_economy": `{"expiry":{"policy":"rolling","days":4},"negative":"refuse"}`, "checkout_accept": `{"type":"reject","pending_days":1}`},
}

func newTown(t *testing.T, url string, seed uint64, codes int, few bool) *town {
	v, err := contract.NewVocabulary()
	require.NoError(t, err)
	c := &town{dice: rand.New(rand.NewPCG(seed, 7)), few: few, reached: map[string]int{}, refused: map[string]int{}}
	c.shop = newShop(t, url, modules{}, func(o *engine.EngineOptions) {
		o.Contract = v
		if few {
			o.Clock = c.running
		}
	})
	v.UseDeclarations(func(action string) json.RawMessage { return c.Programme().Declared(action) })
	c.season(0)
	c.codesInto("spring", codes)
	return c
}

// running is a clock that never stands still, so that what one caller sends has an order in time.
func (c *town) running() time.Time {
	if c.shop == nil {
		return loyaltytest.ShopOpens
	}
	c.Wait(time.Millisecond)
	return c.Clock()
}

// season changes what is switched on and how; what the programme is made of stays.
func (c *town) season(i int) {
	m := modules{"friend_referral": `{"referrer_points":20,"friend_points":5}`}
	for _, name := range []string{"contests", "custom_events", "custom_entities", "customer_id_validation", "customer_login", "prize_wheels", "profiling", "quizzes", "visual_search"} {
		m[name] = "{}"
	}
	season, all := townSeasons[i%len(townSeasons)], townThings
	if c.few {
		season, all = c.anySeason(), slices.Concat(townThings, fewThings)
	}
	maps.Copy(m, season)
	c.Make(m, all)
}

// codesInto uploads codes into a pool.
func (c *town) codesInto(pool string, n int) {
	w := &loyalty.Writes{}
	var last loyalty.ID
	for i := range n {
		last = loyalty.NewID(c.Clock(), last)
		coupon := loyalty.Coupon{ID: last, Code: fmt.Sprintf("%s-%05d", pool, i), State: loyalty.CouponCreated, Pool: pool, Type: loyalty.CouponAmount, CreatedAt: c.Clock()}
		w.NewCoupons = append(w.NewCoupons, coupon)
		w.Claims = append(w.Claims, loyalty.Claim{Name: loyalty.CodeName(coupon.Code), Owner: coupon.ID})
	}
	require.NoError(c.T, c.DB.Within(ctx, loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) { return w, nil }))
}

// live plays events of all kinds, in bulks, until the journal has so many rows.
func (c *town) live(rows int) {
	for recorded, bulk := 0, 0; recorded < rows; bulk++ {
		subs := make([]loyalty.Submission, 60)
		for i := range subs {
			subs[i] = c.draw()
		}

		for i, r := range c.SubmitAll(ctx, subs) {
			if r.Err != nil {
				c.refuse(subs[i], r.Err)
				continue
			}
			c.accepted++
			recorded += len(r.Outcome.Events)
			c.learn(subs[i], r.Outcome)
		}

		c.Wait(time.Duration(c.dice.IntN(200)) * time.Minute)
		switch bulk % 12 {
		case 5:
			require.NoError(c.T, c.SettleDue(ctx))
		case 11:
			c.season(bulk / 12)
		}
	}

	require.NoError(c.T, c.SettleDue(ctx))
}

// refuse counts a refusal; anything but a rule's is a fault. Where few meet, attributes are drawn
// that do not go together.
func (c *town) refuse(sub loyalty.Submission, err error) {
	e := loyalty.AsError(err)
	faults := []loyalty.Kind{loyalty.Internal, loyalty.Unavailable}
	if !c.few {
		faults = append(faults, loyalty.Invalid)
	}
	require.NotContains(c.T, faults, e.Kind, "%s %s %s: %v %v", sub.Customer, sub.Action, sub.Data, err, e.Details)
	c.refused[sub.Action+" "+e.Name]++
}

// learn notes what later events can name.
func (c *town) learn(sub loyalty.Submission, o loyalty.Outcome) {
	for _, e := range o.Events {
		c.reached[e.Action]++
		c.events = append(c.events, e.ID.String())
		switch e.Action {
		case "reward_claim", "reward_receive":
			var claim struct{ Reward string }
			require.NoError(c.T, json.Unmarshal(e.Data, &claim))
			c.claims = append(c.claims, had{e.ID.String(), sub.Customer, claim.Reward})
		case "pending":
			c.held = append(c.held, had{e.ID.String(), sub.Customer, ""})
		case "reserve_points":
			c.holds = append(c.holds, bought{e.Transaction, sub.Customer})
		}

		if e.Effects == nil {
			continue
		}

		for _, coupon := range e.Effects.Coupons {
			c.codes = append(c.codes, had{coupon.Code, sub.Customer, ""})
		}
	}

	c.codes, c.claims, c.held = last(c.codes, 60), last(c.claims, 40), last(c.held, 40)
	c.purchases, c.holds, c.events = last(c.purchases, 60), last(c.holds, 20), last(c.events, 40)
}

// last keeps the n last ones.
func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
