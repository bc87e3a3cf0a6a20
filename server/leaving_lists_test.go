package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestListsLeaveOutWhoLeft: a list of customers without a filter on the status has no customer who opted out, whatever
// else it is filtered by.
func TestListsLeaveOutWhoLeft(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		for _, id := range []string{"ada", "ben", "cec"} {
			done(h, "/events", `{"customer":"`+id+`","action":"opt_in","data":{"email":"`+id+`@shop.test","language":"hu","currency":"HUF"}}`)
		}

		done(h, "/events", `{"customer":"cec","action":"suspend","data":{}}`)
		done(h, "/events", `{"customer":"ben","action":"opt_out","data":{}}`)
		for _, list := range []string{"/customers?", "/entities/core/customer?"} {
			for query, want := range map[string]string{
				"": "ada cec", "created_at.gte=2020-01-01": "ada cec", "status=suspended": "cec",
				"status.ne=suspended": "", "status=opted_out": "", "status.in=active,opted_out": "",
			} {
				got := column(t, h.get(list+query), "id")
				if want != "" {
					require.Equal(t, want, strings.Join(got, " "), list+query)
					require.Equal(t, want, strings.Join(h.walkBoth(list+"limit=1&"+query, "id"), " "), list+query)
					continue
				}
				require.Contains(t, column(t, h.get(list+query), "status"), "opted_out", list+query)
			}
		}

		for _, query := range []string{"language=hu", "currency.in=HUF,EUR", "language=hu&created_at.gte=2020-01-01", "score=0", "language.ne=de"} {
			require.Equal(t, []string{"ada", "cec"}, column(t, h.get("/customers?"+query), "id"), query)
			require.EqualValues(t, "2", data(t, h.get("/customers/-/count?"+query))["count"], query)
		}

		for query, want := range map[string]string{
			"": "ada cec", question("filter[created_at][gte]=2020-01-01"): "ada cec", question("sort[0][field]=created_at sort[0][direction]=desc"): "cec ada",
			question("sort[0][field]=status"): "ada cec", question("filter[status][nin]=active,suspended"): "",
		} {
			got := column(t, h.get("/v1/customers"+query), "id")
			if want == "" {
				require.Len(t, got, 1)
				continue
			}
			require.Equal(t, want, strings.Join(got, " "), query)
		}
	})
}
