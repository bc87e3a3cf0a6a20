package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
	"github.com/loyalty-platform/loyalty/signing"
)

// provedElsewhere are the codes that a document names and that need a house of
// their own, and the tests of this package in which they come (TestMain).
var provedElsewhere = map[int]string{
	101022: "TestSignatureRefusals", 101023: "TestSignatureRefusals", 190001: "TestPanicIsAPlain500", 190002: "TestFaultsOfOurs",
	190640: "TestRoleMatrix", 190641: "TestConfirmAgain", 190642: "TestCorrectionsNeedAReason", 190651: "TestPersonalDataIsMasked",
	190321: "TestKeyMustBeSigned", 190420: "TestUnaskedErrors",
}

// ownFailures are the i18n keys of the failures that no request brings about.
var ownFailures = map[int]string{190640: "role_needed", 190641: "confirmation_needed", 190642: "reason_needed", 190651: "personal_needed", 190001: "internal", 190002: "unavailable", 190420: "outcome_unknown"}

// ownValues are what the texts of those failures name, as the examples have it.
var ownValues = map[string]any{"role": "owner", "action": "point_add"}

// cameRefused is what of the documented refusals came.
type cameRefused struct {
	reached map[string]bool             // by response and example
	told    map[string]map[string]fault // the examples of a response
}

// TestDocumentedRefusals: what the documents say of a refusal is what comes. Each
// operation is asked until every error status that its document lists has come;
// each answer has the type of its status, a code that an example of the document
// has, and a field exactly where the example has one; and each example comes word
// by word. In another language, and as a form, everything but the words is the
// same. A refusal that a document names and that no request brings about fails.
// It is asked on the embedded database, because what it holds is said above the store; the test plan (F2) asks both, and
// TestEveryError has each error from both.
//
// spec: service.json, service.language, service.form
func TestDocumentedRefusals(t *testing.T) {
	onSQLiteFirst(t, func(t *testing.T, url string) {
		w := newWitness(openOn(t, url, patient), 1)
		w.inhabit()
		w.refused = &cameRefused{map[string]bool{}, map[string]map[string]fault{}}
		w.forbidden()
		w.documentedRows()
		w.each((*witness).unknownParameter)
		others := w.newKey(admin.KeyChange{APIs: &[]string{"events"}})
		levels := w.newKey(admin.KeyChange{APIs: &[]string{"levels"}})
		w.each(func(w *witness, o *offered) {
			key := others
			if o.api == "events" {
				key = levels
			}
			w.mechanical(o, key)
		})

		w.each((*witness).switchedOff)
		w.refusals()
		w.hasty()
		w.everyRefusal()
	})
}

// sameRefusal holds a refusal against the document, and repeats its request in
// another language and as a form.
func (w *witness) sameRefusal(o *offered, key signing.Credential, target, body string, headers []string, a answer) {
	w.t.Helper()
	said := a.fault(w.t)
	where := fmt.Sprintf("%s %s %.300s: %s", o.OperationID, target, body, a.body)
	assert.Equal(w.t, kinds[a.status], said.Type, where)
	w.asDocumented(o, a, where)
	if a.status != http.StatusConflict && slices.Contains(headers, "Idempotency-Key") {
		return // the answer is kept, and comes again as it was
	}

	again := w.raw(o, key, target, body, append(slices.Clone(headers), "Accept-language", "hu"))
	assert.Equal(w.t, "hu", again.header.Get("Content-Language"), where)
	assert.Equal(w.t, essence(w.t, a), essence(w.t, again), where)
	if said.Message != "ERR_TX_ALREADY_EXISTS" { // the specification's own word
		assert.NotEqual(w.t, said.Message, again.fault(w.t).Message, where)
	}

	if form, ok := w.asForm(o, body, headers); ok && a.status != http.StatusUnsupportedMediaType {
		headers = slices.Clone(headers)
		headers[slices.Index(headers, "Content-Type")+1] = formType
		again = w.raw(o, key, target, form, headers)
		assert.Equal(w.t, essence(w.t, a), essence(w.t, again), "as a form: %s\n%s", form, where)
		assert.Equal(w.t, said.Message, again.fault(w.t).Message, "as a form: %s", where)
	}
}

// essence is what of a refusal no language and no media type changes.
func essence(t *testing.T, a answer) []any {
	if a.status < http.StatusBadRequest {
		return []any{a.status, a.body}
	}
	f := a.fault(t)
	return []any{a.status, f.Type, f.Code, f.fields()}
}

// asForm writes a body as a form, where one can say it: forms know no null and
// nothing that is empty.
func (w *witness) asForm(o *offered, body string, headers []string) (string, bool) {
	at := slices.Index(headers, "Content-Type")
	var v map[string]any
	if o.body() == nil || at < 0 || headers[at+1] != jsonType || json.Unmarshal([]byte(body), &v) != nil || !sayable(v, true) {
		return "", false
	}
	return formOf(w.t, body), true
}

