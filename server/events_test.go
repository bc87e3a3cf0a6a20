package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

const line = `{"product_id":"p-501","product_name":"Beans","product_url":"https://shop.test/p/501","quantity":2,"subtotal":60.00}`

func checkout(transaction string) string {
	return `{"customer":"ada","action":"checkout","data":{"transaction_id":"` + transaction + `","total":60,"items":[` + line + `]}}`
}

func TestSubmitEvent(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	a := h.does("/events", checkout("T-1"))
	answer := a.json(t)
	customer := answer["customer"].(map[string]any)
	require.Equal(t, "ada", customer["id"])
	require.Equal(t, json.Number("60"), customer["score"])
	events := answer["events"].([]any)
	require.Len(t, events, 2)
	parent, item := events[0].(map[string]any), events[1].(map[string]any)
	require.Equal(t, "checkout", parent["action"])
	require.NotContains(t, parent, "parent")
	require.Equal(t, parent["id"], item["parent"])
	require.Equal(t, json.Number("60"), item["points"])

	require.Empty(t, a.header.Get("Idempotency-Replayed"))
}

// TestFormAndJSONAreOne: the same event as a form does the same.
//
// spec: service.form, service.json-body
func TestFormAndJSONAreOne(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	a := h.form("/events", "customer=ada&action=checkout&data[transaction_id]=T-1&data[total]=60&data[items][0][product_id]=p-501"+
		"&data[items][0][product_name]=Beans&data[items][0][product_url]=https%3A%2F%2Fshop.test%2Fp%2F501"+
		"&data[items][0][quantity]=2&data[items][0][subtotal]=60.00")
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, json.Number("60"), a.json(t)["customer"].(map[string]any)["score"])
	a = h.form("/events", "customer=ada&action=checkout&data[transaction_id]=T-2&data[total]=60,00")
	require.Equal(t, http.StatusBadRequest, a.status)
	require.Equal(t, []string{"data.total"}, a.fault(t).fields())
}

func TestRefusedEvents(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	require.Equal(t, http.StatusOK, h.post("/events", checkout("T-1")).status)

	for name, c := range map[string]struct {
		body    string
		status  int
		kind    string
		code    int
		message string
		field   string
	}{
		"empty property":     {`{"customer":"ada","action":"checkout","data":{"total":1}}`, 400, "BadRequestException", 0, "Property transaction_id cannot be empty", "data.transaction_id"},
		"not JSON":           {`{"customer":`, 400, "BadRequestException", 190068, "", "customer"},
		"a character NUL":    {`{"customer":"ada","action":"opt_in","data":{"last_name":"a\u0000"}}`, 400, "BadRequestException", 190068, "The request body cannot be read: it contains the character U+0000", "data.last_name"},
		"unknown action":     {`{"customer":"ada","action":"dance","data":{}}`, 400, "BadRequestException", 190012, "Unknown action: dance", "action"},
		"internal action":    {`{"customer":"ada","action":"checkout_item","data":{}}`, 422, "RuleException", 190044, "", "action"},
		"unknown customer":   {strings.Replace(checkout("T-2"), "ada", "bela", 1), 404, "NotFoundException", 160212, "", "customer"},
		"unknown purchase":   {`{"customer":"ada","action":"refund","data":{"transaction_id":"T-9"}}`, 404, "NotFoundException", 911001, "Transaction not found", "data.transaction_id"},
		"duplicate":          {checkout("T-1"), 409, "ConflictException", 5003, "ERR_TX_ALREADY_EXISTS", "data.transaction_id"},
		"too many points":    {strings.Replace(checkout("T-2"), `"total":60`, `"total":60,"points_burned":1000`, 1), 422, "RuleException", 0, "Customer doesn't have enough points for discount", "data.points_burned"},
		"module off":         {`{"customer":"ada","action":"checkout_accept","data":{"transaction_id":"T-1"}}`, 422, "RuleException", 190043, "", "action"},
		"attribute off":      {strings.Replace(checkout("T-2"), `"total":60`, `"total":60,"total_quantity":2`, 1), 422, "RuleException", 190042, "", "data.total_quantity"},
		"customer of blanks": {`{"customer":"  ","action":"visit","data":{"url":"https://a.b"}}`, 400, "BadRequestException", 0, "Property customer cannot be empty", "customer"},
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			a := h.post("/events", c.body)
			require.Equal(t, c.status, a.status, a.body)
			f := a.fault(t)
			require.Equal(t, c.kind, f.Type)
			require.Equal(t, c.code, f.Code)
			if c.message != "" {
				require.Equal(t, c.message, f.Message)
			}
			if c.field != "" {
				require.Equal(t, []string{c.field}, f.fields())
			}
		})
	}
}

