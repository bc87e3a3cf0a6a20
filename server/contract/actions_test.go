package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// eachExample gives the example of every action that can be submitted, as the
// tree of its JSON.
func eachExample(t *testing.T, do func(t *testing.T, name string, tree func() map[string]any)) {
	doc, err := openapi.Load("events")
	require.NoError(t, err)
	examples := doc.Paths.Find("/events").Post.RequestBody.Value.Content.Get("application/json").Examples
	require.Len(t, examples, len(doc.Components.Schemas["Event"].Value.OneOf))

	for name, ref := range examples {
		text, err := json.Marshal(ref.Value.Value)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			do(t, name, func() map[string]any {
				tree, err := ParseJSON(text)
				require.NoError(t, err)
				return tree.(map[string]any)
			})
		})
	}
}

// asForm writes a tree with bracketed names; a list without places is written
// with [] instead.
func asForm(tree map[string]any, places bool) []byte {
	var pairs []string
	var write func(name string, v any)
	write = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				write(name+"["+key+"]", v[key])
			}

		case []any:
			for i, item := range v {
				if _, leaf := item.(map[string]any); places || leaf {
					write(fmt.Sprintf("%s[%d]", name, i), item)
				} else {
					write(name+"[]", item)
				}
			}

		default:
			pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(fmt.Sprint(v)))
		}
	}

	for _, key := range slices.Sorted(maps.Keys(tree)) {
		write(key, tree[key])
	}

	return []byte(strings.Join(pairs, "&"))
}

// textually makes texts of the numbers in attributes of the caller's own: a form
// has no types, and nothing is declared that would tell them.
func textually(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if n, ok := value.(json.Number); ok && strings.HasPrefix(name, "cf_") {
				v[name] = n.String()
			}
			textually(value)
		}
	case []any:
		for _, item := range v {
			textually(item)
		}
	}
}

// TestEveryActionAsForm: the example of each action is the same event whether it
// comes as JSON or as a form, alone or in a bulk.
func TestEveryActionAsForm(t *testing.T) {
	v := vocabulary(t)
	eachExample(t, func(t *testing.T, name string, tree func() map[string]any) {
		want := tree()
		textually(want)
		fromJSON, err := v.Read(want, "")
		require.NoError(t, err)
		require.Equal(t, name, fromJSON.Action)
		for _, places := range []bool{true, false} {
			form, err := ParseForm(asForm(tree(), places))
			require.NoError(t, err)
			fromForm, err := v.Read(form, "")
			require.NoError(t, err)
			require.Equal(t, fromJSON, fromForm)
		}

		form, err := ParseForm(asForm(map[string]any{"events": []any{tree()}}, true))
		require.NoError(t, err)
		fromBulk, err := v.Read(form.children["events"].items(nil).([]any)[0], "events[0]")
		require.NoError(t, err)
		require.Equal(t, fromJSON, fromBulk)
	})
}

// TestEveryRequiredAttribute: for each action, a required attribute that is
// missing, null or blank is the one error that names it, in JSON and in a form.
func TestEveryRequiredAttribute(t *testing.T) {
	v := vocabulary(t)

	eachExample(t, func(t *testing.T, name string, tree func() map[string]any) {
		for _, required := range v.actions[name].data.required {
			for _, with := range []func(data map[string]any){
				func(data map[string]any) { delete(data, required) },
				func(data map[string]any) { data[required] = nil },
				func(data map[string]any) { data[required] = "" },
				func(data map[string]any) { data[required] = " \t" },
			} {
				broken := tree()
				data := broken["data"].(map[string]any)
				data["cf_own"] = "kept" // a form says nothing of an object without properties
				with(data)
				var sent any = broken
				if data[required] != nil {
					form, err := ParseForm(asForm(broken, true))
					require.NoError(t, err)
					_, err = v.Read(form, "")
					requireEmpty(t, err, required)
				}
				_, err := v.Read(sent, "")
				requireEmpty(t, err, required)
			}
		}
	})
}

func requireEmpty(t *testing.T, err error, attribute string) {
	t.Helper()
	var e *loyalty.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, loyalty.ErrPropertyEmpty.Name, e.Name)
	require.Zero(t, e.Code)
	require.Equal(t, attribute, e.Args["property"])
	require.Equal(t, "data."+attribute, e.Details[0].Field)
}

