package store_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// grown is how many rows fillEverything gives a table.
const grown = 20_000

// fillEverything fills every table that grows with the programme's life. Times end now; %[1]s is the member named in
// the documents' examples.
const fillEverything = `
CREATE FUNCTION crowd_id(n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $f$ SELECT (lpad(to_hex(1790000000000 + n), 12, '0') || '70008000000000000000')::uuid $f$;
CREATE FUNCTION crowd_at(n bigint) RETURNS bigint LANGUAGE sql STABLE AS $f$ SELECT (extract(epoch FROM now()) * 1000)::bigint - (20001 - n) * 300000 $f$;
CREATE FUNCTION crowd_whose(n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $f$ SELECT CASE WHEN n %% 20 = 0 THEN '%[1]s'::uuid ELSE crowd_id(n) END $f$;
CREATE TABLE n AS SELECT generate_series(1, 20000)::bigint n;
INSERT INTO customers (id, name, status, created_at, updated_at, handler, email, language, currency, handler_key, email_key, merged_into)
SELECT crowd_id(n), 'crowd-' || n, CASE WHEN n %% 5000 = 0 THEN 'suspended' WHEN n %% 400 = 1 THEN 'merged' ELSE 'active' END, crowd_at(n), crowd_at(n), 'h' || n, n || '@shop.test',
	CASE WHEN n %% 3 = 0 THEN 'hu' ELSE 'en' END, 'EUR', 'h' || n, n || '@shop.test', CASE WHEN n %% 400 = 1 THEN crowd_id(n + 1) END FROM n;
INSERT INTO balances (customer_id, version, score, spent, reserved, expired, pending, debt, last_event, due_at)
SELECT crowd_id(n), 1, n, 0, 0, 0, 0, 0, crowd_id(n), CASE WHEN n %% 10 = 0 THEN crowd_at(n + 30000) END FROM n;
INSERT INTO names (kind, value, owner) SELECT 1, 'crowd-' || n, crowd_id(n) FROM n;
INSERT INTO customer_keys (customer_id, sealed) SELECT crowd_id(n), '\x00' FROM n;
INSERT INTO events (customer_id, id, recorded_at, at, points, action, transaction_id, data)
SELECT crowd_whose(n), crowd_id(n), crowd_at(n), crowd_at(n) - CASE WHEN n %% 10 = 0 THEN 1000 ELSE 0 END, n %% 7,
	CASE WHEN n %% 5000 = 0 THEN 'suspend' WHEN n %% 2 = 0 THEN 'point_add' ELSE 'visit' END, CASE WHEN n %% 5 = 0 THEN 'T-1' || (n / 5) END, '{}' FROM n;
INSERT INTO postings (customer_id, event_id, lot_id, points, seq, from_account, to_account) SELECT customer_id, id, id, 5, 0, 1, 2 FROM events WHERE points > 0;
INSERT INTO lots (customer_id, id, points, remaining, reserved, spent, expired, earned_at, idle_months, idle_days, open)
SELECT crowd_whose(n), crowd_id(n), 5, 5, 0, 0, 0, crowd_at(n), 0, 0, n %% 20 <> 0 FROM n;
INSERT INTO transactions (customer_id, transaction_id, state, checkout, created_at, updated_at, checkout_date, auto_accept, auto_reject, total, original_total, refunded,
	original_earned, earned, original_burned, burned)
SELECT crowd_whose(n), 'T-1' || n, CASE WHEN n %% 3 = 0 THEN 'pending' ELSE 'accepted' END, crowd_id(n), crowd_at(n), 0, crowd_at(n),
	CASE WHEN n %% 3 = 0 THEN crowd_at(n + 30000) END, false, 0, 0, 0, n %% 90, n %% 90, 0, 0 FROM n;
INSERT INTO reservations (customer_id, transaction_id) SELECT customer_id, transaction_id FROM transactions;
INSERT INTO names (kind, value, owner) SELECT 2, transaction_id, customer_id FROM transactions;
INSERT INTO coupons (id, code, state, customer_id, type, value, balance, currency, pool, reward, cost, created_at, claimed_at, redeemed_at, expires_at, version)
SELECT crowd_id(n + 50000), 'C-' || n, CASE WHEN n %% 2 = 0 THEN 'created' WHEN n %% 4 = 1 THEN 'claimed' ELSE 'redeemed' END, CASE WHEN n %% 2 = 1 THEN crowd_whose((n + 1) / 2) END,
	CASE WHEN n %% 1000 = 1 THEN 'gift_card' ELSE 'percentage' END, 50000, 0, '', CASE WHEN n %% 2 = 0 THEN 'coffee-codes' END, CASE WHEN n %% 4 = 1 THEN 'coffee' END, 0,
	crowd_at(n), CASE WHEN n %% 2 = 1 THEN crowd_at(n) END, CASE WHEN n %% 4 = 3 THEN crowd_at(n) END, CASE WHEN n %% 7 = 0 THEN crowd_at(n + 30000) END, 1 FROM n;
INSERT INTO names (kind, value, owner) SELECT %[2]d, code, id FROM coupons WHERE code LIKE 'C-%%';
INSERT INTO coupon_events (coupon_id, version, customer_id, event_id, recorded_at) SELECT crowd_id(n + 50000), 1, crowd_whose(n), crowd_id(n), crowd_at(n) FROM n;
INSERT INTO claims (customer_id, id, reward, state, points, award, claimed_at, updated_at)
SELECT crowd_whose(n), crowd_id(n), 'coffee', 'claimed', 100, 0, crowd_at(n), 0 FROM n;
INSERT INTO progress (customer_id, kind, key, data, due_at) SELECT crowd_id(n), 3, 'coffee', '{}', CASE WHEN n %% 10 = 0 THEN crowd_at(n + 30000) END FROM n;
INSERT INTO progress (customer_id, kind, key, data) SELECT crowd_id(n), 1, 'club', CASE WHEN n %% 100 = 0 THEN '{"tier":"gold"}' WHEN n %% 2 = 0 THEN '{"tier":"silver"}' ELSE '{}' END FROM n;
INSERT INTO rankings (customer_id, kind, start, score, shown) SELECT crowd_id(n), k, 0, n, true FROM n, generate_series(0, 1) k;
INSERT INTO ranking_counts (kind, start, stretch, customers) SELECT 1, -n, 1, 1 FROM n;
INSERT INTO numbered (customer_id, through) SELECT crowd_id(n), crowd_id(n) FROM n;
INSERT INTO list_members (customer_id, list_id) SELECT crowd_id(n), CASE WHEN n %% 100 = 0 THEN 'spring-2026' ELSE 'others' END FROM n;
INSERT INTO bulk_operations (id, kind, target, state, done, total, errors, created_at, finished_at, key_id, version)
SELECT crowd_id(n), CASE n WHEN 1 THEN '%[3]s' WHEN 3 THEN 'pool_fill' ELSE '%[4]s' END, 'coffee', 'done', 10000, 10000, 200, crowd_at(n), crowd_at(n), '', 1 FROM n WHERE n < 2000;
INSERT INTO bulk_items (batch_id, seq, customer, error, done_at) SELECT crowd_id(1 + n %% 2), n, 'crowd-' || n, CASE WHEN n %% 50 < 2 THEN 'CustomerNotFound' END, 1 FROM n;
INSERT INTO bulk_items (batch_id, seq, code, error, done_at) SELECT crowd_id(3), n, 'COF-' || n, '{"Name":"coupon_exists"}', 1 FROM n;
INSERT INTO audit (id, at, actor, action, target) SELECT crowd_id(n), crowd_at(n), 'k' || n %% 9, 'settings.update', 'x' || n %% 50 FROM n;
INSERT INTO failed_requests (id, at, request_id, method, route, api, status, code, key_id, duration)
SELECT crowd_id(n), crowd_at(n), 'r' || n, 'GET', '/customers', 'customers', CASE WHEN n %% 3 = 0 THEN 404 ELSE 400 END, 160212, 'k' || n %% 9, 1 FROM n;
INSERT INTO answers (access_key, key, hash, status, body, at) SELECT 'k', n::text, '\x00', 200, '\x00', crowd_at(n) FROM n;
INSERT INTO ledger_proofs (id, at, held, broken, unchecked) SELECT crowd_id(n), crowd_at(n), 10, 0, 0 FROM n;
INSERT INTO campaign_customers (customer_id, campaign) SELECT crowd_id(n), 'welcome' FROM n;
INSERT INTO campaign_figures (campaign, slot, runs, customers, points, taken_back, coupons, labels, tiers, challenge) SELECT 'old-' || n, 0, 1, 1, 1, 0, 0, 0, 0, 0 FROM n;
INSERT INTO tallies (key, count) SELECT 'old-' || n, 1 FROM n;
INSERT INTO webhooks (id, label, url, types, ordered, version, format, concurrency, state, cursor, last_number, failures, tries, told, pace, created_at, updated_at)
SELECT crowd_id(n), 'w' || n, 'https://crm.example.com', '["event.*"]', true, '2026-11', 'json', 8, 'paused', 0, 20000, 0, 0, false, 0, crowd_at(n), crowd_at(n) FROM n WHERE n <= 100;
INSERT INTO deliveries (webhook_id, number, sequence, customer_id, event_id, type, replay, state, front, attempts, next_at, created_at, last_status)
SELECT crowd_id(1), n, n, crowd_whose(n), crowd_id(n), CASE WHEN n %% 50 = 0 THEN 'event.suspend' ELSE 'event.point_add' END, false,
	CASE WHEN n %% 200 = 0 THEN 'dead' WHEN n %% 199 = 0 THEN 'waiting' WHEN n %% 197 = 0 THEN 'skipped' ELSE 'sent' END, false, 1, crowd_at(n), crowd_at(n), 204 FROM n;
UPDATE tail_state SET looked_at = crowd_at(20001), compared_at = crowd_at(20001);
DROP TABLE n`

