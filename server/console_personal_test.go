package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/console"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestPersonalDataIsMasked: without the right, no answer has what names a person; all
// else is as it was.
func TestPersonalDataIsMasked(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		done(p, "/admin/modules/custom_events", `{"enabled":true}`)
		require.Equal(t, http.StatusCreated, p.post("/entities/custom-events/action", lineColour).status)
		for _, event := range []string{
			`"opt_in","data":{"email":"canary@shop.test","first_name":"Canaryfirst","last_name":"Canarylast","handler":"canaryhandle","birth_date":"1990-05-17"}`,
			`"profile","data":{"labels":["canarylabel"],"external_ids":{"crm":"canary-417"},"cf_note":"canarynote"}`,
			`"point_add","data":{"points":5,"reason":"canaryreason"}`,
			`"coupon_create","data":{"code":"C-77","value":5,"type":"amount","name":"canaryname","expdate":"2126-01-01"}`,
			`"checkout","data":{"transaction_id":"T-1","total":10,"cf_gift_for":"canaryfriend","items":[{"product_id":"p-1","product_name":"Coffee","product_url":"https://shop.test/1","quantity":1,"subtotal":10,"price":10,"cf_engraving":"canaryengraving","cf_colour":"red"}]}`,
		} {
			done(p, "/events", `{"customer":"member-1","action":`+event+`}`)
		}

		sees, not := p.enter("sees", loyalty.RoleOperator, true), p.enter("sees-not", loyalty.RoleOperator, false)
		all, found := everyOperation(t), 0
		for i := range all {
			o := &all[i]
			if o.method != http.MethodGet {
				continue
			}

			target := bridged + strings.ReplaceAll(strings.ReplaceAll(o.target(t), "member-1001", "member-1"), "T-1001", "T-1")
			if o.OperationID == "followEvents" {
				target += "?include=personal"
			}

			open, masked, unasked := sees.ask(http.MethodGet, target, "", "X-Personal-Data", "show"), not.get(target), sees.get(target)
			require.Equal(t, []int{open.status, open.status}, []int{masked.status, unasked.status}, target)
			require.NotContains(t, strings.ToLower(unasked.body), "canary", o.OperationID+": it was not asked for")
			if strings.Contains(strings.ToLower(open.body), "canary") {
				found++
			}

			require.NotContains(t, strings.ToLower(masked.body), "canary", o.OperationID)
			if o.OperationID == "getCustomerPoints" {
				require.JSONEq(t, open.body, masked.body)
			}
		}

		require.Greater(t, found, 3, "the canaries were not seen by who may")
		require.Contains(t, not.get(bridged+"/customers/member-1").body, "•••")
		refusal := not.ask(http.MethodGet, bridged+"/customers/member-1", "", "X-Personal-Data", "show")
		require.Equal(t, []any{http.StatusForbidden, 190651}, []any{refusal.status, refusal.fault(t).Code})
		p.declaredIsTold(not)
		p.shownIsNoted(sees)
		p.programmeIsNoPerson(not)

		// A table leaves with personal data on demand only, and to who may see them.
		sees, not = p.enter("owner.sees", loyalty.RoleOwner, true), p.enter("owner.sees-not", loyalty.RoleOwner, false)
		const table, personally = "/admin/exports/customers?format=csv", "&personal=true"
		require.NotContains(t, not.get(bridged+table).body, "canary")
		for _, yes := range []string{"true", "1", "t", "T", "True", "TRUE"} { // each of them is true for the handler
			refused := not.get(bridged + table + "&personal=" + yes)
			require.Equal(t, http.StatusForbidden, refused.status, refused.body)
			require.Equal(t, 190651, refused.fault(t).Code)
		}

		require.Contains(t, sees.get(bridged+table+personally).body, "canary")
	})
}