func sayable(v any, top bool) bool {
	switch v := v.(type) {
	case nil:
		return false
	case map[string]any:
		for _, inner := range v {
			if !sayable(inner, false) {
				return false
			}
		}
		return top || len(v) > 0
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(inner any) bool { return !sayable(inner, false) })
	}

	return true
}

// examples are those of a response.
func (c *cameRefused) examples(t *testing.T, r *openapi3.ResponseRef) map[string]fault {
	name := responseName(r)
	if known, ok := c.told[name]; ok {
		return known
	}
	all := map[string]fault{}
	c.told[name] = all
	for name, ref := range r.Value.Content.Get(jsonType).Examples {
		text, err := json.Marshal(ref.Value.Value)
		require.NoError(t, err)
		all[name] = answer{body: string(text)}.fault(t)
	}
	return all
}

// asDocumented looks for an example with the refusal's code, which names a field
// where the refusal does, and notes the one that is the refusal word by word.
func (w *witness) asDocumented(o *offered, a answer, where string) {
	w.t.Helper()
	said := a.fault(w.t)
	ref := o.Responses.Value(strconv.Itoa(a.status))
	if !assert.NotNil(w.t, ref, where) {
		return
	}

	known := false
	for name, example := range w.refused.examples(w.t, ref) {
		known = known || example.Code == said.Code && (len(example.Details) > 0) == (len(said.Details) > 0)
		if assert.ObjectsAreEqual(example, said) {
			w.refused.reached[responseName(ref)+" "+name] = true
		}
	}

	assert.True(w.t, known, "the response %s has no such example (field: %v)\n%s", responseName(ref), len(said.Details) > 0, where)
}

func responseName(ref *openapi3.ResponseRef) string {
	return ref.Ref[strings.LastIndex(ref.Ref, "/")+1:]
}

// forbidden asks for every operation with keys that may not.
func (w *witness) forbidden() {
	yes := true
	reader := w.newKey(admin.KeyChange{ReadOnly: &yes})
	away := w.newKey(admin.KeyChange{Addresses: &[]string{"192.0.2.0/24"}})
	narrow := w.newKey(admin.KeyChange{APIs: &[]string{"administration"}})
	w.each(func(w *witness, o *offered) {
		target, body := o.target(w.t), ""
		if o.method == http.MethodPost {
			body = "{}"
		}
		w.call(o, signing.Credential{KeyID: w.key.KeyID, Secret: "another"}, target, body)
		w.call(o, away, target, body)
		if !o.reads() {
			w.call(o, reader, target, body)
		}
	})

	w.call(w.operation("createKey"), narrow, "/admin/keys", "{}")
}

// unknownParameter asks with a query parameter that no operation has.
func (w *witness) unknownParameter(o *offered) {
	target, body := w.asked(o, "")
	a := w.call(o, w.key, target+"?no_such_parameter=1", body)
	assert.Equal(w.t, []any{http.StatusBadRequest, "BadRequestException", 190069, []string{"no_such_parameter"}}, essence(w.t, a), o.OperationID)
}

// hasty asks for every operation with a key that has used up its minute.
func (w *witness) hasty() {
	now := &stopped{now: time.Now()}
	slow := *w
	slow.house = openOn(w.t, w.databaseURL, func(o *server.Options) { o.Limiter, o.Clock = ratelimit.NewMemory(now.clock), now.clock })
	once := 1
	key := slow.newKey(admin.KeyChange{RateLimit: &once})
	require.Equal(w.t, http.StatusOK, slow.signed(key, slow.request(http.MethodGet, "/customers", "")).status)

	for i := range w.all {
		o := &w.all[i]
		body := ""
		if o.method == http.MethodPost {
			body = "{}"
		}
		a := slow.call(o, key, o.target(w.t), body)
		assert.Equal(w.t, http.StatusTooManyRequests, a.status, o.OperationID)
		assert.Equal(w.t, "60", a.header.Get("Retry-After"), o.OperationID)
	}
}

// documentedRows sends what brings about the examples of the documents.
func (w *witness) documentedRows() {
	for _, r := range exampleRefusals {
		for _, before := range r.before {
			target, body, _ := strings.Cut(before, " ")
			done(w.house, target, body)
		}
		a := w.call(w.operation(r.operation), w.key, r.target, r.body)
		assert.Equal(w.t, r.status, a.status, "%s: %s", r.operation, a.body)
		assert.Equal(w.t, r.code, a.fault(w.t).Code, "%s: %s", r.operation, a.body)
	}

	for _, o := range w.all {
		if o.Responses.Value("422") == nil || responseName(o.Responses.Value("422")) != "Unreadable" {
			continue
		}
		for _, query := range unreadable {
			a := w.call(&o, w.key, o.target(w.t)+"?"+query, "")
			assert.Equal(w.t, http.StatusUnprocessableEntity, a.status, "%s %s: %s", o.OperationID, query, a.body)
		}
	}
}