// small are the tables of the configuration. Whatever else is there grows.
var small = []string{"access_keys", "key_secrets", "modules", "settings", "programme_version", "entities", "jobs", "leaderboard", "followers", "webhooks", "webhook_secrets", "tail_state", "goose_db_version"}

// listRow is what of a list has to be asked for besides every parameter of its own
// that the document has.
type listRow struct {
	path  string   // in place of the path that the examples give
	extra []string // queries, or whole targets
	skip  string   // a parameter that means nothing on that path
}

// lists are the lists of all documents, by operation.
var lists = map[string]listRow{
	"listKeys": {}, "listImports": {}, "listLedgerProofs": {}, "listUsers": {}, "listSessions": {}, "listModules": {}, "listJobs": {}, "listCampaigns": {}, "listCouponPools": {}, "listLevels": {}, "listOffers": {}, "listRewards": {},
	"listAudit":          {extra: []string{"action=settings.update&at.gte=2020-01-01", "target=x7&key_id=k1"}},
	"listFailedRequests": {extra: []string{"status=404&since=2020-01-01T00:00:00Z", "key_id=k1"}},
	"listCoupons":        {extra: []string{"type=gift_card", "pool=coffee-codes&status=created", "status.in=redeemed,claimed", "customer=member-1001&status=claimed", "customer.nin=member-1001", "status=expired"}},
	"getCouponUsage":     {},
	"listWebhooks":       {}, "listWebhookTypes": {},
	"listDeliveries": {path: "/admin/webhooks/01a0c450-6c01-7000-8000-000000000000/deliveries", extra: []string{"state=dead", "state=waiting&customer=member-1001", "customer=member-1001&type=event.point_add", "created_at.gte=2020-01-01"}},
	"exportTable":    {skip: "offset", extra: []string{"/admin/exports/customers?limit=100", "/admin/exports/postings?limit=100", "/admin/exports/lots?limit=100", "/admin/exports/purchases?limit=100", "/admin/exports/coupons?limit=100", "/admin/exports/claims?limit=100"}},
	"followEvents":   {skip: "offset", extra: []string{"types=event.point_*&include=postings,personal"}},
	"listCustomers": {extra: []string{"sort=last_name&order=desc&status=active", "sort=email&search=h7", "sort=last_name&list=spring-2026", "status=suspended", "search=h7", "email=77@shop.test", "list=spring-2026&status=active", "score.gte=19000", "language=fr", "handler.in=h1,h2",
		"search=h", "search=77@shop&status=active", "list=spring-2026&currency=EUR", "language.in=en,hu,fr&currency.in=EUR,HUF", "language=hu&status.in=active,suspended"}},
	"listCustomerListErrors": {path: "/v1/bulk-operation/customer-list/01a0c450-6c01-7000-8000-000000000000/status/errors"},
	"listBulkClaimErrors":    {path: "/v1/bulk-operation/reward/claim/01a0c450-6c02-7000-8000-000000000000/status/errors"},
	"listPoolFillErrors":     {path: "/coupon-pools/codes/01a0c450-6c03-7000-8000-000000000000/status/errors"},
	"listRewardActivities":   {}, "listChallengeActivities": {}, "listCompletedChallenges": {}, "listChallengeProgress": {}, "listQuizzes": {}, "listContests": {},
	"listTreasureHunts": {}, "listOfferActivities": {}, "listProfiling": {}, "listPrizeWheels": {}, "listCustomerLevels": {},
	"listCustomerCoupons": {extra: []string{"status=claimed&type=gift_card", "reward=coffee"}},
	"listClaimedRewards":  {extra: []string{"state=claimed&sort=claimed_at&order=desc", "points.gte=50"}},
	"listCustomerEvents":  {extra: []string{"action=suspend", "date.gte=2020-01-01", "sort=date&order=desc&action=point_add"}},
	"listEvents":          {extra: []string{"action=suspend", "action=none", "date.lt=2020-01-01", "sort=date&order=desc&action=point_add", "action.nin=visit"}},
	"listTransactions":    {extra: []string{"id=T-1100", "status=pending"}}, "searchTransactions": {extra: []string{"id=T-1100"}},
	"listTransactionEvents": {path: "/customers/member-1001/transactions/T-120/events"},
	"listEntities":          {skip: "customer", extra: []string{"/entities/core/customer?", "/entities/core/customer?search=h7", "/entities/core/customer?status=suspended", "/entities/core/customer?created_at.gte=2020-01-01", "/entities/core/transaction?customer=member-1001"}},
	"listRisingCustomers":   {skip: "offset"}, "listFallingCustomers": {skip: "offset"},
	"getLeaderboard":   {extra: []string{"limit=100&offset=500"}},
	"readCustomers":    {extra: []string{"filter[status][eq]=suspended&sort[0][field]=created_at&sort[0][direction]=desc", "filter[created_at][gte]=2020-01-01"}},
	"readCoupons":      {extra: []string{"filter[status][eq]=redeemed", "filter[claimed_at][gte]=2020-01-01&sort[0][field]=status"}},
	"readEvents":       {extra: []string{"filter[points][gte]=3&sort[0][field]=points", "filter[action][eq]=suspend", "filter[date][lt]=2020-01-01&sort[0][field]=date"}},
	"readTransactions": {extra: []string{"filter[status][eq]=pending&sort[0][field]=earned", "filter[checkout_date][gte]=2020-01-01"}},
}

