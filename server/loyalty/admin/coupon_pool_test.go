package admin_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	rewardrules "github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// Sixty customers and two nodes want one of forty codes: forty get one each, and
// twenty learn that there is none.
func TestUploadedCodesGoOutOnce(t *testing.T) {
	eachDesk(t, 2, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		c.Entity("rewards/reward", "five", `{"title":{"en":"Five off"},"type":"coupon","pool":"spring"}`)
		var codes []string
		for i := range 40 {
			codes = append(codes, fmt.Sprintf("SPRING-%02d", i))
		}

		_, err := c.AddCodes(t.Context(), loyaltytest.Caller, "spring", codes, 0)
		require.NoError(t, err)
		got, failed := c.ClaimAll(c.Enrol(60), "five")
		loyaltytest.Distinct(t, got)
		require.ElementsMatch(t, codes, got)
		require.Len(t, failed, 20)
		for _, err := range failed {
			require.ErrorIs(t, err, loyalty.ErrPoolEmpty)
		}

		loyaltytest.Proven(t, c.Store)
	})
}

// Codes that are drawn from few are distinct, and when they run out a claim says
// so and takes nothing.
func TestGeneratedCodesAreDistinct(t *testing.T) {
	loyaltytest.AllowFewCodes(t)
	eachDesk(t, 2, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "few", `{"name":"Few","source":"generated","pattern":"F-##","coupon":{"type":"free_shipping"}}`)
		c.Entity("rewards/reward", "ship", `{"title":{"en":"Free shipping"},"type":"coupon","pool":"few"}`)
		got, failed := c.ClaimAll(c.Enrol(40), "ship")
		require.Empty(t, failed)
		loyaltytest.Distinct(t, got)
		require.Len(t, got, 40)

		done, err := c.AddCodes(t.Context(), loyaltytest.Caller, "few", nil, 30)
		require.NoError(t, err)
		require.Equal(t, admin.AddedCodes{Pool: "few", Added: 30, Available: 30}, done.Value)
		_, err = c.AddCodes(t.Context(), loyaltytest.Caller, "few", nil, 31)
		require.ErrorIs(t, err, loyalty.ErrPatternSpent, "thirty are left")

		var more []string
		for i := range 200 {
			o, err := c.Engines[0].Submit(t.Context(), loyaltytest.ClaimOf(fmt.Sprintf("member-%d", 1001+i%40), "ship"))
			if err != nil {
				require.ErrorIs(t, err, loyalty.ErrPatternSpent)
				break
			}
			more = append(more, o.Value.(*rewardrules.ClaimResult).Coupon.Code)
		}

		loyaltytest.Distinct(t, append(more, got...))
		require.GreaterOrEqual(t, len(more), 30, "the codes that lay ready came first")
		require.LessOrEqual(t, len(more), 60, "there are a hundred codes in all")
		loyaltytest.Proven(t, c.Store)
	})
}

// Fifty claims in one bulk take fifty codes of one pool.
func TestBulkOfClaims(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "cards", `{"name":"Cards","source":"generated","pattern":"GC-********","coupon":{"type":"gift_card","value":20}}`)
		c.Entity("rewards/reward", "card", `{"title":{"en":"Gift card"},"type":"coupon","pool":"cards","stock":45}`)
		_, err := c.AddCodes(t.Context(), loyaltytest.Caller, "cards", []string{"READY-1", "READY-2"}, 0)
		require.NoError(t, err)
		var claims []loyalty.Submission
		for _, name := range c.Enrol(25) {
			claims = append(claims, loyaltytest.ClaimOf(name, "card"), loyaltytest.ClaimOf(name, "card"))
		}

		var codes []string
		for i, r := range c.Engines[0].SubmitAll(t.Context(), claims) {
			if i >= 45 {
				require.ErrorIs(t, r.Err, loyalty.ErrRewardStock, "claim %d", i)
				continue
			}
			require.NoError(t, r.Err, "claim %d", i)
			codes = append(codes, r.Outcome.Value.(*rewardrules.ClaimResult).Coupon.Code)
		}

		loyaltytest.Distinct(t, codes)
		require.Equal(t, []string{"READY-1", "READY-2"}, codes[:2], "ready codes come first, in the order of their upload")
		loyaltytest.Proven(t, c.Store)
	})
}

