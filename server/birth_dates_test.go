package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestBirthDates: a customer was born from 1900-01-01 to today, wherever the day is
// sent; any other day is refused with the name of its field, and nothing of its
// request is recorded.
//
// spec: error.birth_date, rule.opt_in.birth_date, rule.profile.birth_date
func TestBirthDates(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.furnish()
		today := time.Now().UTC().Format(time.DateOnly)
		born := func(member string) any { return data(t, h.get("/customers/"+member))["birth_date"] }
		ways := []struct{ target, body, field string }{
			{"/events", `{"customer":"%[1]s","action":"opt_in","data":{"email":"%[1]s@shop.test","birth_date":%[2]q}}`, "data.birth_date"},
			{"/events", `{"customer":"member-1001","action":"profile","data":{"birth_date":%[2]q}}`, "data.birth_date"},
			{"/events", `{"customer":"%[1]s","action":"profile","data":{"opt_in":true,"email":"%[1]s@shop.test","birth_date":%[2]q}}`, "data.birth_date"},
			{"/entities/core/customer/member-1001", `{"birth_date":%[2]q}`, "birth_date"},
			{"/customers/member-1001/activities/profiling/taste/questions/born", `{"answer":%[2]q}`, "answer"},
		}

		for i, way := range ways {
			before := contentsOf(t, url).counts()
			for _, day := range []string{"1899-12-31", "1066-10-14", "0001-01-01", "2999-01-01", "1990-02-30"} {
				body := fmt.Sprintf(way.body, fmt.Sprintf("never-%d", i), day)
				for how, a := range map[string]answer{"JSON": h.post(way.target, body), "form": h.form(way.target, formOf(t, body))} {
					require.Equal(t, http.StatusBadRequest, a.status, "%s as %s: %s", body, how, a.body)
					require.Equal(t, "BadRequestException", a.fault(t).Type, body)
					require.Equal(t, []string{way.field}, a.fault(t).fields(), "%s as %s: %s", body, how, a.body)
				}
			}
			require.Equal(t, before, contentsOf(t, url).counts(), "nothing was recorded")
		}

		for i, day := range []string{"1900-01-01", today} {
			for j, way := range ways[:4] {
				member := fmt.Sprintf("born-%d-%d", i, j)
				done(h, way.target, fmt.Sprintf(way.body, member, day))
				if j == 1 || j == 3 {
					member = "member-1001"
				}
				require.Equal(t, day, born(member), way.body)
				if member == "member-1001" {
					done(h, "/entities/core/customer/member-1001", `{"birth_date":null}`)
				}
			}
		}

		done(h, ways[4].target, `{"answer":"1900-01-01"}`)
		require.Equal(t, "1900-01-01", born("member-1001"))
		a := h.post("/events", `{"customer":"reader","action":"subscribe","data":{"handler":"reader","birth_date":"1990-05-17"}}`)
		require.Equal(t, []string{"data.birth_date"}, refused(t, a, http.StatusBadRequest, 190011).fields(), "a subscription has none")
	})
}
