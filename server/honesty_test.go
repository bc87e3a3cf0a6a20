package server_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// honest is how many drawn requests every operation gets: a sample, or as many as
// LOYALTY_TORTURE says.
func honest() int {
	if n, err := strconv.Atoi(os.Getenv("LOYALTY_TORTURE")); err == nil && n > 0 {
		return n
	}
	return 6
}

// unlimited lets every request through.
type unlimited struct{}

func (unlimited) Allow(_ context.Context, _ string, perMinute, _ int) (ratelimit.Verdict, error) {
	return ratelimit.Verdict{Allowed: true, Limit: perMinute, Remaining: perMinute}, nil
}

// came is what of an operation came true: statuses that were answered, parameters
// and examples that were accepted.
type came struct {
	statuses             map[int]bool
	parameters, examples map[string]bool
}

// witness sends requests that are made from the documents, and keeps what of the
// documents came true. That each answer is one of the contract's is seen to by the
// house.
type witness struct {
	*house
	drawer
	all     []offered
	truths  map[string]*came
	made    int    // things of its own, so far
	webhook string // its id, once there is one
	below   *sql.DB

	heard   func(o *offered, target, body string, a answer) // hears each answer; nil: not called
	refused *cameRefused                                    // what of the documented refusals came; nil: only statuses are looked at
}

func newWitness(h *house, seed uint64) *witness {
	w := &witness{house: h, drawer: drawer{rand.New(rand.NewPCG(seed, 1))}, all: everyOperation(h.t), truths: map[string]*came{}} //nolint:gosec // repeatable, and no secret
	for _, o := range w.all {
		w.truths[o.OperationID] = &came{map[int]bool{}, map[string]bool{}, map[string]bool{}}
	}
	return w
}

// call sends a request for an operation and notes how it was answered. A fault of
// ours is never right.
func (w *witness) call(o *offered, key signing.Credential, target, body string, headers ...string) answer {
	w.t.Helper()
	if o.method == http.MethodPost && !slices.Contains(headers, "Content-Type") {
		headers = append(headers, "Content-Type", jsonType)
	}

	a := w.raw(o, key, target, body, headers)
	assert.Less(w.t, a.status, 500, "%s %s %.2000s: %s", o.method, target, body, a.body)
	w.truths[o.OperationID].statuses[a.status] = true
	if w.heard != nil {
		w.heard(o, target, body, a)
	}
	if w.refused != nil && a.status >= http.StatusBadRequest {
		w.sameRefusal(o, key, target, body, headers, a)
	}

	return a
}

// raw sends a request for an operation; without a key, unsigned.
func (w *witness) raw(o *offered, key signing.Credential, target, body string, headers []string) answer {
	w.t.Helper()
	r := w.request(o.method, target, body, headers...)
	if key == (signing.Credential{}) {
		return w.send(r)
	}
	return w.signed(key, r)
}

// declared are the query parameters of an operation.
func (o *offered) declared() (list []*openapi3.Parameter) {
	for _, ref := range append(slices.Clone(o.item.Parameters), o.Parameters...) {
		if ref.Value.In == openapi3.ParameterInQuery && ref.Value.Name != "cursor" {
			list = append(list, ref.Value)
		}
	}
	return list
}

// body is what an operation takes as JSON; nil: it takes none.
func (o *offered) body() *openapi3.MediaType {
	if o.RequestBody == nil {
		return nil
	}
	return o.RequestBody.Value.Content.Get(jsonType)
}

// exampleNames are those of the operation's bodies, in the document's own order as
// far as names can tell.
func (o *offered) exampleNames() []string {
	if o.body() == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(o.body().Examples))
}

// exampleOf is the value of a parameter that the document gives.
func exampleOf(p *openapi3.Parameter) any {
	if p.Example != nil {
		return p.Example
	}
	for _, name := range slices.Sorted(maps.Keys(p.Examples)) {
		return p.Examples[name].Value.Value
	}
	return p.Schema.Value.Example
}

