package server_test

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inhabit makes what the examples of the documents name.
func (w *witness) inhabit() {
	w.furnish()
	for _, id := range []string{"member-1002", "member-1003", "member-1004"} {
		w.enrol(id)
	}
	done(w.house, "/events", `{"customer":"member-1001","action":"profile","data":{"external_ids":{"crm":"000417"}}}`)
	done(w.house, "/events", `{"customer":"member-1001","action":"point_add","data":{"points":100000}}`)
	done(w.house, "/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1001","total":120.50,"items":[{"product_id":"p-501","product_name":"Beans","product_url":"https://shop.test/p/501","quantity":2,"subtotal":120.50}]}}`)
}

// special are the requests of operations whose examples need names that only one
// request may use, or something that is there.
var special = map[string]func(w *witness, o *offered, example string) (target, body string){
	// Each entity is made under an id of its own; what it refers to is there.
	"createEntity": func(w *witness, o *offered, example string) (string, string) {
		kind := "stores/store"
		for k, name := range o.doc.Extensions["x-entities"].(map[string]any) {
			if name == example {
				kind = k
			}
		}
		w.made++
		return "/entities/" + kind, `{"id":"own-` + strconv.Itoa(w.made) + `","name":"Own"}`
	},
	"submitEvent": func(w *witness, o *offered, example string) (string, string) {
		return "/events", `{"customer":"member-1002","action":"point_add","data":{"points":1}}`
	},
	"getKey": ownKey, "updateKey": ownKey, "rotateKey": ownKey, "revokeKey": ownKey,
}

// ownKey is a request about an access key that is there.
func ownKey(w *witness, o *offered, example string) (string, string) {
	_, body := w.plainly(o, example)
	key := done(w.house, "/admin/keys", `{"label":"Own"}`)["data"].(map[string]any)["key_id"].(string)
	return strings.ReplaceAll(o.path, "{key_id}", key), body
}

// sentElsewhere names the tests that send every example of an operation's bodies.
var sentElsewhere = map[string]string{
	"submitEvent":  "TestEveryExampleWorks",
	"createEntity": "TestEveryEntityExampleWorks",
}

// otherwiseReached are the documented answers that another test reaches, which is
// the only one that can.
var otherwiseReached = map[string][]int{}

// refusals reaches what only the right moment brings: conflicts and refusals of
// the programme's rules, one for each operation that documents them.
func (w *witness) refusals() {
	byID := map[string]*offered{}
	for i := range w.all {
		byID[w.all[i].OperationID] = &w.all[i]
	}
	for _, r := range refusalRows {
		for _, before := range r.before {
			target, body, _ := strings.Cut(before, " ")
			done(w.house, target, body)
		}
		o := byID[r.operation]
		require.NotNil(w.t, o, r.operation)
		a := w.call(o, w.key, r.target, r.body)
		assert.Equal(w.t, r.status, a.status, "%s: %s", r.operation, a.body)
		assert.Equal(w.t, r.code, a.fault(w.t).Code, "%s: %s", r.operation, a.body)
	}
}

// refusalRow is a request that is refused after others that work.
type refusalRow struct {
	operation, target, body string
	status, code            int
	before                  []string // "target body"
}

var refusalRows = []refusalRow{
	{"submitEvent", "/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1001","total":1}}`, http.StatusConflict, 5003, nil},
}