// exempt says that a query may look through a table: the programme's own attributes
// lie in a document, and titles are sorted in the reader's language. A report adds
// up what it counts, and an export passes over its table in stretches.
func exempt(operation, query string) bool {
	return strings.Contains(query, "cf_") || strings.Contains(query, "sort=title") || operation == "getCouponUsage" || operation == "exportTable" || unindexed(operation, query)
}

// negated are the filters by a column with few values whose negation no index of the
// column can give. The list is read in its own order, which is soon a page where most
// rows fit, as a negation is meant to be used.
var negated = map[string][]string{
	"listAudit":      {"action.ne", "action.nin"},
	"listCoupons":    {"type.ne", "type.nin", "status.ne", "status.nin"}, // which has the expired: how many they are a plan for any instant does not know
	"listCustomers":  {"language.ne", "language.nin", "currency.ne", "currency.nin"},
	"listDeliveries": {"state.ne", "state.nin", "customer.ne", "customer.nin"},
}

// withoutIndex are the filters that stay without an index: one on figures would change
// with every event, and end that the row which every event updates is updated in place
// (HOT). The list is read in its own order, or the figures are looked through.
var withoutIndex = map[string][]string{
	// each delivery would pay for it; what is looked for is what is dead or waits
	"listDeliveries": {"type", "type.eq", "type.in", "type.ne", "type.nin"},
	"listCustomers":  {"score", "score.eq", "score.in", "score.gt", "score.gte", "spendable", "spendable.eq", "spendable.in"},
}