// unreadable are queries that the lists of the Loyalty Read API refuse.
var unreadable = []string{
	"filter%5Bdate%5D%5Bgte%5D=2026-02-30", "filter%5Bcolour%5D%5Beq%5D=red", "filter%5Bdate%5D%5Blike%5D=1", "filter%5Bdate%5D=2026-02-03",
	"sort%5B0%5D%5Bfield%5D=colour", "sort%5B0%5D%5Bfield%5D=date&sort%5B0%5D%5Bdirection%5D=up", "sort%5B0%5D%5Bdirection%5D=desc",
}

var exampleRefusals = []refusalRow{
	{"submitEvent", "/events", `{"customer":"member-1001","action":"checkout","data":{"total":1}}`, 400, 0, nil},
	{"submitEvent", "/events", `{"customer":"member-1001","action":"visit","data":{"url":"https://shop.test/","colour":"red"}}`, 400, 190011, nil},
	{"submitEvent", "/events", `{"customer":"member-1001","action":"visit","data":{"url":"nowhere"}}`, 400, 190010, nil},
	{"submitEvent", "/events", `{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-9999"}}`, 404, 911001, nil},
	{"submitEvent", "/events", `{"customer":"member-1001","action":"coupon_redeem","data":{"code":"NONE"}}`, 404, 1601, nil},
	{"submitEvent", "/events", `{"customer":"member-1001","action":"opt_in","data":{"email":"member-1001@shop.test"}}`, 409, 112101, nil},
	{"submitEvent", "/events", `{"customer":"member-1002","action":"checkout","data":{"transaction_id":"T-9","total":1,"points_burned":1}}`, 422, 0, nil},
	{"submitEvent", "/events", `{"customer":"member-1001","action":"partial_refund","data":{"transaction_id":"T-1001","amount":0}}`, 422, 112202, nil},
	{"submitEvent", "/events", `{"customer":"member-1001","action":"partial_refund","data":{"transaction_id":"T-1001","amount":1000}}`, 422, 112203, nil},
	{"submitEvent", "/events", `{"customer":"member-1003","action":"refund","data":{"transaction_id":"T-1003"}}`, 422, 112201, []string{
		happened("member-1003", "checkout", `{"transaction_id":"T-1003","total":1}`), happened("member-1003", "refund", `{"transaction_id":"T-1003"}`)}},
	{"claimReward", "/customers/member-1001/activities/rewards/none/claim", "", 404, 160320, nil},
	{"listCustomers", "/customers?limit=0", "", 400, 190070, nil},
}

// everyRefusal fails for each error status of an operation, and for each example
// and each code of a response, that did not come.
func (w *witness) everyRefusal() {
	catalogue, err := i18n.Load()
	require.NoError(w.t, err)
	var missing []string
	for i := range w.all {
		o := &w.all[i]
		for _, status := range o.documented() {
			if status < http.StatusBadRequest {
				continue
			}
			ref := o.Responses.Value(strconv.Itoa(status))
			if status < 500 && !w.truths[o.OperationID].statuses[status] && !slices.Contains(otherwiseReached[o.OperationID], status) {
				missing = append(missing, o.OperationID+": the answer "+strconv.Itoa(status))
			}
			missing = append(missing, w.unreached(ref, catalogue)...)
		}
	}

	slices.Sort(missing)
	assert.Empty(w.t, slices.Compact(missing), "what the documents say of refusals and what never came:\n%s", strings.Join(slices.Compact(missing), "\n"))
}

var namedCode = regexp.MustCompile(`\b\d{4,6}\b`)

// unreached lists the examples of a response that never came, and the codes of its
// description that have no example.
func (w *witness) unreached(ref *openapi3.ResponseRef, catalogue *i18n.Catalogue) (missing []string) {
	codes := map[int]bool{}
	for name, example := range w.refused.examples(w.t, ref) {
		codes[example.Code] = true
		if test, ok := provedElsewhere[example.Code]; ok {
			expected.Store(example.Code, test)
			require.Equal(w.t, catalogue.Message("en", ownFailures[example.Code], ownValues), example.Message, "%s %s", responseName(ref), name)
			continue
		}
		if !w.refused.reached[responseName(ref)+" "+name] {
			missing = append(missing, "the example "+name+" of "+responseName(ref))
		}
	}

	for _, text := range namedCode.FindAllString(*ref.Value.Description, -1) {
		code, err := strconv.Atoi(text)
		require.NoError(w.t, err)
		if _, ok := provedElsewhere[code]; !ok && !codes[code] {
			missing = append(missing, "an example of "+text+" in "+responseName(ref))
		}
	}

	return missing
}