// Within one bulk every event sees what the ones before it did to a coupon.
func TestBulkOfOneCoupon(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Enrol(2)
		to := func(customer, action, data string) loyalty.Submission {
			return loyaltytest.Event(customer, action, data)
		}
		results := c.Engines[0].SubmitAll(t.Context(), []loyalty.Submission{
			to("member-1001", "coupon_create", `{"code":"G","value":50,"amount":50}`),
			to("member-1002", "coupon_redeem", `{"code":"G"}`),
			to("member-1001", "coupon_redeem", `{"code":"G","amount":30}`),
			to("member-1001", "coupon_redeem", `{"code":"G","amount":30}`),
			to("member-1001", "coupon_transfer", `{"code":"G","target":"member-1002"}`),
			to("member-1002", "coupon_redeem", `{"code":"G"}`),
			to("member-1001", "coupon_create", `{"code":"X","value":1}`),
			to("member-1001", "coupon_create", `{"code":"Y","value":1}`),
			to("member-1001", "coupon_transfer", `{"code":"X","email":"new@shop.test"}`),
			to("member-1001", "coupon_transfer", `{"code":"Y","email":"New@shop.test"}`),
		})

		want := []error{nil, loyalty.ErrCouponNotFound, nil, loyalty.ErrCouponBalance, nil, nil, nil, nil, nil, nil}
		for i, r := range results {
			if want[i] == nil {
				require.NoError(t, r.Err, "event %d", i)
			} else {
				require.ErrorIs(t, r.Err, want[i], "event %d", i)
			}
		}

		receiver := func(i int) loyalty.ID { return results[i].Outcome.Events[1].Customer }
		require.Equal(t, receiver(8), receiver(9), "one address is one customer")
		loyaltytest.Proven(t, c.Store)
	})
}

// A preview of a claim shows what would come, and takes neither points nor code.
func TestPreviewOfAClaim(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		c.Entity("rewards/reward", "five", `{"title":{"en":"Five off"},"type":"coupon","points":10,"pool":"spring","max_claims":1}`)
		_, err := c.AddCodes(t.Context(), loyaltytest.Caller, "spring", []string{"SPRING-1"}, 0)
		require.NoError(t, err)
		c.Enrol(1)
		c.Send("member-1001", "point_add", `{"points":10}`)
		for range 2 {
			o, err := c.Engines[0].Preview(t.Context(), loyaltytest.ClaimOf("member-1001", "five"))
			require.NoError(t, err)
			require.Equal(t, int64(10), o.Value.(*rewardrules.ClaimResult).Spent)
			require.Contains(t, o.Trace, loyalty.Verdict{Rule: "reward", Verdict: "applied", Reason: "reason.claimed", Input: map[string]any{"reward": "five"}, Points: -10})
		}

		coupon, _, err := c.Store.Coupon(t.Context(), "SPRING-1")
		require.NoError(t, err)
		require.Equal(t, loyalty.CouponCreated, coupon.State)
		_, err = c.Engines[0].Submit(t.Context(), loyaltytest.ClaimOf("member-1001", "five"))
		require.NoError(t, err)
		o, err := c.Engines[0].Preview(t.Context(), loyaltytest.ClaimOf("member-1001", "five"))
		require.ErrorIs(t, err, loyalty.ErrRewardLimit)
		require.Contains(t, o.Trace, loyalty.Verdict{Rule: "reward", Verdict: "refused", Reason: "reason.limit", Input: map[string]any{"reward": "five"}})
	})
}