func unindexed(operation, query string) bool {
	values, err := url.ParseQuery(query)
	return err == nil && slices.ContainsFunc(slices.Concat(negated[operation], withoutIndex[operation]), values.Has)
}

// TestNoListScans asks over HTTP for every list of every document, with every
// filter and order that it has, and looks at the plan of each statement that
// PostgreSQL ran for it: none may look through a whole table that grows, nor read an index
// from one end to the other.
func TestNoListScans(t *testing.T) {
	storetest.PlainOnly(t)
	database, plans := storetest.Postgres(t), &planTap{}
	h := openReads(t, database, plans)
	raw := storetest.Raw(t, database)
	var member string
	require.NoError(t, raw.QueryRow(`SELECT owner FROM names WHERE value = 'member-1001'`).Scan(&member))
	_, err := raw.Exec(fmt.Sprintf(fillEverything, member, loyalty.NameCoupon, loyalty.BulkListAdd, loyalty.BulkRewardClaim))
	require.NoError(t, err)
	_, err = raw.Exec("VACUUM ANALYZE")
	require.NoError(t, err)
	asked := map[string]bool{}
	for _, api := range openapi.Names() {
		doc, err := openapi.Load(api)
		require.NoError(t, err)
		for path, item := range doc.Paths.Map() {
			if op := item.Get; op != nil && parameter(item, op, "limit") != nil {
				asked[op.OperationID] = true
				t.Run(op.OperationID, func(t *testing.T) { h.ask(t, path, item, op) })
			}
		}
	}

	require.ElementsMatch(t, slices.Collect(maps.Keys(lists)), slices.Collect(maps.Keys(asked)), "every list has a row, and every row a list")
	require.Greater(t, plans.seen, 2000, "the plans did not come through")
}