// shownIsNoted: each answer that names a person is in the audit trail, by the customer's internal id and without what
// was searched for; an answer that names no person is not.
func (p *house) shownIsNoted(v *visitor) {
	t := p.t
	shown := func() []string {
		var lines []string
		for _, row := range p.get("/admin/audit?limit=100&action=personal.show").json(t)["data"].([]any) {
			e := row.(map[string]any)
			require.Equal(t, []any{v.login, "user"}, []any{e["key_id"], e["actor_kind"]})
			after, err := json.Marshal(e["after"])
			require.NoError(t, err)
			lines = append(lines, e["target"].(string)+" "+string(after))
		}
		return lines
	}

	show := func(target string, headers ...string) answer {
		return v.ask(http.MethodGet, bridged+target, "", append([]string{"X-Personal-Data", "show"}, headers...)...)
	}
	before := len(shown())
	require.Contains(t, show("/customers/member-1").body, "canary@shop.test")
	who, err := p.store.Customer(t.Context(), "member-1")
	require.NoError(t, err)
	lines := shown()
	require.Len(t, lines, before+1)
	require.Equal(t, `/customers/`+who.ID.String()+` {"operation":"getCustomer"}`, lines[0])
	require.Contains(t, show("/customers?email=canary@shop.test&limit=5").body, "Canaryfirst")
	require.Equal(t, `/customers {"operation":"listCustomers","query":["email","limit"]}`, shown()[0])
	before = len(shown())
	require.Equal(t, http.StatusOK, show("/customers/member-1/points").status)
	require.Equal(t, http.StatusOK, show("/customers?email=nobody@shop.test").status)
	require.Equal(t, http.StatusNotFound, show("/customers/nobody").status)
	require.Len(t, shown(), before, "nobody was shown")
	rows := show("/events/feed?include=personal", "Accept", "application/x-ndjson")
	require.Contains(t, rows.body, "canary")
	require.Len(t, shown(), before+1, "one line for a stream")
	require.NotContains(t, strings.ToLower(p.get("/admin/audit?limit=100").body), "canary")
}

// lineColour declares an attribute of lines that names no person.
const lineColour = `{"id":"line","name":"checkout_item","schema":{"type":"object","properties":{"cf_colour":{"type":"string"}}}}`

// declaredIsTold: an undeclared attribute may be anything, so it is masked; one that is declared, and not as personal,
// is shown.
func (p *house) declaredIsTold(v *visitor) {
	t := p.t
	for _, target := range []string{"/customers/member-1/transactions/T-1", "/customers/member-1/events?action=checkout_item", "/customers/member-1/events?action=checkout"} {
		got := v.get(bridged + target).body
		require.Contains(t, got, `"cf_colour":"red"`, target)
		require.Contains(t, got, `"cf_engraving":"•••"`, target)
		require.Contains(t, got, `"price":10`, target)
	}
}

// programmeIsNoPerson: an attribute of the programme that has the name of what is personal is no
// person's, and who changes it gets back what is there.
func (p *house) programmeIsNoPerson(v *visitor) {
	t := p.t
	done(p, "/admin/modules/custom_events", `{"enabled":true}`)
	const action = `{"id":"tasting","name":"tasting","schema":{"type":"object","properties":{"email":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}}}}}`
	require.Equal(t, http.StatusCreated, p.post("/entities/custom-events/action", action).status)
	for _, target := range []string{"/entities/custom-events/action/tasting", "/admin/configuration"} {
		want, got := p.unchecked(http.MethodGet, target), v.get(bridged+target)
		require.Contains(t, want.body, `"email":{"type":"string"}`, target)
		require.Equal(t, took.ReplaceAllString(want.body, ""), took.ReplaceAllString(got.body, ""), target)
	}
	require.Contains(t, v.get(bridged+"/entities/core/customer/member-1").body, "•••")
}

