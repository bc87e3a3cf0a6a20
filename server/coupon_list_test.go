package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// wallet is a house in which coupons stand in every state: codes of a pool, and
// coupons of two members.
func wallet(t *testing.T, url string) *house {
	t.Helper()
	h := openOn(t, url, patient)
	h.enrol("member-1001")
	h.enrol("member-1002")
	h.makes("/entities/coupons/pool", uploadPool)
	h.makes("/entities/coupons/pool", generatePool)
	h.makes("/coupon-pools/spring/codes", `{"codes":["S-1","S-2","S-3"]}`)
	h.makes("/coupon-pools/auto/codes", `{"codes":["G-1"]}`)
	h.makes("/entities/rewards/reward", `{"id":"five","title":{"en":"Five"},"type":"coupon","pool":"spring"}`)
	h.does(member+"/activities/rewards/five/claim", "")
	for _, coupon := range []string{
		`"code":"A10","value":10,"currency":"EUR","expdate":"2126-06-30"`, `"code":"P20","value":20,"type":"percentage"`, `"code":"SHIP","value":0,"type":"free_shipping"`,
		`"code":"GIFT","value":50,"amount":50,"currency":"USD"`, `"code":"OLD","value":3,"currency":"EUR","expdate":"2020-01-01"`, `"code":"BAD","value":7,"currency":"EUR"`,
	} {
		h.happens("member-1001", "coupon_create", "{"+coupon+"}")
	}

	h.happens("member-1002", "coupon_create", `{"code":"THEIRS","value":5,"currency":"EUR"}`)
	h.happens("member-1001", "coupon_redeem", `{"code":"A10"}`)
	time.Sleep(2 * time.Millisecond) // the second use is the later one
	h.happens("member-1001", "coupon_redeem", `{"code":"GIFT","amount":20}`)
	h.happens("member-1001", "coupon_invalidate", `{"code":"BAD"}`)
	h.happens("member-1001", "unassign_coupon", `{"code":"P20"}`)
	return h
}

// sortedOf lists one property in its own order, separated by blanks.
func sortedOf(t *testing.T, a answer, name string) string {
	t.Helper()
	list := column(t, a, name)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// walkBoth follows a list to its end and back, and requires that both ways show the
// same entries.
func (h *house) walkBoth(path, name string) []string {
	h.t.Helper()
	var pages [][]string
	for next := path; ; {
		a := h.get(next)
		pages = append(pages, column(h.t, a, name))
		link, more := a.json(h.t)["next"].(string)
		if !more {
			for i := len(pages) - 2; i >= 0; i-- {
				previous, ok := a.json(h.t)["previous"].(string)
				require.True(h.t, ok, a.body)
				a = h.get(previous)
				require.Equal(h.t, pages[i], column(h.t, a, name))
			}
			require.Nil(h.t, a.json(h.t)["previous"])
			return slices.Concat(pages...)
		}

		next = link
	}
}

// spec: endpoint.pages:/coupons, operator.eq, operator.gt, operator.gte, operator.in, operator.lt, operator.lte, operator.ne, operator.nin
func TestListCoupons(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		today, _ := days(t)
		h := wallet(t, url)
		const all = "A10 BAD G-1 GIFT OLD P20 S-1 S-2 S-3 SHIP THEIRS"
		for query, want := range map[string]string{
			"":                                   all,
			"code=GIFT":                          "GIFT",
			"code.eq=gift":                       "GIFT",
			"code.in=gift,s-1,THEIRS":            "GIFT S-1 THEIRS",
			"code.ne=gift":                       "A10 BAD G-1 OLD P20 S-1 S-2 S-3 SHIP THEIRS",
			"code.ne=none":                       all,
			"code.nin=gift,old":                  "A10 BAD G-1 P20 S-1 S-2 S-3 SHIP THEIRS",
			"code.in=GIFT,S-1,none":              "GIFT S-1",
			"code.ne=GIFT":                       "A10 BAD G-1 OLD P20 S-1 S-2 S-3 SHIP THEIRS",
			"code.nin=GIFT,OLD":                  "A10 BAD G-1 P20 S-1 S-2 S-3 SHIP THEIRS",
			"status=claimed":                     "S-1 SHIP THEIRS",
			"status=created":                     "G-1 S-2 S-3",
			"status=expired":                     "OLD",
			"status=redeemed":                    "A10",
			"status=partially_redeemed":          "GIFT",
			"status=invalidated":                 "BAD",
			"status=unassigned":                  "P20",
			"status.in=expired,redeemed":         "A10 OLD",
			"status.ne=created":                  "A10 BAD GIFT OLD P20 S-1 SHIP THEIRS",
			"status.nin=created,claimed,expired": "A10 BAD GIFT P20",
			"status=lost":                        "",
			"pool=spring":                        "S-1 S-2 S-3",
			"pool.ne=spring":                     "A10 BAD G-1 GIFT OLD P20 SHIP THEIRS",
			"pool.in=spring,auto":                "G-1 S-1 S-2 S-3",
			"pool.nin=spring,auto":               "A10 BAD GIFT OLD P20 SHIP THEIRS",
			"pool=spring&status=created":         "S-2 S-3",
			"pool=spring&status=claimed":         "S-1",
			"pool=spring&status=expired":         "",
			"type=percentage":                    "P20",
			"type.in=gift_card,free_shipping":    "G-1 GIFT SHIP",
			"type.nin=amount,free_shipping":      "GIFT P20",
			"type=cash":                          "",
			"customer=member-1002":               "THEIRS",
			"customer=nobody":                    "",
			"customer.in=member-1002,nobody":     "THEIRS",
			"customer.in=member-1002,member-1001&type=amount": "A10 BAD OLD S-1 THEIRS",
			"customer.ne=member-1001":                         "G-1 P20 S-2 S-3 THEIRS",
			"customer.nin=member-1001,member-1002":            "G-1 P20 S-2 S-3",
			"customer.ne=nobody":                              all,
			"created_at=" + today:                             all,
			"created_at.ne=" + today:                          "",
			"created_at.gt=" + today:                          "",
			"created_at.gte=" + today:                         all,
			"created_at.lt=" + today:                          "",
			"created_at.lte=" + today:                         all,
			"created_at.in=2020-01-01," + today:               all,
			"created_at.nin=2020-01-01," + today:              "",
			"created_at.gte=2023-02-30":                       "",
		} {
			require.Equal(t, want, sortedOf(t, h.get("/coupons?"+query), "code"), query)
		}

		walked := h.walkBoth("/coupons?limit=3", "code")
		require.Len(t, walked, 11)
		require.Equal(t, column(t, h.get("/coupons"), "code"), walked)
		require.True(t, slices.IsSortedFunc(column(t, h.get("/coupons"), "created_at"), func(a, b string) int { return strings.Compare(b, a) }))
		require.Equal(t, []string{"status"}, refused(t, h.get("/coupons?status=created&status=claimed"), http.StatusBadRequest, 190070).fields())
		require.Equal(t, []string{"state"}, refused(t, h.get("/coupons?state=created"), http.StatusBadRequest, 190069).fields())
		require.Equal(t, http.StatusBadRequest, h.get("/coupons?cursor=x").status)

		h.enrol("member-1003")
		h.does("/customers/member-1002/merge", `{"target":"member-1003"}`)
		require.Equal(t, "THEIRS", sortedOf(t, h.get("/coupons?customer=member-1003"), "code"))
		require.Equal(t, "THEIRS", sortedOf(t, h.get("/coupons?customer=member-1002"), "code"), "the old id leads to who has it now")
		require.Equal(t, "map[id:member-1003]", sortedOf(t, h.get("/coupons?code=THEIRS"), "customer"))
		h.happens("member-1003", "opt_out", "{}")
		require.Equal(t, "<nil>", sortedOf(t, h.get("/coupons?code=THEIRS"), "customer"), "nobody is named who left")
	})
}

