package loyalty_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

type monkey struct {
	*rand.Rand
	s     *shop
	tx    int
	ev    []string // ids of events
	log   []string
	modes int
	keys  []loyalty.Submission
}

func (m *monkey) of(list ...string) string { return list[m.IntN(len(list))] }
func (m *monkey) who() string {
	return m.of("ada", "ben", "cili", "dora", "ada", "ben", "cili", "guest-1", "guest-2", "emma")
}
func (m *monkey) code() string  { return m.of("C-1", "C-2", "C-3", "C-4", "P-1", "P-2", "P-3") }
func (m *monkey) trans() string { return fmt.Sprint("T-", 1+m.IntN(8)) }
func (m *monkey) event() string {
	if len(m.ev) == 0 {
		return "none"
	}
	return m.ev[max(0, len(m.ev)-1-m.IntN(40))]
}

func (m *monkey) data(kv ...any) string {
	d := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		if kv[i+1] != nil {
			d[kv[i].(string)] = kv[i+1]
		}
	}
	if m.IntN(12) == 0 {
		d["effective_timestamp"] = m.s.clock().Add(-time.Duration(m.IntN(30*24)) * time.Hour).Unix()
	}
	b, _ := json.Marshal(d)
	return string(b)
}

func (m *monkey) maybe(v any) any {
	if m.IntN(2) == 0 {
		return nil
	}
	return v
}

func (m *monkey) draw() loyalty.Submission {
	s := loyalty.Submission{Customer: m.who()}
	act := func(a string, kv ...any) loyalty.Submission {
		s.Action = a
		s.Data = json.RawMessage(m.data(kv...))
		return s
	}
	op := func(a string, kv ...any) loyalty.Submission {
		s.Action, s.Operation = a, true
		d := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			d[kv[i].(string)] = kv[i+1]
		}
		s.Data, _ = json.Marshal(d)
		return s
	}
	if m.IntN(10) == 0 {
		s.Customer, s.ExternalID = m.of("1", "2", "3"), "crm"
	}
	n := 1 + m.IntN(60)
	switch m.IntN(46) {
	case 0, 1:
		return act("opt_in", "email", m.who()+"@shop.test", "first_name", "X", "referrer", m.maybe(m.who()))
	case 2:
		return act("subscribe", "handler", "h", "email", m.who()+"@shop.test")
	case 3:
		var v any = m.of("1", "2", "3")
		if m.IntN(3) == 0 {
			return act("profile", "external_ids", map[string]any{"crm": nil})
		}
		return act("profile", "external_ids", map[string]any{"crm": v}, "cf_x", "y", "email", m.maybe(m.who()+"@shop.test"))
	case 4:
		if m.IntN(4) == 0 {
			return act("opt_out", "reason", "r")
		}
		return act(m.of("suspend", "unsuspend"))
	case 5, 6:
		return act("point_add", "points", n, "transaction_id", m.maybe(m.trans()))
	case 7:
		return act("point_sub", "points", n)
	case 8:
		return act("point_spend", "points", n)
	case 9:
		return act("point_unspend", "points", 1+n/4)
	case 10:
		return act("reserve_points", "points", 1+n/3, "transaction_id", m.trans())
	case 11:
		return act("release_points", "transaction_id", m.trans(), "points", m.maybe(1+n/4))
	case 12, 13, 14, 15, 16:
		items := []any{}
		for i := range m.IntN(3) {
			it := map[string]any{"product_id": fmt.Sprint("p-", i), "product_name": "n", "product_url": "https://shop.test/", "quantity": 1 + m.IntN(3), "subtotal": float64(m.IntN(4000)) / 100}
			if m.IntN(5) == 0 {
				it["engraving"] = "secret"
			}
			items = append(items, it)
		}
		var coupon, offers any
		if m.IntN(4) == 0 {
			coupon = m.code()
		}
		if m.IntN(4) == 0 {
			offers = []string{"o"}
		}
		var auto any
		if m.IntN(6) == 0 {
			auto = m.s.clock().Add(time.Duration(m.IntN(100)) * time.Hour).Format(time.RFC3339)
		}
		var burn any
		if m.IntN(3) == 0 {
			burn = n / 3
		}
		s.Guest = m.IntN(3) == 0
		m.tx++
		return act("checkout", "transaction_id", m.trans(), "total", float64(m.IntN(9000))/100, "items", items, "points_burned", burn, "coupon_code", coupon, "offers", offers, "auto_accept", auto, "note", m.maybe("personal"))
	case 17:
		return act("checkout_accept", "transaction_id", m.trans())
	case 18:
		return act("checkout_reject", "transaction_id", m.trans())
	case 19:
		return act("checkout_update", "transaction_id", m.trans(), "total", m.IntN(90), "points_burned", m.maybe(n/4))
	case 20:
		return act("partial_refund", "transaction_id", m.trans(), "amount", float64(1+m.IntN(3000))/100)
	case 21:
		return act("refund", "transaction_id", m.trans())
	case 22:
		return act("refund_item", "transaction_id", m.trans(), "product_id", m.of("p-0", "p-1"), "quantity", m.maybe(1))
	case 23, 24:
		return act("checkout_claim", "transaction_id", m.trans())
	case 25:
		return act("coupon_create", "code", m.code(), "value", 5, "amount", m.maybe(10), "expdate", m.maybe(m.s.clock().Add(time.Duration(m.IntN(200))*time.Hour).Format(time.RFC3339)))
	case 26:
		return act("coupon_redeem", "code", m.code(), "amount", m.maybe(m.IntN(8)), "transaction_id", m.maybe(m.trans()))
	case 27:
		return act(m.of("coupon_unredeem", "unassign_coupon", "coupon_invalidate"), "code", m.code())
	case 28, 29:
		if m.IntN(3) == 0 {
			return act("coupon_transfer", "reward_id", "mug", "target", m.who())
		}
		if m.IntN(2) == 0 {
			return act("coupon_transfer", "code", m.code(), "email", m.of("new-1", "new-2", "ada", "ben")+"@shop.test")
		}
		return act("coupon_transfer", "code", m.code(), "target", m.who())
	case 30, 31, 32:
		return op("reward_claim", "reward", m.of("mug", "gift", "code", "phys"))
	case 33, 34:
		return act("reward_revoke", "event", m.event())
	case 35:
		return act("reward_transfer", "reward", m.of("mug", "gift", "code", "phys"), "target", m.who())
	case 36:
		return op("merge", "source", m.who())
	case 37:
		return act(m.of("pending_validate", "pending_invalidate"), "event", m.event())
	case 38:
		return act("pending_expired", "points", 1+n/8)
	case 39:
		return op("contest_enter", "contest_id", "k", "count", 1+m.IntN(2))
	case 40:
		return act("contest_entry_revoke", "contest_id", "k", "refund_points", true, "count", m.maybe(1))
	case 41:
		return op("prize_wheel_spin", "wheel", "w")
	case 42:
		return act(m.of("offer_redeem", "offer_unredeem"), "offer", "o")
	case 43:
		return op("tier_change", "tier", m.of("silver", "gold", "vip"))
	case 44:
		return act("visit", "url", "https://shop.test/", "points", m.maybe(n))
	default:
		return act(m.of("treasure_found", "challenge_reset"), m.of("treasure_id", "challenge"), "t")
	}
}