// TestMaskedIsNotFoundOut: who may not see personal data finds customers by a whole address or external id, as an operator, thirty times
// a minute and with a line in the audit trail. No other filter, order or search tells anything that is masked.
func TestMaskedIsNotFoundOut(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsoleLimited(t, url, ratelimit.NewMemory(time.Now), func(*console.Options, *server.Options) {})
		p.declare("core/customer", map[string]string{"colour": "string", "size": "number", "joined": "date"})
		done(p, "/events", `{"customer":"member-1","action":"opt_in","data":{"email":"canary@shop.test","first_name":"Zoë","last_name":"Canarylast","handler":"canaryhandle","external_ids":{"crm":"417"},"cf_colour":"teal","cf_size":38.5,"cf_joined":"2026-03-01"}}`)
		done(p, "/events", `{"customer":"member-2","action":"opt_in","data":{"email":"other@shop.test"}}`)
		sees, not := p.enter("viewer.sees", loyalty.RoleViewer, true), p.enter("operator.sees-not", loyalty.RoleOperator, false)
		viewer := p.enter("editor.sees-not", loyalty.RoleEditor, false)
		lists := []string{"/customers?", "/customers/-/count?", "/entities/core/customer?"}

		found := func(v *visitor, list, query string) int {
			return len(strings.Fields(v.get(bridged + list + query).ids(t)))
		}
		for query, n := range map[string]int{"score.gte=0": 2, "created_at.gte=2026-01-01": 2, "sort=created_at": 2, "status=active": 2} {
			require.Equal(t, []int{n, n, n}, []int{found(sees, lists[0], query), found(not, lists[0], query), found(viewer, lists[0], query)}, query)
		}

		whole := []string{"search=CANARY@shop.test", "email=canary@shop.test", "id=crm:417"}
		for _, query := range whole {
			require.Equal(t, []int{1, 1}, []int{found(sees, lists[0], query), found(not, lists[0], query)}, query)
			require.Equal(t, 190640, refused(t, viewer.get(bridged+lists[0]+query), http.StatusForbidden, 190640).Code, query)
		}

		require.Equal(t, http.StatusOK, not.get(bridged+"/customers/crm:417").status)
		refused(t, viewer.get(bridged+"/customers/crm:417"), http.StatusForbidden, 190640)
		require.Zero(t, found(not, lists[0], "search=canary@shop.tes"), "not the beginning")
		for _, query := range []string{
			"search=c", "search=zo", "search=Canarylast", "search=teal", "email.ne=canary@shop.test", "email.in=canary@shop.test,other@shop.test", "email.nin=canary@shop.test",
			"handler=canaryhandle", "cf_colour=teal", "cf_colour.ne=teal", "cf_size.in=38,38.5", "cf_size.gt=1", "cf_joined.lte=2026-01-01", "cf_joined=2026-03-01",
		} {
			name, _, _ := strings.Cut(query, "=")
			for _, list := range lists {
				if list == lists[2] && !strings.HasPrefix(query, "search=") && !strings.HasPrefix(query, "cf_") {
					continue // it has no such filter
				}
				require.Equal(t, http.StatusOK, sees.get(bridged+list+query).status, query)
				require.Equal(t, []string{name}, refused(t, not.get(bridged+list+query), http.StatusForbidden, 190651).fields(), query)
			}
		}

		for _, order := range []string{"sort=email", "sort=last_name"} {
			require.Equal(t, []string{"sort"}, refused(t, not.get(bridged+lists[0]+order+"&order=desc"), http.StatusForbidden, 190651).fields())
		}

		p.declare("rewards/reward", map[string]string{"size": "number"})
		require.Equal(t, http.StatusOK, not.get(bridged+"/rewards?cf_size.gt=1").status, "what a reward is like is no secret")
		require.Equal(t, http.StatusOK, p.get("/customers?sort=email&search=c&cf_size.gt=1").status, "a key sees what it finds")

		trail := p.get("/admin/audit?limit=100&action=personal.search").body
		require.Contains(t, trail, `"operation":"listCustomers","query":["search"]`)
		require.Contains(t, trail, `"operation":"getCustomer","query":["customer_id"]`)
		require.NotContains(t, strings.ToLower(trail), "canary")

		// whose address it is told by a refusal too, so it counts; and a list of addresses does not fit in
		many := `{"customers":[` + strings.Repeat(`"crm:1",`, 30) + `"crm:2"]}`
		refused(t, not.post(bridged+springList, many), http.StatusForbidden, 190651)
		cards := make([]string, 16)
		for i := range cards {
			cards[i] = strconv.Quote(fmt.Sprint("x", i))
		}

		ids := "[" + strings.Join(cards, ",") + "]"
		refused(t, not.post(bridged+"/events", `{"customer":"member-1","action":"profile","data":{"external_ids":{"card":`+ids+`,"pos":`+ids+`}}}`), http.StatusForbidden, 190651)
		refused(t, viewer.post(bridged+"/events/preview", `{"customer":"member-9","action":"opt_in","data":{"email":"canary@shop.test"}}`), http.StatusForbidden, 190640)
		last := answer{}
		for range 300 { // a question comes back each two seconds
			if last.status == http.StatusTooManyRequests {
				break
			}
			last = not.post(bridged+"/events", `{"customer":"member-9","action":"opt_in","data":{"email":"canary@shop.test"}}`)
		}

		require.Equal(t, http.StatusTooManyRequests, last.status, last.body)
		require.Equal(t, http.StatusOK, not.get(bridged+"/customers/member-1").status, "what asks nothing goes on")
	})
}

