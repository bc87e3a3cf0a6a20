package job_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

func (m *mischief) of(list ...string) string { return list[m.IntN(len(list))] }

func (m *mischief) who() string {
	return m.of("ada", "ben", "cili", "dora", "ada", "ben", "cili", "guest-1", "guest-2", "emma")
}

func (m *mischief) code() string { return m.of("C-1", "C-2", "C-3", "C-4", "P-1", "P-2", "P-3") }

func (m *mischief) trans() string { return fmt.Sprint("T-", 1+m.IntN(8)) }

// event names an event that was recorded lately.
func (m *mischief) event() string {
	if len(m.events) == 0 {
		return "none"
	}
	return m.events[max(0, len(m.events)-1-m.IntN(40))]
}

// data writes attributes; those without a value are left out.
func (m *mischief) data(kv ...any) string {
	d := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		if kv[i+1] != nil {
			d[kv[i].(string)] = kv[i+1]
		}
	}
	if m.IntN(12) == 0 {
		d["effective_timestamp"] = m.clock().Add(-time.Duration(m.IntN(30*24)) * time.Hour).Unix()
	}
	b, _ := json.Marshal(d)
	return string(b)
}

func (m *mischief) maybe(v any) any {
	if m.IntN(2) == 0 {
		return nil
	}
	return v
}

// draw makes up an event about few customers, purchases and codes, so that they meet.
func (m *mischief) draw() loyalty.Submission {
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
			auto = m.clock().Add(time.Duration(m.IntN(100)) * time.Hour).Format(time.RFC3339)
		}
		var burn any
		if m.IntN(3) == 0 {
			burn = n / 3
		}
		s.Guest = m.IntN(3) == 0
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
		return act("coupon_create", "code", m.code(), "value", 5, "amount", m.maybe(10), "expdate", m.maybe(m.clock().Add(time.Duration(m.IntN(200))*time.Hour).Format(time.RFC3339)))
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