// request is one for an operation as the document's examples make it; example ""
// takes the first of them.
func (w *witness) asked(o *offered, example string) (target, body string) {
	if special, ok := special[o.OperationID]; ok {
		return special(w, o, example)
	}
	return w.plainly(o, example)
}

func (w *witness) plainly(o *offered, example string) (target, body string) {
	if names := o.exampleNames(); example == "" && len(names) > 0 {
		example = names[0]
	}
	target = o.targetOf(w.t, example)
	if example != "" {
		body = string(o.example(w.t, example))
	}
	return target, body
}

func (o *offered) example(t testing.TB, name string) json.RawMessage {
	text, err := json.Marshal(o.body().Examples[name].Value.Value)
	require.NoError(t, err)
	return text
}

// examples sends every example of a body, which must work.
func (w *witness) examples(o *offered) {
	names := o.exampleNames()
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		target, body := w.asked(o, name)
		a := w.call(o, w.key, target, body)
		assert.Less(w.t, a.status, 300, "%s, example %s: %s %s: %s", o.OperationID, name, target, body, a.body)
		w.truths[o.OperationID].examples[name] = true
	}
}

// parameters sends every query parameter with its own example, which must be
// accepted, and with what its declaration forbids.
func (w *witness) parameters(o *offered) {
	for _, p := range o.declared() {
		example := exampleOf(p)
		require.NotNil(w.t, example, "%s: the parameter %s has no example", o.OperationID, p.Name)
		target, body := w.asked(o, "")
		if own, ok := ownPath[o.OperationID+" "+p.Name]; ok {
			target = own
		}

		a := w.call(o, w.key, target+"?"+queryOf(p, example), body)
		assert.Less(w.t, a.status, 300, "%s: the example of %s: %s", o.OperationID, p.Name, a.body)
		w.truths[o.OperationID].parameters[p.Name] = true
		for range 2 {
			a = w.call(o, w.key, target+"?"+queryOf(p, w.broken(p.Schema.Value)), body)
			if p.Extensions["x-filter"] == true && o.method == http.MethodGet {
				assert.Contains(w.t, []int{200, 400, 422}, a.status, "%s: %s", o.OperationID, a.body)
			}
		}
	}

	w.longFilter(o)
	target, body := w.asked(o, "")
	a := w.call(o, w.key, target+"?no_such_parameter=1", body)
	assert.Equal(w.t, http.StatusBadRequest, a.status, "%s: a parameter that is not there: %s", o.OperationID, a.body)
	if a.status == http.StatusBadRequest {
		assert.Equal(w.t, []string{"no_such_parameter"}, a.fault(w.t).fields(), o.OperationID)
	}
}

// longFilter sends one of the filters of a list with a text of the greatest length, which is
// taken, and with a longer one.
func (w *witness) longFilter(o *offered) {
	var filters []*openapi3.Parameter
	for _, p := range o.declared() {
		if p.Extensions["x-filter"] == true && p.Style != openapi3.SerializationDeepObject {
			filters = append(filters, p)
		}
	}

	if len(filters) == 0 {
		return
	}

	p := filters[w.IntN(len(filters))]
	text, field := p.Schema.Value, p.Name
	if text.Items != nil {
		text, field = text.Items.Value, field+"[0]"
	}

	longest := strings.Repeat("é", int(min(*text.MaxLength, 1300))) // a longer target is refused before
	target, body := w.asked(o, "")
	a := w.call(o, w.key, target+"?"+queryOf(p, longest), body)
	assert.Equal(w.t, http.StatusOK, a.status, "%s, %s: %s", o.OperationID, p.Name, a.body)
	if len(longest) < 2*int(*text.MaxLength) {
		return
	}

	a = w.call(o, w.key, target+"?"+queryOf(p, longest+"é"), body)
	assert.Equal(w.t, http.StatusBadRequest, a.status, "%s, %s: %s", o.OperationID, p.Name, a.body)
	if a.status == http.StatusBadRequest {
		assert.Equal(w.t, []string{field}, a.fault(w.t).fields(), o.OperationID)
	}
}