// TestNothingElseIsInAPersonalOrder: no list but that of customers can be sorted by what is personal, or compared with it by
// order. A new one has to be looked at here.
func TestNothingElseIsInAPersonalOrder(t *testing.T) {
	personal, ordered := map[string]bool{}, []string{}
	all := everyOperation(t)
	for name, p := range servertest.Documents()["customers"].Components.Schemas["CustomerAnswer"].Value.Properties["data"].Value.Properties {
		personal[name] = p.Value.Extensions["x-personal"] == true
	}

	require.True(t, personal["email"])
	for _, o := range all {
		note := func(parameter, field string) {
			if personal[field] {
				ordered = append(ordered, o.OperationID+" "+parameter+" "+field)
			}
		}

		for _, p := range o.Parameters {
			field, operator, _ := strings.Cut(p.Value.Name, ".")
			schema := p.Value.Schema.Value
			for _, value := range schema.Enum {
				note(field, fmt.Sprint(value))
			}

			for field := range schema.Properties { // filter[field][operator]
				note(p.Value.Name, field)
			}

			if key := schema.AdditionalProperties.Schema; key != nil && key.Value.Properties["field"] != nil { // sort[0][field]
				for _, value := range key.Value.Properties["field"].Value.Enum {
					note(field, fmt.Sprint(value))
				}
			}

			if slices.Contains([]string{"gt", "gte", "lt", "lte"}, operator) {
				note(operator, field)
			}
		}
	}

	require.Equal(t, []string{"listCustomers sort last_name", "listCustomers sort email"}, ordered)
}

