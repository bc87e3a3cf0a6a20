package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// theProgramme is what the actions need that are about more than points.
var theProgramme = things{
	{"coupons/pool", "codes", `{"name":"A","source":"uploaded","coupon":{"type":"amount","value":5}}`},
	{"rewards/reward", "mug", `{"title":{"en":"A"},"type":"physical","points":1}`},
	{"rewards/reward", "card", `{"title":{"en":"A"},"type":"coupon","coupon":{"type":"amount","value":5}}`},
	{"contests/contest", "raffle", `{"title":{"en":"A"},"points":1}`},
	{"offers/offer", "deal", `{"name":{"en":"A"},"type":"cart","discount":{"type":"fixed_discount","value":1}}`},
	{"challenges/challenge", "count", `{"title":{"en":"A"},"criteria":[{"action":"visit","threshold":9}],"resetable":true}`},
	{"treasure-hunt/treasure", "online", `{"title":{"en":"A"},"kind":"online"}`},
	{"treasure-hunt/treasure", "offline", `{"title":{"en":"A"},"kind":"offline"}`},
	{"treasure-hunt/treasure", "coded", `{"title":{"en":"A"},"kind":"offline","code":"OAK"}`},
}

// Every trigger in every state of a customer, as decisions.md 3 has it: the state after, or the error. An event sent to
// a merged customer has the same result as one that names the target.
func TestCustomerStates(t *testing.T) {
	type cell struct {
		after loyalty.Status
		err   error
	}

	ok := func(s loyalty.Status) cell { return cell{after: s} }
	no := func(err error) cell { return cell{err: err} }
	const none, inactive, active, suspended = loyalty.None, loyalty.Inactive, loyalty.Active, loyalty.Suspended
	unknown, forbidden, wrong, exists := no(loyalty.ErrCustomerNotFound), no(loyalty.ErrForbiddenState), no(loyalty.ErrWrongStatus), no(loyalty.ErrCustomerExists)
	held := no(loyalty.ErrSuspended)
	earner, spender := [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}, [5]cell{unknown, wrong, ok(active), held, wrong}
	// an inactive customer may have bought as a guest: these have not
	buyer, burner := earner, spender
	buyer[1], burner[1] = no(loyalty.ErrTransactionNotFound), no(loyalty.ErrTransactionNotFound)
	anyone := [5]cell{unknown, ok(inactive), ok(active), ok(suspended), wrong}
	before := []loyalty.Status{none, inactive, active, suspended, loyalty.OptedOut, loyalty.Merged}
	table := []struct {
		action, data string
		after        [5]cell // none, inactive, active, suspended, opted out
	}{
		{"subscribe", `{"handler":"h"}`, [5]cell{ok(inactive), forbidden, exists, exists, forbidden}},
		{"opt_in", `{"email":"x@shop.test"}`, [5]cell{ok(active), ok(active), exists, exists, forbidden}},
		{"profile", `{"opt_in":true}`, [5]cell{ok(active), ok(active), ok(active), ok(suspended), wrong}},
		{"profile", `{"opt_in":false}`, anyone},
		{"profile", `{"language":"hun"}`, anyone},
		{"suspend", `{}`, [5]cell{unknown, forbidden, ok(suspended), forbidden, forbidden}},
		{"unsuspend", `{}`, [5]cell{unknown, forbidden, forbidden, ok(active), forbidden}},
		{"opt_out", `{}`, [5]cell{unknown, ok(loyalty.OptedOut), ok(loyalty.OptedOut), ok(loyalty.OptedOut), forbidden}},
		{"visit", `{"url":"https://shop.test/"}`, anyone},
		{"visit", `{"url":"https://shop.test/","points":1}`, earner},
		{"video", `{"url":"https://shop.test/"}`, anyone},
		{"video", `{"url":"https://shop.test/","points":1}`, earner},
		{"review", `{"item_id":"p"}`, anyone},
		{"review_submit", `{"item":"p","review":"Good."}`, anyone},
		{"point_add", `{"points":1}`, earner},
		{"point_sub", `{"points":1}`, earner},
		{"point_spend", `{"points":1}`, spender},
		{"point_unspend", `{"points":1}`, earner},
		{"reserve_points", `{"transaction_id":"%s-r","points":1}`, spender},
		{"release_points", `{"transaction_id":"%s-h"}`, earner},
		{"checkout", `{"transaction_id":"%s-n","total":1}`, earner},
		{"checkout", `{"transaction_id":"%s-n","total":1,"points_burned":1}`, spender},
		{"checkout", `{"transaction_id":"%s-n","total":1,"coupons":["%s-c"]}`, spender},
		{"checkout", `{"transaction_id":"%s-n","total":1,"offers":["deal"]}`, earner},
		{"checkout_update", `{"transaction_id":"%s-p","total":1}`, buyer},
		{"checkout_update", `{"transaction_id":"%s-p","total":1,"points_burned":1}`, burner},
		{"checkout_accept", `{"transaction_id":"%s-p"}`, buyer},
		{"checkout_reject", `{"transaction_id":"%s-p"}`, buyer},
		{"checkout_claim", `{"transaction_id":"%s-g"}`, spender},
		{"refund", `{"transaction_id":"%s-a"}`, buyer},
		{"refund_item", `{"transaction_id":"%s-a","product_id":"p"}`, buyer},
		{"partial_refund", `{"transaction_id":"%s-a","amount":1}`, buyer},
		{"coupon", `{"code":"%s-n"}`, earner},
		{"coupon_create", `{"code":"%s-n","value":1}`, earner},
		{"coupon_redeem", `{"code":"%s-c"}`, spender},
		{"coupon_unredeem", `{"code":"%s-u"}`, earner},
		{"coupon_invalidate", `{"code":"%s-c"}`, earner},
		{"coupon_transfer", `{"code":"%s-c","target":"friend"}`, spender},
		{"unassign_coupon", `{"code":"%s-c"}`, earner},
		{"reward_revoke", `{"event":"$claim"}`, earner},
		{"reward_transfer", `{"reward":"mug","target":"friend"}`, spender},
		{"contest_entry_revoke", `{"contest_id":"raffle","refund_points":true}`, earner},
		{"offer_redeem", `{"offer":"deal"}`, earner},
		{"offer_unredeem", `{"offer":"deal"}`, earner},
		{"challenge_reset", `{"challenge":"count"}`, earner},
		{"treasure_found", `{"treasure_id":"online"}`, earner},
		{"offline_treasure_found", `{"treasure_id":"offline"}`, earner},
		{"offline_treasure_code_found", `{"treasure_id":"coded","code":"OAK"}`, earner},
	}

	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(modules{"checkout_accept": `{}`, "contests": `{}`, "customer_id_validation": `{}`}, theProgramme)
		s.Must("friend", "opt_in", `{"email":"friend@shop.test"}`)
		known := map[string]bool{}
		for i, row := range table {
			known[row.action] = true
			for k, from := range before {
				m := s.member(fmt.Sprintf("c%d-%d", i, k), from)
				data := strings.ReplaceAll(strings.ReplaceAll(row.data, "%s", m.was), "$claim", m.claim)
				want := row.after[min(k, 4)]
				if from == loyalty.Merged {
					want, from = row.after[2], active
				}

				if want.err != nil {
					e := s.Refused(want.err, m.name, row.action, data)
					if want.err == loyalty.ErrForbiddenState {
						require.Equal(t, string(from), e.Args["from"], "names the state before")
						require.NotEmpty(t, e.Args["to"], "and the state that was asked for")
					}
					continue
				}

				o := s.Must(m.name, row.action, data)
				require.Equal(t, want.after, o.Customer.Status, "%s of a customer who is %q", row.action, from)
				if m.into != (loyalty.ID{}) {
					require.Equal(t, m.into, o.Customer.ID, "%s goes to the target", row.action)
				}
			}
		}

		require.Len(t, known, 40, "every action but those that settle what waits")
		s.Verify()
	})
}