// TestEveryOptionalAttribute: null counts as absent in every action, but where
// the contract gives it a meaning.
func TestEveryOptionalAttribute(t *testing.T) {
	v := vocabulary(t)
	eachExample(t, func(t *testing.T, name string, tree func() map[string]any) {
		want, err := v.Read(tree(), "")
		require.NoError(t, err)
		with := tree()
		data := with["data"].(map[string]any)
		meant := map[string]bool{}
		for attribute, s := range v.actions[name].data.byName {
			if _, sent := data[attribute]; !sent {
				data[attribute], meant[attribute] = nil, s.nullable
			}
		}

		data["cf_nothing"] = nil
		got, err := v.Read(with, "")
		require.NoError(t, err)
		for attribute, kept := range meant {
			if kept {
				require.Equal(t, "checkout_update.auto_accept", name+"."+attribute)
			}
		}

		require.JSONEq(t, string(want.Data), string(got.Data))
	})
}

// TestFormsOfTheSpecification: the payloads that the specification describes in
// words, as forms.
func TestFormsOfTheSpecification(t *testing.T) {
	v := vocabulary(t)

	for name, c := range map[string]struct{ form, data string }{
		"release with points":      {"customer=a&action=release_points&data[transaction_id]=T-1&data[points]=20", `{"points":20,"transaction_id":"T-1"}`},
		"treasure with its code":   {"customer=a&action=offline_treasure_code_found&data[treasure_id]=t-1&data[code]=0042", `{"code":"0042","treasure_id":"t-1"}`},
		"date removed, empty":      {"customer=a&action=checkout_update&data[transaction_id]=T-1&data[total]=1&data[auto_accept]=", `{"auto_accept":"","total":1,"transaction_id":"T-1"}`},
		"free shipping, in words":  {"customer=a&action=coupon_create&data[code]=C&data[value]=0&data[type]=free+shipping", `{"code":"C","type":"free shipping","value":0}`},
		"gift card, nothing of it": {"customer=a&action=coupon_redeem&data[code]=C&data[amount]=0", `{"amount":0,"code":"C"}`},
		"gift card, all of it":     {"customer=a&action=coupon_redeem&data[code]=C", `{"code":"C"}`},
		"entries, all":             {"customer=a&action=contest_entry_revoke&data[contest_id]=c&data[refund_points]=1", `{"contest_id":"c","refund_points":true}`},
		"labels":                   {"customer=a&action=profile&data[labels][]=vip&data[labels][]=newsletter&data[opt_in]=true", `{"labels":["vip","newsletter"],"opt_in":true}`},
		"codes of a checkout":      {"customer=a&action=checkout&data[transaction_id]=T&data[total]=1.50&data[coupons][]=A&data[coupons][]=B", `{"coupons":["A","B"],"total":1.50,"transaction_id":"T"}`},
		"a custom field":           {"customer=a&action=visit&data[url]=https://a.b&data[cf_kiosk]=7", `{"cf_kiosk":"7","url":"https://a.b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			form, err := ParseForm([]byte(c.form))
			require.NoError(t, err)
			e, err := v.Read(form, "")
			require.NoError(t, err)
			require.Equal(t, c.data, string(e.Data))
		})
	}
}

// TestGuest: only a checkout may be for an unknown customer.
func TestGuest(t *testing.T) {
	v := vocabulary(t)
	for body, guest := range map[string]bool{
		`{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":1},"guest":true}`:  true,
		`{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":1},"guest":false}`: false,
		`{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":1},"guest":null}`:  false,
		`{"customer":"a","action":"checkout","data":{"transaction_id":"T","total":1}}`:               false,
	} {
		tree, err := ParseJSON([]byte(body))
		require.NoError(t, err)
		e, err := v.Read(tree, "")
		require.NoError(t, err, body)
		require.Equal(t, guest, e.Guest, body)
	}

	for _, body := range []string{
		`{"customer":"a","action":"visit","data":{"url":"https://a.b"},"guest":true}`,
		`{"customer":"a","action":"dance","data":{},"guest":true}`,
	} {
		tree, err := ParseJSON([]byte(body))
		require.NoError(t, err)
		_, err = v.Read(tree, "")
		name, field := fault(t, err)
		require.Equal(t, []string{"property_unknown", "guest"}, []string{name, field}, body)
	}

	form, err := ParseForm([]byte("customer=a&action=checkout&data[transaction_id]=T&data[total]=1&guest=1"))
	require.NoError(t, err)
	e, err := v.Read(form, "")
	require.NoError(t, err)
	require.True(t, e.Guest)
}