// TestRulesDoNotTellWhatIsMasked: who may not see personal data makes no rule that asks for it, and tries none; what an entity asks already
// may be sent back with it. In previews such rules are unknown.
func TestRulesDoNotTellWhatIsMasked(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		for _, module := range []string{"automation", "challenges", "custom_events"} {
			done(p, "/admin/modules/"+module, `{"enabled":true}`)
		}

		done(p, "/entities/custom-events/action", `{"id":"tasting","name":"tasting","schema":{"type":"object","properties":{"aroma":{"type":"string"},"note":{"type":"string","x-personal":true}}}}`)
		done(p, "/entities/segments/segment", `{"id":"a","name":"A","condition":"customer.email startsWith 'a'"}`)
		done(p, "/entities/automation/campaign", `{"id":"tried","name":"Tried","trigger":"visit","effects":[{"type":"points","points":1}]}`)
		sees, not := p.enter("editor.sees", loyalty.RoleEditor, true), p.enter("editor.sees-not", loyalty.RoleEditor, false)
		segment := func(condition string) string { return `{"name":"S","condition":"` + condition + `"}` }
		campaign := func(trigger, condition string) string {
			return `{"name":"C","trigger":"` + trigger + `","condition":"` + condition + `","effects":[{"type":"points","points":1}]}`
		}
		criterion := func(more string) string { return `{"title":{"en":"C"},"criteria":[{"action":"tasting",` + more + `}]}` }
		const segments, campaigns, challenges = "/entities/segments/segment", "/entities/automation/campaign", "/entities/challenges/challenge"
		const backtest, probe = "/automation/campaigns/tried/backtest", "customer.email startsWith 'b'"
		past := func(campaign string) string {
			return `{"from":"2020-01-01T00:00:00Z","to":"2099-01-01T00:00:00Z","campaign":` + campaign + `}`
		}
		probing := [][3]string{
			{segments, segment(probe), "condition"},
			{segments, segment("customer.age >= 18"), "condition"},
			{segments + "/a", `{"condition":"` + probe + `"}`, "condition"},
			{campaigns, campaign("visit", "customer.cf_size > 38"), "condition"},
			{campaigns, campaign("review", "event.data.review contains 'bad'"), "condition"},
			{campaigns, campaign("checkout", "any(transaction.items, .data.cf_engraving startsWith 'A')"), "condition"},
			{challenges, criterion(`"threshold":1,"condition":"event.data.note matches '^a'"`), "criteria[0].condition"},
			{challenges, criterion(`"threshold":9,"sum":"data.cf_income"`), "criteria[0].sum"},
			{backtest, past(campaign("visit", probe)), "campaign.condition"},
			{"/entities", `{"entities":[{"method":"create","type":"segments/segment","data":` + segment(probe) + `}]}`, "entities[0].data.condition"},
			{"/admin/configuration", `{"mode":"plan","configuration":{"entities":{"segments/segment":{"s":` + segment(probe) + `}}}}`, "configuration.entities.segments/segment.s.condition"},
		}

		for _, one := range probing {
			require.Equal(t, []string{one[2]}, refused(t, not.post(bridged+one[0], one[1]), http.StatusForbidden, 190651).fields(), one[1])
		}

		for _, one := range probing {
			require.Less(t, sees.post(bridged+one[0], one[1]).status, 300, one[1])
			require.Less(t, p.post(one[0], one[1]).status, 300, "a key is a program: "+one[1])
		}

		for _, asking := range [][2]string{
			{segments, segment("customer.email == 'a@shop.test' or 'vip' in customer.labels")},
			{segments, segment("customer.birth_date in ['1990-05-16','1990-05-17']")},
			{segments + "/a", `{"condition":"customer.first_name startsWith 'a'"}`}, // it is another segment's
			{campaigns, campaign("checkout", "customer.birthday == event.month_day and transaction.total > 10")},
			{backtest, past(campaign("checkout", "event.data.total >= 10 and customer.email == 'a@shop.test'"))},
		} {
			if asking[0] == segments+"/a" {
				done(p, segments, `{"id":"kept","name":"Kept","condition":"customer.first_name startsWith 'a'"}`)
			}
			refused(t, not.post(bridged+asking[0], asking[1]), http.StatusForbidden, 190651)
		}

		for _, told := range [][2]string{
			{segments + "/kept", `{"name":"Still kept","condition":"customer.first_name startsWith 'a'"}`},
			{campaigns, campaign("checkout", "transaction.total > 10 and customer.score > 1")},
			{challenges, criterion(`"threshold":1,"condition":"event.data.aroma startsWith 'n'"`)},
			{challenges, criterion(`"threshold":9,"sum":"points"`)},
			{backtest, past(campaign("checkout", "event.data.total >= 10"))},
			{"/admin/configuration", `{"mode":"plan","configuration":{"entities":{"segments/segment":{"kept":` + segment("customer.first_name startsWith 'a'") + `}}}}`},
		} {
			require.Less(t, not.post(bridged+told[0], told[1]).status, 300, told[1])
		}

		done(p, "/events", `{"customer":"member-1","action":"opt_in","data":{"email":"ada@shop.test","birth_date":"1990-05-17"}}`)
		done(p, campaigns, `{"id":"born","status":"active",`+campaign("checkout", "customer.birth_date == '1990-05-17'")[1:])
		withRight := sees.post(bridged+"/events/preview", `{"customer":"member-1","action":"checkout","data":{"transaction_id":"T-9","total":10,"items":[{"product_id":"p-1","product_name":"Coffee","product_url":"https://shop.test/1","quantity":1,"subtotal":10,"price":10}]}}`)
		without := not.post(bridged+"/events/preview", `{"customer":"member-1","action":"checkout","data":{"transaction_id":"T-9","total":10,"items":[{"product_id":"p-1","product_name":"Coffee","product_url":"https://shop.test/1","quantity":1,"subtotal":10,"price":10}]}}`)
		require.Equal(t, []int{http.StatusOK, http.StatusOK}, []int{withRight.status, without.status}, without.body)
		const holds = "the campaign's condition holds"
		require.Contains(t, withRight.body, holds)
		require.NotContains(t, without.body, holds)
		require.Contains(t, p.get("/admin/audit?limit=100&action=personal.preview").body, `"operation":"previewEvent"`)
		refused(t, not.post(bridged+"/automation/campaigns/born/backtest", `{"from":"2020-01-01T00:00:00Z","to":"2099-01-01T00:00:00Z"}`), http.StatusForbidden, 190651)
		r := newReceiver(t)
		owner := p.enter("owner.sees-not", loyalty.RoleOwner, false)
		hook := func(filter string) string {
			return `{"url":"` + r.URL + `","types":["event.*"],"filter":"` + filter + `"}`
		}
		require.Equal(t, []string{"filter"}, refused(t, owner.post(bridged+"/admin/webhooks", hook(probe)), http.StatusForbidden, 190651).fields())
		require.Equal(t, http.StatusCreated, owner.post(bridged+"/admin/webhooks", hook("event.data.total > 5 and customer.score > 1")).status)
		kept := bridged + "/admin/webhooks/" + p.hook(r, `["event.*"]`, `,"filter":"`+probe+`"`)
		require.Equal(t, http.StatusOK, owner.post(kept, `{"label":"Kept","filter":"`+probe+`"}`).status)
	})
}