// Codes are added all or none, and what is wrong is named with its place.
func TestAddCodes(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		ctx := t.Context()
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		c.Entity("coupons/pool", "cards", `{"name":"Cards","source":"generated","pattern":"GC-********","coupon":{"type":"gift_card","value":20,"currency":"HUF"}}`)
		c.Enrol(1)
		c.Send("member-1001", "coupon_create", `{"code":"MINE","value":1}`)

		done, err := c.AddCodes(ctx, loyaltytest.Caller, "spring", []string{"B", "A"}, 0)
		require.NoError(t, err)
		require.Equal(t, admin.AddedCodes{Pool: "spring", Added: 2, Available: 2}, done.Value)
		for _, bad := range []struct {
			pool     string
			codes    []string
			generate int
			want     error
			field    string
		}{
			{"spring", nil, 0, loyalty.ErrPropertyEmpty, "codes"},
			{"spring", []string{"C"}, 1, loyalty.ErrPropertyInvalid, "generate"},
			{"cards", nil, admin.MaxGenerated + 1, loyalty.ErrPropertyInvalid, "generate"},
			{"cards", nil, -1, loyalty.ErrPropertyInvalid, "generate"},
			{"spring", []string{"C", "D", "C"}, 0, loyalty.ErrPropertyInvalid, "codes[2]"},
			{"spring", []string{"C", " "}, 0, loyalty.ErrPropertyEmpty, "codes[1]"},
			{"spring", []string{"C", "-"}, 0, loyalty.ErrReservedName, "codes[1]"},
			{"spring", []string{"C", "A", "B"}, 0, loyalty.ErrCouponExists, "codes[1]"},
			{"spring", []string{"C", "MINE"}, 0, loyalty.ErrCouponExists, "codes[1]"},
			{"spring", nil, 5, loyalty.ErrPoolSource, "generate"},
			{"autumn", []string{"C"}, 0, loyalty.ErrEntityNotFound, ""},
		} {
			_, err := c.AddCodes(ctx, loyaltytest.Caller, bad.pool, bad.codes, bad.generate)
			require.ErrorIs(t, err, bad.want, "%+v", bad)
			if bad.field != "" {
				require.Equal(t, bad.field, loyalty.AsError(err).Details[0].Field, "%+v", bad)
			}
		}

		_, _, err = c.Store.Coupon(ctx, "C")
		require.ErrorIs(t, err, loyalty.ErrCouponNotFound, "all or none")

		done, err = c.AddCodes(ctx, loyaltytest.Caller, "cards", nil, 2_000)
		require.NoError(t, err)
		require.Equal(t, admin.AddedCodes{Pool: "cards", Added: 2_000, Available: 2_000}, done.Value)
		log, err := c.AuditLog(ctx, loyalty.AuditQuery{Page: loyalty.Page{Limit: 2}})
		require.NoError(t, err)
		require.Equal(t, "coupon_pool.add_codes", log[0].Action)
		require.Equal(t, "coupons/pool/cards", log[0].Target)
		require.JSONEq(t, `{"added":2000,"source":"generated"}`, string(log[0].After))

		b, _, err := c.Store.Coupon(ctx, "B")
		require.NoError(t, err)
		require.Equal(t, loyalty.CouponCreated, b.State)
		require.Equal(t, "EUR", b.Currency, "the programme's")
		loyaltytest.Proven(t, c.Store)
	})
}

// A repeated upload under one key is answered again and adds nothing.
func TestAddCodesOnce(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		call := loyaltytest.Caller
		call.Idempotency = &admin.AdminIdempotency{
			AnswerKey: loyalty.AnswerKey{AccessKey: loyaltytest.Caller.KeyID, Key: "upload-1"}, Hash: sha256.Sum256([]byte("A B")),
			Render: func(result any, err error) (int, []byte) {
				if err != nil {
					return 409, []byte(err.Error())
				}
				return 201, fmt.Appendf(nil, "%d added", result.(admin.AddedCodes).Added)
			},
		}

		_, err := c.AddCodes(t.Context(), call, "spring", []string{"A", "B"}, 0)
		require.NoError(t, err)
		again, err := c.AddCodes(t.Context(), call, "spring", []string{"A", "B"}, 0)
		require.NoError(t, err)
		require.NotNil(t, again.Replayed)
		require.Equal(t, "2 added", string(again.Replayed.Body))
	})
}

// An upload and the same codes given by events at once: every code has one owner, and the second one is refused.
func TestUploadMeetsEvents(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, c *desk) {
		c.Entity("coupons/pool", "spring", loyaltytest.FiveOff)
		names := c.Enrol(20)
		var wait sync.WaitGroup
		given := make([]error, len(names))
		for i, name := range names {
			wait.Go(func() {
				_, given[i] = c.Engines[0].Submit(context.Background(), loyaltytest.Event(name, "coupon_create", fmt.Sprintf(`{"code":"C-%02d","value":1}`, i)))
			})
		}

		uploaded := make([]error, len(names))
		for i := range names {
			_, uploaded[i] = c.AddCodes(t.Context(), loyaltytest.Caller, "spring", []string{fmt.Sprintf("C-%02d", i)}, 0)
		}

		wait.Wait()
		for i := range names {
			require.True(t, (given[i] == nil) != (uploaded[i] == nil), "code %d: event %v, upload %v", i, given[i], uploaded[i])
			require.ErrorIs(t, errors.Join(given[i], uploaded[i]), loyalty.ErrCouponExists)
		}

		loyaltytest.Proven(t, c.Store)
	})
}