// couponHistory words the events of a coupon, the last one first.
func (h *house) couponHistory(code string) []string {
	h.t.Helper()
	var list []string
	for _, e := range succeeded(h.t, h.get("/coupons/"+code))["events"].([]any) {
		e := e.(map[string]any)
		require.NotEmpty(h.t, e["timestamp"])
		line := fmt.Sprint(e["action"], " ", e["status"])
		for _, name := range []string{"customer", "amount", "balance", "transaction_id"} {
			if e[name] != nil {
				line += fmt.Sprint(" ", e[name])
			}
		}
		list = append(list, line)
	}

	return list
}

func TestCouponHistory(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := wallet(t, url)
		require.Empty(t, h.couponHistory("S-2"), "a code that nobody had")
		require.Equal(t, []string{"reward_claim claimed map[id:member-1001]"}, h.couponHistory("S-1"))
		h.happens("member-1001", "coupon_transfer", `{"code":"S-1","target":"member-1002"}`)
		h.happens("member-1002", "checkout", `{"transaction_id":"T-1001","total":30,"coupon_code":"S-1"}`)
		h.happens("member-1002", "coupon_unredeem", `{"code":"S-1"}`)
		require.Equal(t, []string{
			"coupon_unredeem claimed map[id:member-1002]", "coupon_redeem redeemed map[id:member-1002] T-1001",
			"coupon_receive claimed map[id:member-1002]", "reward_claim claimed map[id:member-1001]",
		}, h.couponHistory("S-1"))

		h.happens("member-1001", "coupon_redeem", `{"code":"GIFT","amount":0}`)
		h.happens("member-1001", "coupon_unredeem", `{"code":"GIFT"}`)
		h.happens("member-1001", "coupon_unredeem", `{"code":"GIFT"}`)
		require.Equal(t, []string{
			"coupon_unredeem claimed map[id:member-1001] 20 50", "coupon_unredeem partially_redeemed map[id:member-1001] 30",
			"coupon_redeem partially_redeemed map[id:member-1001] 30",
			"coupon_redeem partially_redeemed map[id:member-1001] 20 30", "coupon_create claimed map[id:member-1001] 50",
		}, h.couponHistory("GIFT"))

		past := func(days int) string { return time.Now().UTC().AddDate(0, 0, -days).Format(time.RFC3339) }
		h.happens("member-1001", "coupon_create", `{"code":"LATE","value":5,"expdate":"`+past(3)+`","effective_timestamp":"`+past(9)+`"}`)
		h.happens("member-1001", "coupon_redeem", `{"code":"LATE","effective_timestamp":"`+past(6)+`"}`)
		h.happens("member-1001", "coupon_unredeem", `{"code":"LATE"}`)
		require.Equal(t, "expired", succeeded(t, h.get("/coupons/LATE"))["status"])
		require.Equal(t, []string{
			"coupon_unredeem expired map[id:member-1001]", "coupon_redeem redeemed map[id:member-1001]", "coupon_create claimed map[id:member-1001]",
		}, h.couponHistory("LATE"), "taken back after its date, it is as open as the coupon itself says")

		h.enrol("member-1003")
		h.does("/customers/member-1002/merge", `{"target":"member-1003"}`)
		require.Equal(t, "coupon_unredeem claimed map[id:member-1003]", h.couponHistory("S-1")[0], "who has the account now")
		h.happens("member-1001", "opt_out", "{}")
		require.Equal(t, "reward_claim claimed", h.couponHistory("S-1")[3])
		refused(t, h.get("/coupons/none"), http.StatusNotFound, 1601)
	})
}

