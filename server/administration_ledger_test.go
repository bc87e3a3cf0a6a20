package server_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestLedgerValue: what is outstanding is told in money, exactly, once the programme says what a point is worth, and not
// while the module is off.
func TestLedgerValue(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("member-1000")
		done(h, "/events", `{"customer":"member-1000","action":"point_add","data":{"points":12345}}`)
		value := func() string {
			v, err := json.Marshal(data(t, h.get("/admin/ledger"))["value"])
			require.NoError(t, err)
			return string(v)
		}

		require.Equal(t, "null", value())
		done(h, "/admin/settings", `{"currency":"HUF"}`)
		done(h, "/admin/modules/points_economy", `{"enabled":true,"config":{"point_value":0.0033}}`)
		require.Equal(t, `{"currency":"HUF","outstanding":40.7385,"point":0.0033}`, value())
		require.Contains(t, h.get("/admin/modules/points_economy").body, `"point_value":0.0033`)
		done(h, "/admin/modules/points_economy", `{"enabled":false}`)
		require.Equal(t, "null", value())
		for _, wrong := range []string{"0", "-1", "1000000.5", `"a"`} {
			a := h.post("/admin/modules/points_economy", `{"config":{"point_value":`+wrong+`}}`)
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", wrong, a.body)
			require.Contains(t, a.body, "point_value", wrong)
		}
	})
}

// TestLedgerReport: what is outstanding adds up by month, in the programme's zone,
// and to the figures.
func TestLedgerReport(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		empty := data(t, h.get("/admin/ledger"))
		require.Empty(t, empty["months"])
		require.NotContains(t, empty, "invariants")
		done(h, "/admin/settings", `{"time_zone":"Pacific/Auckland"}`)
		for i := range 3 {
			h.enrol(fmt.Sprintf("member-100%d", i))
		}

		add := func(member, points string) {
			done(h, "/events", `{"customer":"`+member+`","action":"point_add","data":{"points":`+points+`}}`)
		}
		policy := func(config string) {
			done(h, "/admin/modules/points_economy", `{"config":{"expiry":`+config+`}}`)
		}
		add("member-1000", "100") // never
		// The first of the month begins in Auckland while it is the last in UTC.
		policy(`{"policy":"calendar","date":"04-01"}`)
		add("member-1000", "30")
		add("member-1001", "50")
		policy(`{"policy":"calendar","date":"09-30"}`) // its last moment is in September, and it expires in October
		add("member-1001", "20")
		done(h, "/events", `{"customer":"member-1000","action":"point_spend","data":{"points":10}}`)
		done(h, "/events", `{"customer":"member-1001","action":"reserve_points","data":{"points":5,"transaction_id":"T-1"}}`)
		policy(`{"policy":"last_activity","months":1200}`)
		add("member-1002", "7")

		l := data(t, h.get("/admin/ledger?verify=true"))
		months := l["months"].([]any)
		require.Len(t, months, 4, "%v", months)
		text := func(i int) string {
			m := months[i].(map[string]any)
			require.Equal(t, []any{map[string]any{"origin": "correction", "points": m["points"], "lots": m["lots"]}}, m["origins"])
			return fmt.Sprintf("lots:%v month:%v points:%v", m["lots"], m["month"], m["points"])
		}

		first, second := text(0), text(1)
		if strings.Contains(second, "-04") { // what comes first depends on the day
			first, second = second, first
		}

		require.Regexp(t, `lots:2 month:\d{4}-04 points:70`, first, "10 of the 30 were spent first")
		require.Regexp(t, `lots:1 month:\d{4}-09 points:20`, second)
		require.Contains(t, text(2), "points:7")
		require.Regexp(t, `month:21\d\d-\d\d`, text(2), "by activity: in a hundred years")
		require.Equal(t, "lots:1 month:<nil> points:100", text(3))
		totals := l["totals"].(map[string]any)
		require.Equal(t, json.Number("207"), totals["earned"])
		require.Equal(t, json.Number("10"), totals["spent"])
		require.Equal(t, json.Number("5"), totals["reserved"])
		require.Equal(t, json.Number("197"), totals["outstanding"])
		invariants := l["invariants"].([]any)
		require.Len(t, invariants, 10)
		for _, i := range invariants {
			require.Equal(t, "held", i.(map[string]any)["verdict"], i)
		}

		require.Equal(t, []string{"verify"}, h.get("/admin/ledger?verify=maybe").fault(t).fields())
	})
}