// TestValuesStayOutOfMessages: what a caller sent is not repeated in what a
// validator says about it.
func TestValuesStayOutOfMessages(t *testing.T) {
	h := open(t)
	a := h.post("/events", `{"customer":"a","action":"profile","data":{"email":"TOPSECRET","birth_date":"TOPSECRET","labels":"TOPSECRET","opt_in":"TOPSECRET","image_url":"TOPSECRET"}}`)
	require.Equal(t, http.StatusBadRequest, a.status)
	require.Len(t, a.fault(t).Details, 5)
	require.NotContains(t, a.body, "TOPSECRET")
	require.NotContains(t, a.body, "json")
}

// spec: service.suppress-pii
func TestSuppressedAnswers(t *testing.T) {
	h := open(t)
	h.enrol("ada.kovacs")
	require.Equal(t, http.StatusOK, h.post("/admin/modules/events_api", `{"enabled":true,"config":{"suppress_pii":true}}`).status)
	for _, target := range []string{"/events", "/events/preview"} {
		a := h.post(target, `{"customer":"ada.kovacs","action":"visit","data":{"url":"https://shop.test/"}}`)
		require.Equal(t, http.StatusOK, a.status)
		require.NotContains(t, a.body, "kovacs")
		require.NotContains(t, a.json(t), "customer")
		require.NotEmpty(t, a.json(t)["events"])
	}
}

func TestIdempotentEvents(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	const key = "Idempotency-Key"
	first := h.does("/events", checkout("T-1"), key, "k1")
	require.Empty(t, first.header.Get("Idempotency-Replayed"))
	again := h.post("/events", checkout("T-1"), key, "k1")
	require.Equal(t, first.status, again.status)
	require.Equal(t, first.body, again.body, "to the byte")
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	other := h.post("/events", checkout("T-2"), key, "k1")
	require.Equal(t, http.StatusConflict, other.status)
	require.Equal(t, loyalty.ErrKeyReused.Code, other.fault(t).Code)
	another := h.newKey(admin.KeyChange{})
	a := h.signed(another, h.request(http.MethodPost, "/events", checkout("T-1"), key, "k1", "Content-Type", jsonType))
	require.Equal(t, 5003, a.fault(t).Code, "keys are private to the access key")

	refused := h.post("/events", checkout("T-1"), key, "k2")
	require.Equal(t, http.StatusConflict, refused.status)
	again = h.post("/events", checkout("T-1"), key, "k2")
	require.Equal(t, refused.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))

	require.Equal(t, http.StatusBadRequest, h.post("/events", `{"customer":"ada"}`, key, "k3").status)
	require.Equal(t, http.StatusOK, h.post("/events", checkout("T-3"), key, "k3").status, "a 400 is not kept")
}

func TestIdempotencyKeys(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	for _, key := range []string{"", strings.Repeat("x", 256), strings.Repeat("é", 256), "\xff"} {
		a := h.post("/events", visit, "Idempotency-Key", key)
		require.Equal(t, http.StatusBadRequest, a.status, key)
		require.Equal(t, 190072, a.fault(t).Code)
	}
	a := h.post("/events", visit, "Idempotency-Key", "a", "Idempotency-Key", "b")
	require.Equal(t, 190072, a.fault(t).Code)
	require.Equal(t, http.StatusOK, h.post("/events", visit, "Idempotency-Key", strings.Repeat("é", 255)).status)
}

func TestBulk(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	body := `{"events":[` + strings.Join([]string{
		visit,
		`{"customer":"nobody","action":"visit","data":{"url":"https://shop.test/"}}`,
		`{"customer":"ada","action":"visit","data":{"url":"nonsense"}}`,
		`{"action":"visit"}`, `{}`,
		`{"customer":"ada","action":"dance","data":{}}`,
		`{"customer":"ada","action":"point_burn","data":{"points":1}}`,
		`{"customer":"ada","action":"visit","data":{"url":"https://a.b","colour":"red"}}`,
		checkout("T-1"), checkout("T-1"),
		`{"customer":"ada","action":"profile","data":{"external_ids":{"crm":null},"labels":["vip"],"points":null}}`,
	}, ",") + `]}`

	a := h.does("/events/bulk", body)
	answer := a.json(t)
	require.Equal(t, json.Number("11"), answer["total"])
	require.Equal(t, json.Number("8"), answer["errors"])
	want := []string{"ok", "160212 events[1].customer", "190010 events[2].data.url", "0 events[3].customer events[3].data",
		"0 events[4].customer events[4].action events[4].data", "190012 events[5].action", "190044 events[6].action", "190011 events[7].data.colour", "ok",
		"5003 events[9].data.transaction_id", "ok"}
	require.Equal(t, want, fates(t, answer))
}