// spec: service.api.coupon
func TestCouponUsage(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		today, _ := days(t)
		h := wallet(t, url)
		usage := func(query string) []string {
			t.Helper()
			a := h.sees("/coupons/-/usage?" + query)
			list := []string{}
			for _, g := range a.json(t)["data"].([]any) {
				g := g.(map[string]any)
				require.Equal(t, today, g["day"])
				line := fmt.Sprint(g["pool"], " ", g["status"], " ", g["count"])
				if g["currency"] != nil {
					line += fmt.Sprint(" ", g["currency"], " ", g["value"], " ", g["redeemed"])
				}
				list = append(list, line)
			}
			return list
		}

		rest := []string{
			"<nil> claimed 1", "<nil> claimed 1 EUR 5 0", "<nil> expired 1 EUR 3 0", "<nil> invalidated 1 EUR 7 0",
			"<nil> partially_redeemed 1 USD 50 20", "<nil> redeemed 1 EUR 10 10", "<nil> unassigned 1",
		}

		auto, spring := []string{"auto created 1"}, []string{"spring claimed 1 EUR 5 0", "spring created 2 EUR 10 0"}
		for query, want := range map[string][]string{
			"":                                     slices.Concat(rest, auto, spring),
			"pool=spring":                          spring,
			"pool.eq=none":                         {},
			"pool.ne=spring":                       slices.Concat(rest, auto),
			"pool.in=spring,auto":                  slices.Concat(auto, spring),
			"pool.nin=spring":                      slices.Concat(rest, auto),
			"created_at=" + today:                  slices.Concat(rest, auto, spring),
			"created_at.gte=" + today:              slices.Concat(rest, auto, spring),
			"created_at.lt=" + today:               {},
			"created_at.gt=" + today:               {},
			"created_at.lte=2020-01-01":            {},
			"created_at.eq=2023-02-30":             {},
			"day=claimed_at&pool=spring":           spring[:1],
			"day=redeemed_at":                      {"<nil> partially_redeemed 1 USD 50 20", "<nil> redeemed 1 EUR 10 10"},
			"day=created_at&pool=spring":           spring,
			"limit=2&offset=1&pool.in=spring,auto": spring,
		} {
			require.Equal(t, want, usage(query), query)
		}

		require.Equal(t, []string{"day"}, h.get("/coupons/-/usage?day=expires_at").fault(t).fields())
		refused(t, h.get("/coupons/-/usage?created_at.ne="+today), http.StatusBadRequest, 190069)
		require.Len(t, h.walkBoth("/coupons/-/usage?limit=3", "count"), 10)
	})
}

// TestUsageIsNeverTooLarge: sums beyond any amount of money do not fail.
func TestUsageIsNeverTooLarge(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.makes("/entities/coupons/pool", `{"id":"rich","name":"Rich","source":"uploaded","coupon":{"type":"amount","value":900000000000,"currency":"EUR"}}`)
		codes := make([]string, 1100)
		for i := range codes {
			codes[i] = fmt.Sprintf("%q", fmt.Sprint("R-", i))
		}
		h.makes("/coupon-pools/rich/codes", `{"codes":[`+strings.Join(codes[:1000], ",")+`]}`)
		require.Equal(t, []string{"900000000000000"}, column(t, h.get("/coupons/-/usage"), "value"))
		h.makes("/coupon-pools/rich/codes", `{"codes":[`+strings.Join(codes[1000:], ",")+`]}`)
		require.Equal(t, []string{"922337203685477.5807"}, column(t, h.get("/coupons/-/usage"), "value"))
	})
}