// TestLedgerOrigins: the points that are owed are told apart by what they were given for, sum up
// to all that are owed, and keep their origin whatever becomes of them. A rebuild finds the same.
func TestLedgerOrigins(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		require.Empty(t, data(t, h.get("/admin/ledger"))["origins"])
		done(h, "/entities/automation/campaign", `{"id":"extra","name":"Extra","trigger":"checkout","effects":[{"type":"points","points":11}],"status":"active"}`)
		done(h, "/admin/modules/customer_id_validation", `{"enabled":true}`)
		done(h, "/entities/rewards/reward", `{"id":"gift","title":{"en":"Gift"},"type":"points","points":5,"award":30}`)
		for i := range 3 {
			h.enrol(fmt.Sprintf("member-100%d", i))
		}

		submit := func(member, action, data string) {
			done(h, "/events", `{"customer":"`+member+`","action":"`+action+`","data":`+data+`}`)
		}
		submit("member-1000", "point_add", `{"points":100}`)
		submit("member-1000", "visit", `{"url":"https://shop.test/","points":7}`)
		submit("member-1000", "checkout", `{"transaction_id":"T-1","total":40,"items":[{"product_id":"p","product_name":"P","product_url":"https://shop.test/p","quantity":1,"subtotal":40}]}`)
		done(h, "/customers/member-1000/activities/rewards/gift/claim", `{}`) // 5 of the first are spent
		done(h, "/events", `{"customer":"guest","action":"checkout","guest":true,"data":{"transaction_id":"T-2","total":20,"items":[{"product_id":"p","product_name":"P","product_url":"https://shop.test/p","quantity":1,"subtotal":20}]}}`)
		submit("member-1001", "checkout_claim", `{"transaction_id":"T-2"}`)
		submit("member-1002", "visit", `{"url":"https://shop.test/","points":500}`)
		submit("member-1002", "reserve_points", `{"points":9,"transaction_id":"R-1"}`)
		done(h, "/customers/member-1002/merge", `{"target":"member-1001"}`)

		l := data(t, h.get("/admin/ledger"))
		require.Len(t, l["months"], 1)
		require.Equal(t, l["origins"], l["months"].([]any)[0].(map[string]any)["origins"], "none of them expires")
		found, sum := map[string]string{}, int64(0)
		for _, each := range l["origins"].([]any) {
			o := each.(map[string]any)
			found[o["origin"].(string)] = fmt.Sprint(o["points"], " of ", o["lots"])
			n, err := o["points"].(json.Number).Int64()
			require.NoError(t, err)
			sum += n
		}

		require.Equal(t, map[string]string{
			"correction": "95 of 1", "activity": "507 of 2", "purchase": "60 of 2", "campaign": "11 of 1", "reward": "30 of 1",
		}, found)
		require.Equal(t, l["totals"].(map[string]any)["outstanding"], json.Number(fmt.Sprint(sum)))
		require.Equal(t, "activity", l["origins"].([]any)[0].(map[string]any)["origin"], "the most first")
	})
}

// TestLedgerReportBeyond64Bits: balances that are as large as they may be add up to
// more than a database's whole number holds.
func TestLedgerReportBeyond64Bits(t *testing.T) {
	const members, largest = 1030, 1<<53 - 1

	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.crowd("m-", members, largest)
		sum := json.Number(new(big.Int).Mul(big.NewInt(members), big.NewInt(largest)).String())
		require.Greater(t, len(sum), len("9223372036854775807")-1)
		l := data(t, h.get("/admin/ledger?verify=true"))
		totals := l["totals"].(map[string]any)
		require.Equal(t, sum, totals["earned"])
		require.Equal(t, sum, totals["outstanding"])
		require.Equal(t, json.Number("0"), totals["debt"])
		origins := []any{map[string]any{"origin": "correction", "points": sum, "lots": json.Number(fmt.Sprint(members))}}
		require.Equal(t, origins, l["origins"])
		require.Equal(t, []any{map[string]any{"month": nil, "points": sum, "lots": json.Number(fmt.Sprint(members)), "origins": origins}}, l["months"])
		for _, i := range l["invariants"].([]any) {
			require.Equal(t, "held", i.(map[string]any)["verdict"], i)
		}
	})
}

func TestAuditFilters(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		for _, id := range []string{"a", "b", "c"} {
			done(h, "/entities/stores/store", `{"id":"`+id+`","name":"Store"}`)
		}

		done(h, "/admin/settings", `{"currency":"GBP"}`)
		done(h, "/admin/modules/stores", `{"enabled":false}`)
		count := func(query string) int {
			a := h.sees("/admin/audit?" + query)
			return len(a.json(t)["data"].([]any))
		}

		require.Equal(t, 3, count("action=entity.create"))
		require.Equal(t, 2, count("action.in=settings.update,module.update"))
		require.Equal(t, 1, count("target=stores/store/b"))
		require.Equal(t, 4, count("target.ne=stores/store/b&action.nin=key.create"))
		require.Equal(t, 5, count("key_id="+h.key.KeyID))
		require.Equal(t, 1, count("key_id=command%20line"), "the first key")
		require.Equal(t, 0, count("key_id.ne="+h.key.KeyID+"&action=entity.create"))
		require.Equal(t, 6, count("at.gte=2020-01-01&at.lt=2100-01-01"))
		require.Equal(t, 0, count("at.lt=2020-01-01"))
		require.Equal(t, 0, count("at=2026-02-30"), "no such day")
		require.Equal(t, []string{"action.gt"}, h.get("/admin/audit?action.gt=a").fault(t).fields(), "texts have no order")
		require.Equal(t, []string{"who"}, h.get("/admin/audit?who=me").fault(t).fields())

		a := h.get("/admin/audit?action=entity.create&limit=2")
		next := h.get(a.json(t)["next"].(string))
		require.Len(t, next.json(t)["data"], 1)
		require.Nil(t, next.json(t)["next"])
		require.Equal(t, a.json(t)["data"], h.get(next.json(t)["previous"].(string)).json(t)["data"])
	})
}
