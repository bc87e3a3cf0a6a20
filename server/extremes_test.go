package server_test

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestExtremeNumbers: a filter takes every whole number of 64 bits, however narrow
// the column is that it is compared with.
func TestExtremeNumbers(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		h := openOn(t, address, patient)
		h.enrol("member-1001")
		for _, filter := range []string{
			"/admin/requests/errors?status.gt", "/admin/requests/errors?status.nin", "/admin/requests/errors?code.lt",
			"/customers?score.lte", "/customers?spendable.in", "/customers/-/count?score.ne",
			"/customers/member-1001/rewards?points.gte", "/customers/member-1001/activities/rewards?points.lt",
			"/v1/customers/member-1001/events?filter[points][gt]", "/v1/customers/member-1001/transactions?filter[earned][in]",
			"/v1/customers/member-1001/transactions?filter[burned][ne]", "/v1/customers/member-1001/transactions?filter[points_rewarded][lte]",
			"/customers?offset", "/coupons?offset",
		} {
			for _, n := range []int64{math.MaxInt64, math.MinInt64} {
				if n < 0 && filter[len(filter)-6:] == "offset" {
					continue // a negative offset is refused
				}
				h.sees(filter + "=" + strconv.FormatInt(n, 10))
			}
		}
	})
}

// TestUnescapedPlus: an offset whose plus became a blank on the way is understood by
// both grammars; neither finds nothing without a word.
func TestUnescapedPlus(t *testing.T) {
	h := open(t)
	h.enrol("member-1001")
	for _, at := range []string{"2020-01-01T00:00:00+01:00", "2020-01-01T00:00:00%2B01:00", url.QueryEscape("2020-01-01T00:00:00+01:00")} {
		require.Equal(t, []string{"member-1001"}, column(t, h.get("/customers?created_at.gte="+at), "id"), at)
		require.Equal(t, []string{"member-1001"}, column(t, h.get("/v1/customers?filter[created_at][gte]="+at), "id"), at)
		require.Empty(t, column(t, h.get("/v1/customers?filter[created_at][lt]="+at), "id"), at)
	}
}

// TestNothingIsNeeded: an operation that needs no properties names the one that is sent.
func TestNothingIsNeeded(t *testing.T) {
	h := open(t)
	h.enrol("member-1001")
	h.entity("stores/store", `{"id":"s-1","name":"One"}`)
	h.entity("rewards/reward", `{"id":"coffee","title":{"en":"Coffee"},"type":"physical"}`)

	for _, target := range []string{"/entities/stores/store/s-1/archive", "/customers/member-1001/activities/rewards/coffee/claim"} {
		for _, a := range []answer{h.post(target, `{"customer":"member-1001"}`), h.form(target, "customer=member-1001")} {
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", target, a.body)
			require.Equal(t, 190011, a.fault(t).Code, target)
			require.Equal(t, []string{"customer"}, a.fault(t).fields(), target)
		}
		for _, a := range []answer{h.post(target, ""), h.post(target, "{}"), h.form(target, "")} {
			require.Equal(t, http.StatusOK, a.status, "%s: %s", target, a.body)
		}
	}
}