// ask sends every query of a list.
func (h *reads) ask(t *testing.T, path string, item *openapi3.PathItem, op *openapi3.Operation) {
	row, known := lists[op.OperationID]
	require.True(t, known, "%s is a list without a row in lists", op.OperationID)
	for _, ref := range append(slices.Clone(item.Parameters), op.Parameters...) {
		path = strings.ReplaceAll(path, "{"+ref.Value.Name+"}", fmt.Sprint(exampleValue(ref.Value)))
	}

	if row.path != "" {
		path = row.path
	}

	first := h.get(t, path+"?limit=5")
	targets := slices.Clone(row.extra)
	for _, query := range queriesOf(item, op) {
		if name, _, _ := strings.Cut(query, "="); name != row.skip || name == "" {
			targets = append(targets, query)
		}
	}

	for _, link := range regexp.MustCompile(`"next":"[^?"]+\?([^"]+)"`).FindAllStringSubmatch(first, 1) {
		targets = append(targets, strings.ReplaceAll(link[1], `\u0026`, "&"))
	}

	for _, target := range targets {
		if !strings.HasPrefix(target, "/") {
			target = path + "?" + target
		}
		if _, query, _ := strings.Cut(target, "?"); exempt(op.OperationID, query) {
			continue
		}

		for range 6 { // from the sixth time on PostgreSQL may use one plan for all values
			h.get(t, target)
		}

		h.plans.take()
		h.get(t, target)
		for _, plan := range h.plans.take() {
			rows, scans := readPlan(t, "["+plan+"]")
			scans = slices.DeleteFunc(scans, func(table string) bool { return slices.Contains(small, table) })
			if rows > grown/2 { // from one end of an index to the other
				scans = append(scans, "an index")
			}
			if len(scans) > 0 {
				t.Errorf("%s scans %v: %s", target, scans, plan)
			}
		}
	}
}

