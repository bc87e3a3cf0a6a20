package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

const golden = `{"transaction_id":"T-1","total":99.99,"points_burned":30,"items":[
 {"product_id":"p-1","product_name":"a","product_url":"https://shop.test/1","quantity":2,"subtotal":60.00},
 {"product_id":"p-2","product_name":"b","product_url":"https://shop.test/2","quantity":1,"subtotal":39.99}]}`

// The golden example of decisions.md, section 5.
func TestGoldenExample(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":30}`)
		o := s.Must("ada", "checkout", golden)
		require.Equal(t, points.Figures{Score: 129, Spent: 30}, o.Customer.Figures)
		require.Equal(t, "checkout 69, point_burn -30, checkout_item 60, checkout_item 39", shown(o))
		tx := s.Transaction("ada", "T-1")
		require.Equal(t, []int64{99, 99, 30, 30}, []int64{tx.Earned, tx.OriginalEarned, tx.Burned, tx.OriginalBurned})
		for i := range int64(3) {
			o = s.Must("ada", "partial_refund", `{"transaction_id":"T-1","amount":33.33}`)
			require.Equal(t, "partial_refund -33, point_unburn 10", shown(o))
			require.Equal(t, points.Figures{Score: 129 - 33*(i+1), Spent: 30 - 10*(i+1)}, o.Customer.Figures)
			tx = s.Transaction("ada", "T-1")
			require.Equal(t, []int64{99 - 33*(i+1), 30 - 10*(i+1)}, []int64{tx.Earned, tx.Burned})
			require.EqualValues(t, 999_900-333_300*(i+1), tx.Total)
			require.Equal(t, loyalty.Accepted, tx.State, "accepted until a full refund")
		}

		require.EqualValues(t, 999_900, tx.Refunded)
		require.EqualValues(t, 999_900, tx.OriginalTotal)
		left := s.Refused(loyalty.ErrRefundTooLarge, "ada", "partial_refund", `{"transaction_id":"T-1","amount":0.0001}`)
		require.Equal(t, "0", left.Args["left"])
		o = s.Must("ada", "refund", `{"transaction_id":"T-1"}`)
		require.Equal(t, points.Figures{Score: 30}, o.Customer.Figures, "nothing was left to remove")
		require.Equal(t, loyalty.Refunded, s.Transaction("ada", "T-1").State)
		s.Verify()
	})
}

func shown(o loyalty.Outcome) string {
	text := ""
	for i, e := range o.Events {
		if i > 0 {
			text += ", "
		}
		text += e.Action
		if e.Points != nil {
			text += fmt.Sprintf(" %d", *e.Points)
		}
	}
	return text
}

