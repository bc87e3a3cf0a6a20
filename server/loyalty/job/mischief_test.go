package job_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// mischief is a few customers who do everything to each other: they buy as guests and
// claim, pass on, merge, leave, while configurations change and things come due.
// There is no model: what must hold is that nothing fails but by a rule, that a
// preview tells the truth, that an answer is repeated, that the ledger's invariants
// hold and that the journal gives what is stored.
type mischief struct {
	*rand.Rand
	*shop
	events []string // their ids
	keyed  []loyalty.Submission
	log    []string
}

// TestMischief plays histories of 120 steps, each the same for its number.
// LOYALTY_TORTURE says how many.
func TestMischief(t *testing.T) {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("LOYALTY_TORTURE"), "12"))
	require.NoError(t, err, "LOYALTY_TORTURE")
	for seed := range n {
		db := storetest.All[seed%6/5] // one in six on PostgreSQL
		t.Run(fmt.Sprint(db.Name, " ", seed), func(t *testing.T) { newMischief(t, db.Migrated(t), seed).play(120) })
	}
}

func newMischief(t *testing.T, url string, seed int) *mischief {
	m := &mischief{Rand: rand.New(rand.NewPCG(uint64(seed), 7))}
	m.shop = newShop(t, url, nil, func(o *engine.EngineOptions) {
		o.Clock = func() time.Time { // never stands still
			if m.shop != nil {
				m.wait(time.Millisecond)
				return m.clock()
			}
			return shopOpens
		}
	})
	t.Cleanup(func() {
		if t.Failed() {
			for _, line := range m.log {
				t.Log(line)
			}
		}
	})
	m.configure()
	m.enrol("ada", "ben", "cili", "dora")
	return m
}

func (m *mischief) play(steps int) {
	for range steps {
		switch m.IntN(12) {
		case 0:
			m.wait(time.Duration(m.IntN(60)) * time.Hour)
		case 1:
			if m.IntN(3) == 0 {
				m.configure()
				m.note("configured")
			}
		case 2:
			m.note("settled")
			require.NoError(m.t, m.SettleDue(ctx))
		case 3, 4, 5:
			m.bulk()
		case 6:
			m.again()
		case 7:
			m.foreseen(m.draw())
		default:
			m.single(m.draw())
		}
		if m.IntN(8) == 0 {
			m.foldsBack()
		}
	}
	m.wait(100 * 24 * time.Hour)
	require.NoError(m.t, m.SettleDue(ctx))
	m.foldsBack()
}

func (m *mischief) note(what ...any) {
	m.log = append(m.log, m.clock().Format("01-02 15:04:05.000 ")+fmt.Sprint(what...))
}

func (m *mischief) bulk() {
	list := make([]loyalty.Submission, 2+m.IntN(6))
	for i := range list {
		list[i] = m.draw()
	}
	m.note("bulk of ", len(list))
	for i, r := range m.SubmitAll(ctx, list) {
		m.judge(list[i], r)
	}
}

func (m *mischief) single(sub loyalty.Submission) {
	if m.IntN(3) == 0 {
		sub = keyed(sub, fmt.Sprint("k", len(m.log)))
		m.keyed = append(m.keyed, sub)
	}
	o, err := m.Submit(ctx, sub)
	m.judge(sub, loyalty.Result{Outcome: o, Err: err})
}

// again repeats a request. Who left is not found; what is a day old is forgotten.
func (m *mischief) again() {
	if len(m.keyed) == 0 {
		return
	}
	sub := m.keyed[m.IntN(len(m.keyed))]
	o, err := m.Submit(ctx, sub)
	if o.Replayed == nil && !errors.Is(err, loyalty.ErrCustomerNotFound) {
		m.judge(sub, loyalty.Result{Outcome: o, Err: err})
	}
}

// foreseen submits what was previewed. A spin has another chance each time.
func (m *mischief) foreseen(sub loyalty.Submission) {
	before, refusal := m.Preview(ctx, sub)
	o, err := m.Submit(ctx, sub)
	m.judge(sub, loyalty.Result{Outcome: o, Err: err})
	if sub.Action == "prize_wheel_spin" {
		return
	}
	require.Equal(m.t, refusal == nil, err == nil, "%s %s: previewed %v, then %v", sub.Action, sub.Data, refusal, err)
	if err == nil {
		require.Equal(m.t, before.Customer.Figures, o.Customer.Figures, "%s %s", sub.Action, sub.Data)
	}
}

// judge lets nothing fail but by a rule.
func (m *mischief) judge(sub loyalty.Submission, r loyalty.Result) {
	m.note(sub.Customer, sub.ExternalID, " ", sub.Action, " ", string(sub.Data), ": ", r.Err)
	for _, e := range r.Outcome.Events {
		m.events = append(m.events, e.ID.String())
	}
	if r.Err != nil {
		kind := loyalty.AsError(r.Err).Kind
		require.NotContains(m.t, []loyalty.Kind{loyalty.Internal, loyalty.Unavailable}, kind, "%s %s %s: %v", sub.Customer, sub.Action, sub.Data, r.Err)
	}
}