func parameter(item *openapi3.PathItem, op *openapi3.Operation, name string) *openapi3.Parameter {
	for _, ref := range append(slices.Clone(item.Parameters), op.Parameters...) {
		if ref.Value.Name == name {
			return ref.Value
		}
	}
	return nil
}

// queriesOf are a list without parameters, its filters, each with its example, and
// its orders in both directions.
func queriesOf(item *openapi3.PathItem, op *openapi3.Operation) []string {
	all := []string{"", "offset=300"}
	for _, ref := range append(slices.Clone(item.Parameters), op.Parameters...) {
		p := ref.Value
		if p.In != openapi3.ParameterInQuery || slices.Contains([]string{"limit", "offset", "cursor", "fields", "order"}, p.Name) {
			continue
		}

		for _, value := range p.Schema.Value.Enum {
			for _, order := range []string{"asc", "desc"} {
				query := fmt.Sprintf("%s=%v", p.Name, value)
				if p.Name == "sort" {
					query += "&order=" + order
				}
				all = append(all, query)
			}
		}

		if len(p.Schema.Value.Enum) == 0 {
			all = append(all, strings.Join(pairs(p.Name, exampleValue(p)), "&"))
		}
	}

	return all
}

func exampleValue(p *openapi3.Parameter) any {
	for _, name := range slices.Sorted(maps.Keys(p.Examples)) {
		return p.Examples[name].Value.Value
	}
	return p.Example
}

// pairs writes a value as a query: lists repeated, or in brackets with commas, and
// objects in brackets.
func pairs(name string, value any) (all []string) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			all = append(all, pairs(name, one)...)
		}
		if strings.Contains(name, "[") {
			all = []string{strings.ReplaceAll(strings.Join(all, ","), ","+name+"=", ",")}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, pairs(name+"["+key+"]", v[key])...)
		}
	default:
		all = []string{name + "=" + url.QueryEscape(fmt.Sprint(v))}
	}

	return all
}

// reads is a whole server on PostgreSQL whose plans are seen.
type reads struct {
	*servertest.House
	plans *planTap
}