// TestListsDoNotTellWhatIsMasked: what a customer may have is shown to a user without the right as if segments that ask for personal data
// held for no one, and an import, whose findings and counts tell who has which address, is not theirs to make.
func TestListsDoNotTellWhatIsMasked(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		p.everyModule()
		done(p, "/entities/segments/segment", `{"id":"born","name":"Born","condition":"customer.birth_date == '1990-05-17'"}`)
		done(p, "/entities/segments/segment", `{"id":"all","name":"All","condition":"customer.status == 'active'"}`)
		for _, of := range []string{"born", "all"} {
			done(p, "/entities/rewards/reward", `{"id":"reward-`+of+`","title":{"en":"R"},"type":"custom","points":0,"segments":["`+of+`"]}`)
			done(p, "/entities/offers/offer", `{"id":"offer-`+of+`","name":{"en":"O"},"type":"cart","weight":1,"discount":{"type":"fixed_discount","value":1},"segments":["`+of+`"]}`)
		}

		done(p, "/events", `{"customer":"member-1","action":"opt_in","data":{"email":"ada@shop.test","birth_date":"1990-05-17"}}`)
		sees, not := p.enter("owner.sees", loyalty.RoleOwner, true), p.enter("owner.sees-not", loyalty.RoleOwner, false)
		for _, target := range []string{
			"/rewards?customer=member-1", "/customers/member-1/activities/rewards", "/customers/member-1/activities/offers", "/customers/member-1/activities",
		} {
			shown, masked := sees.get(bridged+target).body, not.get(bridged+target).body
			require.Contains(t, shown, "-born", target)
			require.NotContains(t, masked, "-born", target)
			require.Contains(t, masked, "-all", target)
		}

		require.Equal(t, http.StatusOK, sees.get(bridged+"/customers/member-1/activities/rewards/reward-born").status)
		require.NotContains(t, not.get(bridged+"/customers/member-1/activities/rewards/reward-born").body, "complete")

		refused(t, not.post(bridged+"/admin/imports", `{}`), http.StatusForbidden, 190651)
		begun := sees.post(bridged+"/admin/imports", `{}`)
		require.Equal(t, http.StatusCreated, begun.status, begun.body)
		path := bridged + "/admin/imports/" + data(t, begun)["import_id"].(string)
		for _, step := range [][2]string{
			{"/files", `{"file":"lots","part":1,"content":"email,points,earned_at\nada@shop.test,1,2026-01-01\n"}`}, {"/check", "{}"}, {"/apply", "{}"}, {"/reconcile", "{}"},
		} {
			refused(t, not.post(path+step[0], step[1]), http.StatusForbidden, 190651)
		}

		require.Equal(t, http.StatusForbidden, not.get(path+"/findings").status)
		require.Equal(t, http.StatusOK, not.get(path).status)
	})
}