// draws sends so many drawn requests: parameters and bodies that the document
// allows, and with one thing broken.
func (w *witness) draws(o *offered, n int) {
	for range n {
		target, body := w.asked(o, "")
		if w.once(5) {
			target = inPath.ReplaceAllStringFunc(o.path, func(string) string { return w.pathText() })
		}

		var query []string
		for _, p := range o.declared() {
			switch w.IntN(8) {
			case 0:
				query = append(query, queryOf(p, w.broken(p.Schema.Value)))
			case 1, 2:
				query = append(query, queryOf(p, w.value(p.Schema.Value, 0)))
			}
		}

		if text := strings.Join(query, "&"); text != "" && len(text) < 8<<10 { // a longer one is refused before it is looked at
			target += "?" + text
		}
		if m := o.body(); m != nil {
			body = w.drawBody(m)
		}

		w.call(o, w.key, target, body)
	}
}

func (w *witness) pathText() string {
	texts := []string{"nobody", "member-1001", "crm:000417", "%20", "a%2Fb", "%F0%9F%99%82", "x'%20OR%201=1", "-1", "0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01", strings.Repeat("p", 600)}
	return texts[w.IntN(len(texts))]
}

// drawBody is one of the document's examples or a new one, as it is or damaged.
func (w *witness) drawBody(m *openapi3.MediaType) string {
	schema := m.Schema.Value
	v := w.value(schema, 0)
	if names := slices.Sorted(maps.Keys(m.Examples)); len(names) > 0 && w.once(2) {
		v = m.Examples[names[w.IntN(len(names))]].Value.Value
	}
	if w.once(2) {
		v = w.damage(flat(schema), v)
	}
	text, err := json.Marshal(v)
	require.NoError(w.t, err)
	return string(text)
}

// mechanical reaches the answers that every operation has: to who may not, to what
// is too large, of another type or no JSON, to what is not there, and to a key that
// comes back with another request.
func (w *witness) mechanical(o *offered, others signing.Credential) {
	target, body := w.asked(o, "")
	w.call(o, signing.Credential{}, target, body)
	w.call(o, others, target, body)
	if inPath.MatchString(o.path) {
		w.call(o, w.key, inPath.ReplaceAllString(o.path, "nobody-here"), body)
	}
	if o.method == http.MethodGet {
		return
	}

	w.call(o, w.key, target, `{"`)
	w.call(o, w.key, target, "<a/>", "Content-Type", "application/xml")
	w.call(o, w.key, target, "{}", "Content-Type", "application/json", "Content-Encoding", "gzip")
	size := 1<<20 + 1
	if n, ok := o.Extensions["x-body-limit"].(float64); ok {
		size = int(n) + 1
	}

	w.call(o, w.key, target, strings.Repeat(" ", size))
	if slices.ContainsFunc(o.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == "Idempotency-Key" }) {
		once := "honest-" + o.OperationID
		w.call(o, w.key, target, body, "Idempotency-Key", once)
		w.call(o, w.key, target, body+" ", "Idempotency-Key", once)
	}
}

// switchedOff asks for an operation while its module is off.
func (w *witness) switchedOff(o *offered) {
	module, ok := o.Extensions["x-module"].(string)
	if !ok {
		return
	}
	require.Equal(w.t, http.StatusOK, w.post("/admin/modules/"+module, `{"enabled":false}`).status)
	target, body := w.plainly(o, "")
	a := w.call(o, w.key, target, body)
	assert.Equal(w.t, http.StatusNotFound, a.status, "%s: %s", o.OperationID, a.body)
	assert.Equal(w.t, 160600, a.fault(w.t).Code, o.OperationID)
	require.Equal(w.t, http.StatusOK, w.post("/admin/modules/"+module, `{"enabled":true}`).status)
}