func (m *monkey) configure() {
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
		campaign("c1", `"trigger":"checkout","condition":"transaction.total > 20","effects":[{"type":"multiply","factor":1.5},{"type":"label","label":"big"}],"limit":{"per_customer":2}`),
		campaign("c2", `"trigger":"checkout_item","effects":[{"type":"points","points":1}],"limit":{"total":9}`),
		campaign("c3", `"trigger":"merge","condition":"customer.score > 30","effects":[{"type":"points","points":2},{"type":"tier","tier":"silver"}]`),
		campaign("c4", `"trigger":"coupon_receive","effects":[{"type":"challenge","challenge":"bonus"},{"type":"points","points":1}],"limit":{"per_customer":3}`),
		campaign("c5", `"trigger":"tier_up","effects":[{"type":"coupon","coupon":{"type":"free_shipping"}}]`),
		campaign("c6", `"trigger":"point_expire","effects":[{"type":"points","points":1}],"limit":{"per_customer":4}`),
		campaign("c7", `"trigger":"refund","effects":[{"type":"tier","tier":"vip"}]`),
	}
	m.s.make(base, all)
}

func TestReview3Monkey(t *testing.T) {
	from, to := 1, 6
	if v := os.Getenv("MONKEY"); v != "" {
		fmt.Sscanf(v, "%d-%d", &from, &to)
	}
	reached := map[string]int{}
	for seed := from; seed <= to; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			url := storetest.SQLite(t)
			if os.Getenv("MONKEYPG") != "" {
				url = storetest.All[1].Migrated(t)
			}
			m := &monkey{Rand: rand.New(rand.NewPCG(uint64(seed), 7)), s: nil}
			m.s = newShop(t, url, nil, func(o *loyalty.EngineOptions) {
				clock := o.Clock
				o.Clock = func() time.Time {
					if m.s != nil {
						m.s.wait(time.Millisecond)
					}
					return clock()
				}
			})
			s := m.s
			m.configure()
			defer func() {
				if t.Failed() {
					for _, l := range m.log[0:] {
						t.Log(l)
					}
				}
			}()
			for _, n := range []string{"ada", "ben", "cili", "dora"} {
				s.must(n, "opt_in", `{"email":"`+n+`@shop.test"}`)
			}
			judge := func(sub loyalty.Submission, r loyalty.Result) {
				fate := "ok"
				if r.Err != nil {
					fate = loyalty.AsError(r.Err).Name
				}
				reached[sub.Action+" "+fate]++
				m.log = append(m.log, fmt.Sprintf("%s %s%s %s %s -> %v", s.clock().Format("01-02T15:04"), sub.Customer, sub.ExternalID, sub.Action, sub.Data, r.Err))
				for _, e := range r.Outcome.Events {
					m.ev = append(m.ev, e.ID.String())
				}
				if r.Err != nil {
					k := loyalty.AsError(r.Err).Kind
					require.False(t, k == loyalty.Internal || k == loyalty.Unavailable, "%s %s %v", sub.Action, sub.Data, r.Err)
				}
			}
			check := func() {
				s.verify()
				bad := false
				require.NoError(t, s.db.VerifyRebuild(ctx, func(d loyalty.Difference) { bad = true; t.Errorf("%+v", d) }, func(store.RebuildProgress) {}))
				require.False(t, bad)
			}
			for range 120 {
				switch m.IntN(12) {
				case 0:
					s.wait(time.Duration(m.IntN(60)) * time.Hour)
					m.log = append(m.log, "wait to "+s.clock().Format("01-02T15:04"))
				case 1:
					if m.IntN(3) == 0 {
						m.configure()
						m.log = append(m.log, "configure")
					}
				case 2:
					m.log = append(m.log, "settle")
					require.NoError(t, s.SettleDue(ctx))
				case 3, 4, 5:
					var list []loyalty.Submission
					for range 2 + m.IntN(6) {
						list = append(list, m.draw())
					}
					m.log = append(m.log, "bulk:")
					for i, r := range s.SubmitAll(ctx, list) {
						judge(list[i], r)
					}
				case 6:
					if len(m.keys) > 0 {
						sub := m.keys[m.IntN(len(m.keys))]
						o, err := s.Submit(ctx, sub)
						if err == nil && o.Replayed == nil {
							judge(sub, loyalty.Result{Outcome: o, Err: err}) // older than a day
						}
						m.log = append(m.log, fmt.Sprint("replay ", sub.Action, " ", err))
						if err != nil && !errors.Is(err, loyalty.ErrCustomerNotFound) {
							judge(sub, loyalty.Result{Err: err})
						}
					}
				default:
					sub := m.draw()
					if m.IntN(3) == 0 {
						sub = keyed(sub, fmt.Sprint("k", len(m.log)))
						m.keys = append(m.keys, sub)
					}
					if m.IntN(3) == 0 {
						p, perr := s.Preview(ctx, sub)
						o, err := s.Submit(ctx, sub)
						judge(sub, loyalty.Result{Outcome: o, Err: err})
						if !strings.Contains(sub.Action, "wheel") {
							require.Equal(t, perr == nil, err == nil, "preview %v, submit %v", perr, err)
							if err == nil {
								require.Equal(t, p.Customer.Figures, o.Customer.Figures, "preview of %s %s", sub.Action, sub.Data)
							}
						}
						break
					}
					o, err := s.Submit(ctx, sub)
					judge(sub, loyalty.Result{Outcome: o, Err: err})
				}
				if m.IntN(8) == 0 {
					check()
				}
			}
			s.wait(100 * 24 * time.Hour)
			require.NoError(t, s.SettleDue(ctx))
			check()
		})
	}
	if os.Getenv("MONKEYLOG") != "" {
		for k, n := range reached {
			t.Log(n, k)
		}
	}
}