// TestWorkDoesNotTellWhatIsMasked: what waits for a webhook, what its receiver answered, refused requests, rows that a bulk refused and the
// audit trail name no person to a user without the right.
func TestWorkDoesNotTellWhatIsMasked(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsoleWith(t, url, func(_ *console.Options, o *server.Options) { patient(o) })
		r, c := newReceiver(t), p.courier()
		r.says(func(w http.ResponseWriter, m *received) bool {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("canary answer"))
			return false
		})

		id := p.hook(r, `["event.*"]`, `,"include":["personal"],"confirm_personal":true`)
		for _, event := range []string{
			`"opt_in","data":{"email":"canary@shop.test","first_name":"Canaryfirst"}`,
			`"profile","data":{"external_ids":{"crm":"canary-417"},"cf_note":"canarynote"}`,
			`"coupon_create","data":{"code":"C-77","value":5,"type":"amount","name":"canaryname"}`,
			`"point_add","data":{"points":5,"reason":"canaryreason"}`,
		} {
			done(p, "/events", `{"customer":"member-1","action":`+event+`}`)
		}

		p.numbered()
		c.run()
		for _, refused := range []string{`"opt_in","data":{"email":"canary@shop.test","first_name":"Canaryfirst"}`, `"profile","data":{"external_ids":{"canary:x":"canary-1"},"canary":1}`} {
			a := p.post("/events", `{"customer":"member-1","action":`+refused+`}`)
			require.GreaterOrEqual(t, a.status, 400, a.body)
		}

		sees, not := p.enter("owner.sees", loyalty.RoleOwner, true), p.enter("owner.sees-not", loyalty.RoleOwner, false)
		targets := []string{"/admin/audit?limit=100", "/admin/requests/errors?limit=100", "/admin/webhooks/" + id + "/deliveries", "/admin/jobs?limit=100", "/admin/system", "/admin/ledger?verify=true"}
		for _, d := range p.deliveries(id, "") {
			targets = append(targets, fmt.Sprintf("/admin/webhooks/%s/deliveries/%v", id, d["delivery"]))
		}

		require.Greater(t, len(targets), 9)
		told := 0
		for _, target := range targets {
			a := not.get(bridged + target)
			require.NotContains(t, strings.ToLower(a.body), "canary", target)
			if shown := sees.ask(http.MethodGet, bridged+target, "", "X-Personal-Data", "show"); strings.Contains(strings.ToLower(shown.body), "canary") {
				told++
			}
		}

		require.Positive(t, told)
	})
}