// openReads starts a server over a programme of the documents' examples.
func openReads(t *testing.T, database string, plans *planTap) *reads {
	t.Helper()
	raw := storetest.Raw(t, database)
	name := strings.TrimPrefix(must(url.Parse(database)).Path, "/")
	for _, setting := range []string{"session_preload_libraries = 'auto_explain'", "auto_explain.log_min_duration = 0", "auto_explain.log_analyze = on",
		"auto_explain.log_timing = off", "auto_explain.log_format = 'json'", "auto_explain.log_level = 'notice'", "client_min_messages = 'notice'"} {
		_, err := raw.Exec("ALTER DATABASE " + name + " SET " + setting)
		require.NoError(t, err, "auto_explain is one of PostgreSQL's own extensions: %s", setting)
	}
	h := &reads{servertest.Open(t, servertest.Options{Store: storetest.Open(t, plans.before(t, database))}), plans}
	h.furnish(t)
	return h
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// furnish makes the programme: every module, every entity as the document's example
// has it, and the member of the examples.
func (h *reads) furnish(t *testing.T) {
	for _, module := range []string{"contests", "prize_wheels", "quizzes", "profiling", "custom_events", "custom_entities"} {
		h.post(t, "/admin/modules/"+module, `{"enabled":true}`)
	}

	doc, err := openapi.Load("entities")
	require.NoError(t, err)
	examples := doc.Paths.Value("/entities/{module}/{entity}").Post.RequestBody.Value.Content.Get("application/json").Examples
	missing := map[string]string{}
	for kind, name := range doc.Extensions["x-entities"].(map[string]any) {
		if !strings.Contains(kind, "{") {
			missing[kind] = string(must(json.Marshal(examples[name.(string)].Value.Value)))
		}
	}

	for before := -1; before != len(missing); { // what they refer to comes first
		before = len(missing)
		for kind, body := range missing {
			if status, _ := h.send(t, http.MethodPost, "/entities/"+kind, body); status == http.StatusCreated {
				delete(missing, kind)
			}
		}
	}

	require.Empty(t, missing)
	h.post(t, "/events", `{"customer":"member-1001","action":"opt_in","data":{"email":"member-1001@shop.test"}}`)
	h.get(t, "/customers/leaderboard") // the board is there before there is much to count
}

func (h *reads) post(t *testing.T, target, body string) {
	t.Helper()
	status, answer := h.send(t, http.MethodPost, target, body)
	require.Equal(t, http.StatusOK, status, "%s: %s", target, answer)
}

func (h *reads) get(t *testing.T, target string) string {
	t.Helper()
	status, answer := h.send(t, http.MethodGet, target, "")
	require.Equal(t, http.StatusOK, status, "%s: %s", target, answer)
	return answer
}

func (h *reads) send(t *testing.T, method, target, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, h.URL+target, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&signing.Transport{Scheme: signing.Default(servertest.Region), Credential: h.Key}).RoundTrip(r)
	require.NoError(t, err)
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(answer)
}

// planTap stands between a store and PostgreSQL and keeps the plans that the
// extension auto_explain sends as notices with the answers of statements.
type planTap struct {
	mu    sync.Mutex
	plans []string
	seen  int
}

// before begins to listen in front of a database and gives its address there.
func (p *planTap) before(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	there := u.Host
	u.Host = listener.Addr().String()
	query := u.Query()
	query.Set("sslmode", "disable") // what is listened to is read
	u.RawQuery = query.Encode()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			if there, err := net.Dial("tcp", there); err == nil {
				go func() { _, _ = io.Copy(there, client); _ = there.Close() }()
				go func() { p.pass(client, there); _ = client.Close() }()
			}
		}
	}()

	return u.String()
}

// pass hands on what the server says, message by message, until it is silent.
func (p *planTap) pass(client io.Writer, there io.Reader) {
	head := make([]byte, 5) // the type, and the length without it
	for {
		if _, err := io.ReadFull(there, head); err != nil {
			return
		}

		body := make([]byte, max(binary.BigEndian.Uint32(head[1:]), 4)-4)
		if _, err := io.ReadFull(there, body); err != nil {
			return
		}

		if head[0] == 'N' { // fields, each with a letter before and a zero behind
			for field := range strings.SplitSeq(string(body), "\x00") {
				if _, plan, ok := strings.Cut(field, "plan:\n"); ok && field[0] == 'M' {
					p.mu.Lock()
					p.plans, p.seen = append(p.plans, plan), p.seen+1
					p.mu.Unlock()
				}
			}
			continue
		}

		if _, err := client.Write(append(head[:5:5], body...)); err != nil {
			return
		}
	}
}

// take gives the plans that came since it was asked last.
func (p *planTap) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.plans
	p.plans = nil
	return taken
}