// configure changes what is switched on and how; what the programme is made of stays.
func (m *mischief) configure() {
	base := modules{
		"points_economy":         m.of(`{"expiry":{"policy":"rolling","days":9}}`, `{"expiry":{"policy":"last_activity","days":6}}`, `{}`, `{"negative":"refuse","expiry":{"policy":"rolling","days":4}}`),
		"customer_id_validation": `{}`, "friend_referral": m.of(`{"referrer_points":5,"friend_points":3}`, `{"referrer_points":5,"friend_points":3,"pay_on":"opt_in"}`),
		"contests": `{}`, "prize_wheels": `{}`, "stores": `{}`,
	}
	switch m.IntN(4) {
	case 0:
		base["checkout_accept"] = m.of(`{}`, `{"type":"accept","pending_days":2}`, `{"type":"reject","pending_days":2}`)
	case 1:
		base["pending_events"] = `{"actions":["checkout","point_add","visit","refund","checkout_claim","reserve_points","coupon_create","partial_refund","reward_revoke","treasure_found"],"days":3}`
	}
	all := things{
		{"segments/segment", "rich", `{"name":"r","condition":"customer.score > 100"}`},
		{"coupons/pool", "gen", `{"name":"g","source":"generated","pattern":"******","coupon":{"type":"amount","value":3,"valid_days":3}}`},
		{"coupons/pool", "up", `{"name":"g","source":"uploaded","coupon":{"type":"gift_card","value":3}}`},
		{"rewards/reward", "mug", `{"title":{"en":"G"},"type":"coupon","points":10,"pool":"gen","max_claims":3}`},
		{"rewards/reward", "gift", `{"title":{"en":"G"},"type":"points","points":5,"award":9}`},
		{"rewards/reward", "code", `{"title":{"en":"G"},"type":"coupon","points":0,"pool":"up"}`},
		{"rewards/reward", "phys", `{"title":{"en":"G"},"type":"physical","points":7,"stock":4}`},
		{"offers/offer", "o", `{"name":{"en":"O"},"type":"cart","discount":{"type":"fixed_discount","value":1},"max_redemptions":5,"max_per_customer":2}`},
		{"tiers/structure", "main", `{"name":"Main","base":"points","window":{"kind":"rolling","days":5},"downgrade":"automatic","grace_days":1}`},
		{"tiers/tier", "silver", `{"structure":"main","name":{"en":"S"},"threshold":50}`},
		{"tiers/tier", "gold", `{"structure":"main","name":{"en":"Gold"},"threshold":150}`},
		{"tiers/structure", "spend", `{"name":"Main","base":"spend","window":{"kind":"calendar","months":1},"downgrade":"automatic"}`},
		{"tiers/tier", "vip", `{"structure":"spend","name":{"en":"S"},"threshold":60}`},
		{"challenges/challenge", "t", `{"title":{"en":"C"},"criteria":[{"action":"checkout","threshold":2},{"action":"visit","threshold":1}],"points":4,"max_completions":3,"resetable":true,"window_days":4}`},
		{"challenges/challenge", "sum", `{"title":{"en":"C"},"criteria":[{"action":"checkout_item","sum":"item.subtotal","threshold":20}],"points":4,"max_completions":30}`},
		{"challenges/challenge", "bonus", `{"title":{"en":"C"},"criteria":[{"action":"referral_bonus","threshold":1}],"points":2,"max_completions":30}`},
		{"contests/contest", "k", `{"title":{"en":"K"},"points":3,"max_entries":5}`},
		{"prize-wheels/wheel", "w", `{"name":{"en":"W"},"points":2,"limit":{"count":2,"period":"day"},"options":[{"type":"points","label":{"en":"x"},"weight":1,"points":4},{"type":"reward","label":{"en":"x"},"weight":2,"reward":"mug"},{"type":"reward","label":{"en":"x"},"weight":2,"reward":"code"}]}`},
		{"treasure-hunt/treasure", "t", `{"title":{"en":"T"},"kind":"online","points":5}`},
		anyCampaign("c1", `"trigger":"checkout","condition":"transaction.total > 20","effects":[{"type":"multiply","factor":1.5},{"type":"label","label":"big"}],"limit":{"per_customer":2}`),
		anyCampaign("c2", `"trigger":"checkout_item","effects":[{"type":"points","points":1}],"limit":{"total":9}`),
		anyCampaign("c3", `"trigger":"merge","condition":"customer.score > 30","effects":[{"type":"points","points":2},{"type":"tier","tier":"silver"}]`),
		anyCampaign("c4", `"trigger":"coupon_receive","effects":[{"type":"challenge","challenge":"bonus"},{"type":"points","points":1}],"limit":{"per_customer":3}`),
		anyCampaign("c5", `"trigger":"tier_up","effects":[{"type":"coupon","coupon":{"type":"free_shipping"}}]`),
		anyCampaign("c6", `"trigger":"point_expire","effects":[{"type":"points","points":1}],"limit":{"per_customer":4}`),
		anyCampaign("c7", `"trigger":"refund","effects":[{"type":"tier","tier":"vip"}]`),
	}
	m.make(base, all)
}