// documented are the statuses that an operation's document lists.
func (o *offered) documented() (list []int) {
	for code := range o.Responses.Map() {
		if n, err := strconv.Atoi(code); err == nil {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// TestContractHonesty sends every operation of every document valid, boundary and
// broken requests that are drawn from the documents. Each answer has to be one
// that its document describes, and none may be a fault of ours. In the end every
// operation, parameter, example and documented error must have come true.
//
// spec: service.json
func TestContractHonesty(t *testing.T) {
	test := func(t *testing.T, url string) {
		seed := uint64(1) // the quick suite says the same each time
		if os.Getenv("LOYALTY_TORTURE") != "" {
			seed = rand.Uint64() //nolint:gosec // any number
		}
		t.Logf("seed %d, %d drawn requests for each operation", seed, honest())
		testHonesty(t, url, seed)
	}
	onSQLiteFirst(t, test)
}

// onSQLiteFirst runs a test on the embedded database, and in the test plan on both.
func onSQLiteFirst(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	if os.Getenv("LOYALTY_TORTURE") == "" {
		test(t, storetest.SQLite(t))
		return
	}
	storetest.EachURL(t, test)
}

func testHonesty(t *testing.T, url string, seed uint64) {
	w := newWitness(openOn(t, url, patient), seed)
	w.inhabit()
	for i := range w.all {
		if told := sentElsewhere[w.all[i].OperationID]; told == "" {
			w.examples(&w.all[i])
		}
	}

	w.each((*witness).parameters)
	others := map[string]signing.Credential{}
	for _, o := range w.all {
		if _, ok := others[o.api]; !ok {
			apis := []string{"events"}
			if o.api == "events" {
				apis = []string{"levels"}
			}
			others[o.api] = w.newKey(admin.KeyChange{APIs: &apis})
		}
	}

	w.each(func(w *witness, o *offered) { w.mechanical(o, others[o.api]) })
	w.each((*witness).switchedOff)
	w.refusals()
	w.impatient(url)
	w.complete()
	t.Logf("figures: F2: %d operations, %d drawn requests for each", len(w.all), honest())
	// Last, because what is drawn leaves nothing as it was.
	w.each(func(w *witness, o *offered) {
		w.draws(o, honest())
		if o.api == "administration" {
			w.everyModule()
		}
	})
}

func (w *witness) each(do func(*witness, *offered)) {
	for i := range w.all {
		do(w, &w.all[i])
	}
}

// impatient asks for every operation with a key that may ask once a minute.
func (w *witness) impatient(url string) {
	h := openOn(w.t, url)
	slow := 1
	key := h.newKey(admin.KeyChange{RateLimit: &slow})
	h.signed(key, h.request(http.MethodGet, "/customers", ""))
	for i := range w.all {
		o := &w.all[i]
		a := h.signed(key, h.request(o.method, o.target(w.t), "{}", "Content-Type", jsonType))
		assert.Equal(w.t, http.StatusTooManyRequests, a.status, o.OperationID)
		w.truths[o.OperationID].statuses[a.status] = true
	}
}

// complete fails for everything that a document says and that did not come true.
func (w *witness) complete() {
	var missing []string
	for i := range w.all {
		o := &w.all[i]
		seen := w.truths[o.OperationID]
		for _, status := range o.documented() {
			if !seen.statuses[status] && status < 500 && !slices.Contains(otherwiseReached[o.OperationID], status) {
				missing = append(missing, o.OperationID+": the answer "+strconv.Itoa(status))
			}
		}

		for _, p := range o.declared() {
			if !seen.parameters[p.Name] {
				missing = append(missing, o.OperationID+": the parameter "+p.Name)
			}
		}

		for _, name := range o.exampleNames() {
			if !seen.examples[name] && sentElsewhere[o.OperationID] == "" {
				missing = append(missing, o.OperationID+": the example "+name)
			}
		}
	}

	require.Empty(w.t, missing, "what the documents say and what never came true:\n%s", strings.Join(missing, "\n"))
}