// Whatever the rounding and whatever the way, what goes back adds up to what
// was earned and burned.
func TestGoldenRefunds(t *testing.T) {
	part := func(amount string) [2]string {
		return [2]string{"partial_refund", `{"transaction_id":"T-1","amount":` + amount + `}`}
	}
	item := func(product string, n int) [2]string {
		return [2]string{"refund_item", fmt.Sprintf(`{"transaction_id":"T-1","product_id":%q,"quantity":%d}`, product, n)}
	}
	line := [2]string{"refund_item", `{"transaction_id":"T-1","product_id":"p-1"}`}
	whole := [2]string{"refund", `{"transaction_id":"T-1"}`}
	type gone struct{ earned, burned int64 } // after each refund, what is left of 99 (or 100) and 30
	cases := []struct {
		name, rounding string
		steps          [][2]string
		left           []gone
	}{
		{"thirds, floor", "floor", [][2]string{part("33.33"), part("33.33"), part("33.33")}, []gone{{66, 20}, {33, 10}, {0, 0}}},
		{"one ten-thousandth, floor", "floor", [][2]string{part("0.0001"), part("99.9898"), part("0.0001")}, []gone{{99, 30}, {1, 1}, {0, 0}}},
		// round: 60 + 40 points are earned.
		{"thirds, round", "round", [][2]string{part("33.33"), part("33.33"), part("33.33")}, []gone{{67, 20}, {33, 10}, {0, 0}}},
		{"one ten-thousandth, ceil", "ceil", [][2]string{part("0.0001"), part("99.9898"), part("0.0001")}, []gone{{99, 29}, {0, 0}, {0, 0}}},
		// 60.00 of 99.99 are 18.0018 of the 30 burned points; a piece is 9.0009. The last piece brings what rounding left.
		{"piece by piece, floor", "floor", [][2]string{item("p-1", 1), item("p-1", 1), item("p-2", 1)}, []gone{{69, 21}, {39, 12}, {0, 0}}},
		{"a line at once, floor", "floor", [][2]string{line, item("p-2", 1), whole}, []gone{{39, 12}, {0, 0}, {0, 0}}},
		{"piece by piece, round", "round", [][2]string{item("p-1", 1), item("p-1", 1), item("p-2", 1)}, []gone{{70, 21}, {40, 12}, {0, 0}}},
		{"at once", "floor", [][2]string{whole}, []gone{{0, 0}}},
		{"a third, then all that is left", "floor", [][2]string{part("33.33"), whole}, []gone{{66, 20}, {0, 0}}},
		// A line's money counts as refunded: 60.00 and 39.99 are all of it.
		{"a line, then the money of the other", "floor", [][2]string{line, part("39.99")}, []gone{{39, 12}, {0, 0}}},
		{"money, then a line: never more than is left", "floor", [][2]string{part("66.66"), line, item("p-2", 1)}, []gone{{33, 10}, {0, 0}, {0, 0}}},
	}

	eachShop(t, nil, func(t *testing.T, s *shop) {
		for n, c := range cases {
			s.Configure(modules{"incentivized_purchase": `{"rounding":"` + c.rounding + `"}`})
			name, id := fmt.Sprintf("c%d", n), fmt.Sprintf("T-%d", n)
			s.Must(name, "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(name, "point_add", `{"points":30}`)
			s.Must(name, "checkout", strings.ReplaceAll(golden, "T-1", id))
			for i, step := range c.steps {
				o := s.Must(name, step[0], strings.ReplaceAll(step[1], "T-1", id))
				tx := s.Transaction(name, id)
				require.Equal(t, c.left[i], gone{tx.Earned, tx.Burned}, "%s: after step %d", c.name, i+1)
				require.Equal(t, points.Figures{Score: 30 + tx.Earned, Spent: tx.Burned}, o.Customer.Figures)
			}
		}

		s.Verify()
	})
}

// What of a purchase's points had expired goes back too, and lowers expired.
func TestRefundOfExpiredPoints(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		for _, negative := range []string{"allow", "refuse"} {
			s.Configure(modules{"points_economy": `{"expiry":{"policy":"rolling","days":1},"negative":"` + negative + `"}`})
			s.Must(negative, "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(negative, "checkout", fmt.Sprintf(`{"transaction_id":%q,"total":10,"items":[{"product_id":"p",
				"product_name":"a","product_url":"https://shop.test/1","quantity":1,"subtotal":100}]}`, negative))
			s.Wait(25 * time.Hour)
			o := s.Must(negative, "refund", fmt.Sprintf(`{"transaction_id":%q}`, negative))
			require.Equal(t, points.Figures{}, o.Customer.Figures, "the balance is never below zero: nothing for %q to refuse", negative)
		}
		s.Verify()
	})
}

// Points that were spent elsewhere and given back are no points of the purchase: its refund gives
// back all that was burned, whichever lots point_unspend freed.
func TestRefundAfterUnspendOfOthers(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":10}`)
		s.Must("ada", "point_add", `{"points":100}`)
		s.Must("ada", "point_spend", `{"points":10}`)
		s.Must("ada", "checkout", `{"transaction_id":"T","total":10,"points_burned":51}`)
		s.Must("ada", "point_unspend", `{"points":10}`)
		s.Must("ada", "partial_refund", `{"transaction_id":"T","amount":5}`)
		o := s.Must("ada", "refund", `{"transaction_id":"T"}`)
		require.Equal(t, points.Figures{Score: 110}, o.Customer.Figures)
		require.Zero(t, s.Transaction("ada", "T").Burned)
		s.Verify()
	})
}

// Points that point_unspend gave back do not come back again with a refund.
func TestRefundAfterUnspend(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":100}`)
		s.Must("ada", "checkout", `{"transaction_id":"T","total":10,"points_burned":30}`)
		s.Must("ada", "point_unspend", `{"points":20,"transaction_id":"T"}`)
		o := s.Must("ada", "refund", `{"transaction_id":"T"}`)
		require.Equal(t, points.Figures{Score: 100}, o.Customer.Figures)
		s.Verify()
	})
}