// The three events that settle what waits, in every state of a customer. A held
// action is held to the state that its customer has by then.
func TestHeldStates(t *testing.T) {
	states := []loyalty.Status{loyalty.Inactive, loyalty.Active, loyalty.Suspended, loyalty.OptedOut, loyalty.Merged}
	table := []struct {
		action, data string
		held         string // the action that waits
		err          [5]error
	}{
		{"pending_validate", `{"event":"$held"}`, "point_add", [5]error{loyalty.ErrHeldNotFound, nil, nil, loyalty.ErrWrongStatus, nil}},
		{"pending_validate", `{"event":"$held"}`, "point_spend", [5]error{loyalty.ErrHeldNotFound, nil, loyalty.ErrSuspended, loyalty.ErrWrongStatus, nil}},
		{"pending_invalidate", `{"event":"$held"}`, "point_add", [5]error{loyalty.ErrHeldNotFound, nil, nil, loyalty.ErrWrongStatus, nil}},
		{"pending_expired", `{"points":2}`, "point_add", [5]error{loyalty.ErrPendingTooMuch, nil, nil, loyalty.ErrWrongStatus, nil}},
	}

	eachShop(t, modules{"pending_events": `{"actions":["point_add","point_spend"]}`}, func(t *testing.T, s *shop) {
		for i, row := range table {
			s.Refused(loyalty.ErrCustomerNotFound, "nobody", row.action, strings.ReplaceAll(row.data, "$held", loyalty.ID{}.String()))
			for k, state := range states {
				name, held := fmt.Sprintf("c%d-%d", i, k), loyalty.ID{}.String()
				if state == loyalty.Inactive {
					s.Must(name, "subscribe", `{"handler":"h"}`)
				} else {
					s.Must(name, "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, name))
					s.Must(name, "visit", `{"url":"https://shop.test/","points":9}`)
					held = s.Must(name, row.held, `{"points":2}`).Events[0].ID.String()
					name = s.lead(name, state)
				}

				data := strings.ReplaceAll(row.data, "$held", held)
				if row.err[k] != nil {
					s.Refused(row.err[k], name, row.action, data)
					continue
				}

				o := s.Must(name, row.action, data)
				require.Equal(t, row.action, o.Events[0].Action)
				require.Zero(t, o.Customer.Figures.Pending)
				if row.action != "pending_expired" {
					s.Refused(loyalty.ErrHeldNotFound, name, row.action, data)
				}
			}
		}

		s.Verify()
	})
}

// stated is a customer of the table of states.
type stated struct {
	was, name string // at first, and as they are known now
	claim     string // the event of a claimed reward
	into      loyalty.ID
}

// member brings a customer with something of everything, and leads them to a
// state.
func (s *shop) member(name string, to loyalty.Status) stated {
	s.T.Helper()
	m := stated{was: name, name: name, claim: loyalty.ID{}.String()}
	guest := loyaltytest.Event("guest-"+name, "checkout", fmt.Sprintf(`{"transaction_id":"%s-g","total":1}`, name))
	guest.Guest = true
	_, err := s.Submit(context.Background(), guest)
	require.NoError(s.T, err)
	if to == loyalty.None || to == loyalty.Inactive {
		s.bring(name, to)
		return m
	}

	s.bring(name, loyalty.Active)
	done := s.Together(
		loyaltytest.Event(name, "coupon", fmt.Sprintf(`{"code":"%s-c"}`, name)),
		loyaltytest.Event(name, "coupon", fmt.Sprintf(`{"code":"%s-u"}`, name)),
		loyaltytest.Event(name, "coupon_redeem", fmt.Sprintf(`{"code":"%s-u"}`, name)),
		loyaltytest.Event(name, "offer_redeem", `{"offer":"deal"}`),
		loyaltytest.Event(name, "visit", `{"url":"https://shop.test/"}`),
		loyaltytest.Operation(name, "contest_enter", `{"contest_id":"raffle"}`),
		loyaltytest.Operation(name, "reward_claim", `{"reward":"mug"}`),
	)

	m.claim = done[len(done)-1].Events[0].ID.String()
	m.name = s.lead(name, to)
	if to == loyalty.Merged {
		m.into = s.Customer(name + "-into").ID
	}

	return m
}

// lead brings an active customer to a state and answers the name by which they are
// known then. One who is merged becomes part of <name>-into.
func (s *shop) lead(name string, to loyalty.Status) string {
	s.T.Helper()
	switch to {
	case loyalty.Suspended:
		s.Must(name, "suspend", `{}`)
	case loyalty.OptedOut:
		return s.Must(name, "opt_out", `{}`).Customer.Name
	case loyalty.Merged:
		s.Must(name+"-into", "opt_in", fmt.Sprintf(`{"email":"%s-into@shop.test"}`, name))
		_, err := s.Submit(context.Background(), loyaltytest.Operation(name+"-into", "merge", fmt.Sprintf(`{"source":%q}`, name)))
		require.NoError(s.T, err)
	}
	return name
}

// bring leads a customer to a state, with points, something spent, a
// reservation, a pending and an accepted purchase where the state allows it,
// and answers the name by which the customer is known now.
func (s *shop) bring(name string, to loyalty.Status) string {
	s.T.Helper()
	switch to {
	case loyalty.None:
		return name
	case loyalty.Inactive:
		s.Must(name, "subscribe", `{"handler":"h"}`)
		return name
	}

	all := []loyalty.Submission{
		loyaltytest.Event(name, "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, name)),
		loyaltytest.Event(name, "point_add", `{"points":100}`),
		loyaltytest.Event(name, "point_spend", `{"points":10}`),
		loyaltytest.Event(name, "reserve_points", fmt.Sprintf(`{"transaction_id":"%s-h","points":5}`, name)),
	}

	item := `{"product_id":"p","product_name":"a","product_url":"https://shop.test/1","quantity":1,"subtotal":10}`
	for _, suffix := range []string{"p", "a", "x", "f"} {
		all = append(all, loyaltytest.Event(name, "checkout", fmt.Sprintf(`{"transaction_id":"%s-%s","total":10,"items":[%s]}`, name, suffix, item)))
	}

	s.Together(append(all,
		loyaltytest.Event(name, "checkout_accept", fmt.Sprintf(`{"transaction_id":"%s-a"}`, name)),
		loyaltytest.Event(name, "checkout_reject", fmt.Sprintf(`{"transaction_id":"%s-x"}`, name)),
		loyaltytest.Event(name, "checkout_accept", fmt.Sprintf(`{"transaction_id":"%s-f"}`, name)),
		loyaltytest.Event(name, "refund", fmt.Sprintf(`{"transaction_id":"%s-f"}`, name)),
	)...)

	switch to {
	case loyalty.Suspended:
		s.Must(name, "suspend", `{}`)
	case loyalty.OptedOut:
		return s.Must(name, "opt_out", `{}`).Customer.Name
	}

	return name
}

// Every trigger in every state of a purchase, as decisions.md 5 has it. Another customer's purchase counts as not
// found.
func TestTransactionStates(t *testing.T) {
	const pending, accepted, rejected, refunded = loyalty.Pending, loyalty.Accepted, loyalty.Rejected, loyalty.Refunded
	missing, not := loyalty.ErrTransactionNotFound, loyalty.ErrNotRefundable
	suffixes := [5]string{"p", "a", "x", "f", "none"}
	table := []struct {
		action, data string
		after        [5]any // pending, accepted, rejected, refunded, none
	}{
		{"checkout", `{"transaction_id":%q,"total":1}`, [5]any{loyalty.ErrTransactionExists, loyalty.ErrTransactionExists, loyalty.ErrTransactionExists, loyalty.ErrTransactionExists, pending}},
		{"checkout_accept", `{"transaction_id":%q}`, [5]any{accepted, missing, missing, missing, missing}},
		{"checkout_reject", `{"transaction_id":%q}`, [5]any{rejected, missing, missing, missing, missing}},
		{"checkout_update", `{"transaction_id":%q,"total":1}`, [5]any{pending, missing, missing, missing, missing}},
		{"partial_refund", `{"transaction_id":%q,"amount":1}`, [5]any{not, accepted, not, not, missing}},
		{"refund_item", `{"transaction_id":%q,"product_id":"p"}`, [5]any{not, accepted, not, not, missing}},
		{"refund", `{"transaction_id":%q}`, [5]any{not, refunded, not, not, missing}},
	}

	eachShop(t, modules{"checkout_accept": `{}`}, func(t *testing.T, s *shop) {
		s.bring("other", loyalty.Active)
		for i, row := range table {
			name := s.bring(fmt.Sprintf("c%d", i), loyalty.Active)
			for k, suffix := range suffixes {
				id := name + "-" + suffix
				switch want := row.after[k].(type) {
				case error:
					e := s.Refused(want, name, row.action, fmt.Sprintf(row.data, id))
					if want == error(not) {
						require.Equal(t, string(s.Transaction(name, id).State), e.Args["status"])
					}
				case loyalty.TransactionState:
					s.Must(name, row.action, fmt.Sprintf(row.data, id))
					require.Equal(t, want, s.Transaction(name, id).State, "%s of a purchase that is %s", row.action, suffix)
				}

				others := fmt.Sprintf(row.data, "other-"+suffixes[k%4])
				if row.action == "checkout" {
					s.Refused(loyalty.ErrTransactionExists, name, row.action, others)
				} else {
					s.Refused(missing, name, row.action, others)
				}
			}
		}

		s.Verify()
	})
}

// Every event about a coupon in every state of one, sent by its holder: the state after, or the error. For other
// customers it counts as not found, unless it has no holder.
func TestCouponTriggers(t *testing.T) {
	const created, claimed, redeemed, part = loyalty.CouponCreated, loyalty.CouponClaimed, loyalty.CouponRedeemed, loyalty.CouponPartiallyRedeemed
	const unassigned, invalidated = loyalty.CouponUnassigned, loyalty.CouponInvalidated
	missing, forbidden, exists := loyalty.ErrCouponNotFound, loyalty.ErrForbiddenState, loyalty.ErrCouponExists
	states := []loyalty.CouponState{created, claimed, unassigned, redeemed, part, invalidated, loyalty.CouponExpired, "none"}
	table := []struct {
		action, data string
		after        [8]any // by state
	}{
		{"coupon_create", `{"code":%q,"value":5}`, [8]any{exists, exists, claimed, exists, exists, exists, exists, claimed}},
		{"coupon", `{"code":%q}`, [8]any{exists, exists, claimed, exists, exists, exists, exists, claimed}},
		{"coupon_redeem", `{"code":%q}`, [8]any{redeemed, redeemed, redeemed, missing, redeemed, missing, missing, missing}},
		{"coupon_unredeem", `{"code":%q}`, [8]any{missing, forbidden, missing, claimed, claimed, forbidden, forbidden, missing}},
		{"unassign_coupon", `{"code":%q}`, [8]any{missing, unassigned, missing, forbidden, forbidden, forbidden, forbidden, missing}},
		{"coupon_invalidate", `{"code":%q}`, [8]any{invalidated, invalidated, invalidated, invalidated, invalidated, invalidated, invalidated, missing}},
		{"coupon_transfer", `{"code":%q,"target":"friend"}`, [8]any{missing, claimed, missing, forbidden, part, forbidden, forbidden, missing}},
		{"checkout", `{"transaction_id":"T-%[1]s","total":1000,"coupons":[%[1]q]}`, [8]any{redeemed, redeemed, redeemed, missing, redeemed, missing, missing, missing}},
	}

	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(nil, theProgramme)
		for _, name := range []string{"ada", "ben", "friend"} {
			s.Must(name, "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, name))
		}

		for i, row := range table {
			for k, state := range states {
				code := fmt.Sprintf("K%d-%d", i, k)
				s.couponIn(code, state)
				data := fmt.Sprintf(row.data, code)
				held := state != created && state != unassigned && state != "none"
				if held && row.action != "coupon_create" && row.action != "coupon" {
					s.Refused(missing, "ben", row.action, data)
				}

				switch want := row.after[k].(type) {
				case error:
					s.Refused(want, "ada", row.action, data)
				case loyalty.CouponState:
					s.Must("ada", row.action, data)
					c := s.coupon(code)
					require.Equal(t, want, c.StateAt(s.Clock()), "%s of a coupon that is %s", row.action, state)
				}
			}
		}

		s.Verify()
	})
}

// couponIn makes a coupon and leads it to a state; ada holds it if the state has a holder.
func (s *shop) couponIn(code string, state loyalty.CouponState) {
	s.T.Helper()
	data := fmt.Sprintf(`{"code":%q}`, code)
	switch state {
	case "none":
		return
	case loyalty.CouponCreated:
		c := loyalty.Coupon{ID: loyalty.NewID(s.Clock(), loyalty.ID{}), Code: code, State: state, Pool: "codes", Type: loyalty.CouponAmount, Value: 50_000, CreatedAt: s.Clock()}
		require.NoError(s.T, s.DB.Change(context.Background(), func(tx loyalty.AdminTx) error {
			_, err := tx.AddCoupons([]loyalty.Coupon{c})
			return err
		}))
		return
	case loyalty.CouponExpired:
		s.Must("ada", "coupon", fmt.Sprintf(`{"code":%q,"expiration_date":%q}`, code, s.Clock().Format(time.RFC3339)))
		return
	}

	s.Must("ada", "coupon", fmt.Sprintf(`{"code":%q,"amount":10}`, code))
	switch state {
	case loyalty.CouponUnassigned:
		s.Must("ada", "unassign_coupon", data)
	case loyalty.CouponRedeemed:
		s.Must("ada", "coupon_redeem", data)
	case loyalty.CouponPartiallyRedeemed:
		s.Must("ada", "coupon_redeem", fmt.Sprintf(`{"code":%q,"amount":3}`, code))
	case loyalty.CouponInvalidated:
		s.Must("ada", "coupon_invalidate", data)
	}
}

// coupon reads a coupon as it is stored.
func (s *shop) coupon(code string) (c loyalty.Coupon) {
	s.T.Helper()
	needs := loyalty.Needs{Customers: []loyalty.CustomerNeeds{{ID: s.Customer("ada").ID, Coupons: []string{code}}}}
	require.NoError(s.T, s.DB.Within(context.Background(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		c = l.Coupons[l.Names[loyalty.CodeName(code)]]
		return &loyalty.Writes{}, nil
	}))
	return c
}

// Every event about a claimed reward in every state of one.
func TestClaimTriggers(t *testing.T) {
	missing, gone, forbidden, used := loyalty.ErrClaimNotFound, loyalty.ErrRewardNotFound, loyalty.ErrForbiddenState, loyalty.ErrCouponUsed
	states := []string{"claimed", "revoked", "transferred", "used", "received", "none"}
	table := []struct {
		action, data string
		err          [6]error
	}{
		{"reward_revoke", `{"event":"$claim"}`, [6]error{nil, forbidden, forbidden, used, nil, missing}},
		{"reward_transfer", `{"reward":"card","target":"friend"}`, [6]error{nil, gone, gone, gone, nil, gone}},
	}

	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(nil, theProgramme)
		s.Must("friend", "opt_in", `{"email":"friend@shop.test"}`)
		for i, row := range table {
			for k, state := range states {
				name := fmt.Sprintf("c%d-%d", i, k)
				s.Must(name, "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, name))
				data := strings.ReplaceAll(row.data, "$claim", s.claimIn(name, state))
				if row.err[k] != nil {
					s.Refused(row.err[k], name, row.action, data)
				} else {
					s.Must(name, row.action, data)
				}
			}
		}

		s.Verify()
	})
}

// claimIn has a customer claim a reward and leads the claim to a state. It answers
// the event that records it.
func (s *shop) claimIn(name, state string) string {
	s.T.Helper()
	if state == "none" {
		return loyalty.ID{}.String()
	}

	claimant := name
	if state == "received" {
		claimant = name + "-giver"
		s.Must(claimant, "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, claimant))
	}

	o, err := s.Submit(context.Background(), loyaltytest.Operation(claimant, "reward_claim", `{"reward":"card"}`))
	require.NoError(s.T, err)
	claim := o.Events[0].ID.String()
	switch state {
	case "revoked":
		s.Must(name, "reward_revoke", fmt.Sprintf(`{"event":%q}`, claim))
	case "transferred":
		s.Must(name, "reward_transfer", `{"reward":"card","target":"friend"}`)
	case "used":
		s.Must(name, "coupon_redeem", fmt.Sprintf(`{"code":%q}`, o.Events[0].Effects.Coupons[0].Code))
	case "received":
		o = s.Must(claimant, "reward_transfer", fmt.Sprintf(`{"reward":"card","target":%q}`, name))
		claim = o.Events[1].ID.String()
	}

	return claim
}
