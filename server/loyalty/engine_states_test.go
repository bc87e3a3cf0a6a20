package loyalty_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Every trigger in every state of a customer, as decisions.md 3 has it: the
// state after, or the error.
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
	before := []loyalty.Status{none, inactive, active, suspended, loyalty.OptedOut}
	table := []struct {
		action, data string
		after        [5]cell // none, inactive, active, suspended, opted out
	}{
		{"subscribe", `{"handler":"h"}`, [5]cell{ok(inactive), forbidden, exists, exists, forbidden}},
		{"opt_in", `{"email":"x@shop.test"}`, [5]cell{ok(active), ok(active), exists, exists, forbidden}},
		{"profile", `{"opt_in":true}`, [5]cell{ok(active), ok(active), ok(active), ok(suspended), wrong}},
		{"profile", `{"opt_in":false}`, [5]cell{unknown, ok(inactive), ok(active), ok(suspended), wrong}},
		{"profile", `{"language":"hun"}`, [5]cell{unknown, ok(inactive), ok(active), ok(suspended), wrong}},
		{"suspend", `{}`, [5]cell{unknown, forbidden, ok(suspended), forbidden, forbidden}},
		{"unsuspend", `{}`, [5]cell{unknown, forbidden, forbidden, ok(active), forbidden}},
		{"opt_out", `{}`, [5]cell{unknown, ok(loyalty.OptedOut), ok(loyalty.OptedOut), ok(loyalty.OptedOut), forbidden}},
		{"visit", `{"url":"https://shop.test/"}`, [5]cell{unknown, ok(inactive), ok(active), ok(suspended), wrong}},
		{"visit", `{"url":"https://shop.test/","points":1}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"video", `{"url":"https://shop.test/"}`, [5]cell{unknown, ok(inactive), ok(active), ok(suspended), wrong}},
		{"video", `{"url":"https://shop.test/","points":1}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"point_add", `{"points":1}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"point_sub", `{"points":1}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"point_spend", `{"points":1}`, [5]cell{unknown, wrong, ok(active), held, wrong}},
		{"point_unspend", `{"points":1}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"reserve_points", `{"transaction_id":"%s-r","points":1}`, [5]cell{unknown, wrong, ok(active), held, wrong}},
		{"release_points", `{"transaction_id":"%s-h"}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"checkout", `{"transaction_id":"%s-n","total":1}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"checkout", `{"transaction_id":"%s-n","total":1,"points_burned":1}`, [5]cell{unknown, wrong, ok(active), held, wrong}},
		{"checkout_update", `{"transaction_id":"%s-p","total":1}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"checkout_update", `{"transaction_id":"%s-p","total":1,"points_burned":1}`, [5]cell{unknown, wrong, ok(active), held, wrong}},
		{"checkout_accept", `{"transaction_id":"%s-p"}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"checkout_reject", `{"transaction_id":"%s-p"}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"refund", `{"transaction_id":"%s-a"}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"refund_item", `{"transaction_id":"%s-a","product_id":"p"}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
		{"partial_refund", `{"transaction_id":"%s-a","amount":1}`, [5]cell{unknown, wrong, ok(active), ok(suspended), wrong}},
	}
	eachShop(t, modules{"checkout_accept": `{}`}, func(t *testing.T, s *shop) {
		known := map[string]bool{}
		for i, row := range table {
			known[row.action] = true
			for k, from := range before {
				name := fmt.Sprintf("c%d-%d", i, k)
				name = s.bring(name, from)
				data := row.data
				if n := countVerbs(data); n > 0 {
					data = fmt.Sprintf(data, name)
				}
				want := row.after[k]
				if want.err != nil {
					e := s.refused(want.err, name, row.action, data)
					if want.err == loyalty.ErrForbiddenState {
						require.Equal(t, string(from), e.Args["from"], "names the state before")
						require.NotEmpty(t, e.Args["to"], "and the state that was asked for")
					}
					continue
				}
				o := s.must(name, row.action, data)
				require.Equal(t, want.after, o.Customer.Status, "%s of a customer who is %q", row.action, from)
			}
		}
		require.Len(t, known, 21, "every action")
		s.verify()
	})
}

func countVerbs(data string) (n int) {
	for i := range data[1:] {
		if data[i:i+2] == "%s" {
			n++
		}
	}
	return n
}

// bring leads a customer to a state, with points, something spent, a
// reservation, a pending and an accepted purchase where the state allows it,
// and answers the name by which the customer is known now.
func (s *shop) bring(name string, to loyalty.Status) string {
	s.t.Helper()
	switch to {
	case loyalty.None:
		return name
	case loyalty.Inactive:
		s.must(name, "subscribe", `{"handler":"h"}`)
		return name
	}
	s.must(name, "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, name))
	s.must(name, "point_add", `{"points":100}`)
	s.must(name, "point_spend", `{"points":10}`)
	s.must(name, "reserve_points", fmt.Sprintf(`{"transaction_id":"%s-h","points":5}`, name))
	item := `{"product_id":"p","product_name":"a","product_url":"https://shop.test/1","quantity":1,"subtotal":10}`
	for _, suffix := range []string{"p", "a", "x", "f"} {
		s.must(name, "checkout", fmt.Sprintf(`{"transaction_id":"%s-%s","total":10,"items":[%s]}`, name, suffix, item))
	}
	s.must(name, "checkout_accept", fmt.Sprintf(`{"transaction_id":"%s-a"}`, name))
	s.must(name, "checkout_reject", fmt.Sprintf(`{"transaction_id":"%s-x"}`, name))
	s.must(name, "checkout_accept", fmt.Sprintf(`{"transaction_id":"%s-f"}`, name))
	s.must(name, "refund", fmt.Sprintf(`{"transaction_id":"%s-f"}`, name))
	switch to {
	case loyalty.Suspended:
		s.must(name, "suspend", `{}`)
	case loyalty.OptedOut:
		return s.must(name, "opt_out", `{}`).Customer.Name
	}
	return name
}

// Every trigger in every state of a purchase, as decisions.md 5 has it. A
// purchase of somebody else is as good as none.
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
					e := s.refused(want, name, row.action, fmt.Sprintf(row.data, id))
					if want == error(not) {
						require.Equal(t, string(s.transaction(name, id).State), e.Args["status"])
					}
				case loyalty.TransactionState:
					s.must(name, row.action, fmt.Sprintf(row.data, id))
					require.Equal(t, want, s.transaction(name, id).State, "%s of a purchase that is %s", row.action, suffix)
				}
				others := fmt.Sprintf(row.data, "other-"+suffixes[k%4])
				if row.action == "checkout" {
					s.refused(loyalty.ErrTransactionExists, name, row.action, others)
				} else {
					s.refused(missing, name, row.action, others)
				}
			}
		}
		s.verify()
	})
}