// fates words each result of a bulk.
func fates(t *testing.T, answer map[string]any) []string {
	t.Helper()
	var got []string
	for _, r := range answer["results"].([]any) {
		result := r.(map[string]any)
		e, failed := result["error"].(map[string]any)
		if !failed {
			require.NotEmpty(t, result["events"])
			got = append(got, "ok")
			continue
		}

		require.NotContains(t, result, "events")
		text := fmt.Sprint(e["code"])
		details, _ := e["details"].([]any)
		for _, d := range details {
			if field := fmt.Sprint(d.(map[string]any)["field"]); strings.HasPrefix(field, "events[") {
				text += " " + field
			}
		}

		got = append(got, text)
	}

	return got
}

func TestBulkAsForm(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	a := h.form("/events/bulk", "events[0][customer]=ada&events[0][action]=point_add&events[0][data][points]=50"+
		"&events[1][customer]=ada&events[1][action]=point_add&events[1][data][points]=05"+
		"&events[7][customer]=ada&events[7][action]=profile&events[7][data][opt_in]=1&events[7][data][labels][]=7")
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, []string{"ok", "190010 events[1].data.points", "ok"}, fates(t, a.json(t)))
	require.Contains(t, h.get("/customers/ada").body, `"labels":["7"]`)
}

func TestBulkRefusedAsAWhole(t *testing.T) {
	h := open(t)
	for body, field := range map[string]string{
		`{}`: "events", `{"events":null}`: "events", `{"events":[]}`: "events", `{"events":{}}`: "events",
		`{"events":[{}],"more":1}`: "more", `{"events":[{},7]}`: "events[1]", `{"events":[null]}`: "events[0]", `[]`: "",
	} {
		a := h.post("/events/bulk", body)
		require.Equal(t, http.StatusBadRequest, a.status, body)
		require.Equal(t, []string{field}, a.fault(t).fields(), body)
	}
}

// TestIdempotentBulk: each event is remembered by its place, so that a call
// which is repeated does only what was not done.
func TestIdempotentBulk(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	body := `{"events":[` + checkout("T-1") + `,` + visit + `,` + checkout("T-1") + `]}`
	first := h.post("/events/bulk", body, "Idempotency-Key", "b1")
	require.Equal(t, []string{"ok", "ok", "5003 events[2].data.transaction_id"}, fates(t, first.json(t)))
	again := h.post("/events/bulk", body, "Idempotency-Key", "b1")
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	other := h.post("/events/bulk", strings.Replace(body, "T-1", "T-2", 1), "Idempotency-Key", "b1")
	require.Equal(t, []string{fmt.Sprint(loyalty.ErrKeyReused.Code), "ok", "5003 events[2].data.transaction_id"}, fates(t, other.json(t)))
	path := h.post("/events", checkout("T-9"), "Idempotency-Key", "b1")
	require.Equal(t, http.StatusConflict, path.status, path.body)
	require.Equal(t, loyalty.ErrKeyReused.Code, path.fault(t).Code)
	st, err := h.store.Customer(context.Background(), "ada")
	require.NoError(t, err)

	require.EqualValues(t, 60, st.Figures.Score)
}

func TestPreview(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	a := h.does("/events/preview", checkout("T-1"))
	answer := a.json(t)
	require.Len(t, answer["events"], 2)
	require.NotEmpty(t, answer["rules"])
	require.NotEmpty(t, answer["lots"])
	require.Equal(t, json.Number("60"), answer["customer"].(map[string]any)["score"])
	for _, r := range answer["rules"].([]any) {
		require.NotContains(t, r.(map[string]any)["reason"], "reason.", "a rule's reason has no text")
	}

	customer, err := h.store.Customer(context.Background(), "ada")
	require.NoError(t, err)
	require.Zero(t, customer.Figures.Score, "nothing is recorded")

	refused := h.post("/events/preview", `{"customer":"ada","action":"point_spend","data":{"points":5}}`)
	require.Equal(t, http.StatusOK, refused.status)
	require.Equal(t, "RuleException", refused.json(t)["error"].(map[string]any)["type"])
	unknown := h.post("/events/preview", `{"customer":"nobody","action":"point_spend","data":{"points":5}}`)
	require.Equal(t, http.StatusOK, unknown.status)
	require.Equal(t, json.Number("160212"), unknown.json(t)["error"].(map[string]any)["code"])
	require.Equal(t, http.StatusBadRequest, h.post("/events/preview", `{"customer":"ada","action":"dance","data":{}}`).status)
	require.Equal(t, http.StatusBadRequest, h.post("/events/preview", `{}`).status)
}
