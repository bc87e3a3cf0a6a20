package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Personal attributes lie sealed in events; opt_out destroys the key, hashes
// the profile and frees the names. Points and purchases stay.
func TestOptOutSealsAndFrees(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{"type":"accept","pending_days":1}`}, func(t *testing.T, s *shop) {
		id := s.Must("ada", "opt_in", `{"email":"ada.canary@shop.test","first_name":"Canary","language":"hun","external_ids":{"crm":"canary-1"}}`).Customer.ID
		s.Must("ada", "profile", `{"labels":["canary-label"],"cf_canary":"canary-custom","gender":"canary","birth_date":"1990-05-17"}`)
		s.Must("ada", "point_add", `{"points":10,"reason":"canary-reason"}`)
		s.Must("ada", "checkout", `{"transaction_id":"T","total":50,"cf_gift":"canary-gift","channel":"online","items":[{"product_id":"p",
			"product_name":"a","product_url":"https://shop.test/1","quantity":1,"subtotal":50,"cf_engraving":"canary-engraving"}]}`)
		s.Must("ada", "checkout_update", `{"transaction_id":"T","total":50,"cf_note":"canary-note"}`)
		key := s.Loaded(id).Customer.Key
		require.Len(t, key, loyalty.KeySize)
		opened := s.Personal(key)
		for action, canaries := range map[string][]string{
			"opt_in": {"ada.canary@shop.test", "Canary", "canary-1", "hun"}, "profile": {"canary-label", "canary-custom"}, "point_add": {"canary-reason"},
			"checkout": {"canary-gift", "canary-engraving"}, "checkout_item": {"canary-engraving"}, "checkout_update": {"canary-note"},
		} {
			for _, canary := range canaries {
				require.Contains(t, opened[action], canary, action)
			}
		}

		require.NotContains(t, opened["checkout"], "online", "only what is personal")

		o := s.Must("ada", "opt_out", `{"reason":"canary-leaves"}`)
		require.Equal(t, loyalty.OptedOut, o.Customer.Status)
		require.Len(t, o.Customer.Name, 64)
		after := s.Loaded(id)
		require.Nil(t, after.Customer.Key)
		require.Equal(t, points.Figures{Score: 10, Pending: 50}, after.Customer.Figures)
		require.NotContains(t, strings.ToLower(s.Dump()), "canary")
		require.NotContains(t, s.Dump(), "1990-05-17")
		require.Empty(t, after.Customer.Profile.Language, "any text is accepted for it")
		s.Refused(loyalty.ErrCustomerNotFound, "ada", "point_add", `{"points":1}`)
		s.Refused(loyalty.ErrWrongStatus, o.Customer.Name, "profile", `{"first_name":"again"}`)
		s.Refused(loyalty.ErrForbiddenState, o.Customer.Name, "opt_in", `{"email":"x@shop.test"}`)

		// What comes due afterwards is applied, and seals nothing under no key.
		s.Wait(48 * time.Hour)
		require.NoError(t, s.SettleDue(context.Background()))
		require.Equal(t, points.Figures{Score: 60}, s.Loaded(id).Customer.Figures)
		require.NotContains(t, strings.ToLower(s.Dump()), "canary")

		// The name and the external id are free for another customer, the transaction_id is not: the purchase is still
		// there.
		fresh := s.Must("ada", "opt_in", `{"email":"new@shop.test","external_ids":{"crm":"canary-1"}}`).Customer
		require.NotEqual(t, id, fresh.ID)
		require.Zero(t, fresh.Figures)
		s.Refused(loyalty.ErrTransactionExists, "ada", "checkout", `{"transaction_id":"T","total":1}`)
		s.Refused(loyalty.ErrTransactionNotFound, "ada", "refund", `{"transaction_id":"T"}`)
		s.Verify()
	})
}

// Two opt-outs under one name leave two customers that cannot be joined.
func TestOptOutIsSalted(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		var names []string
		for range 2 {
			s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
			o := s.Must("ada", "opt_out", `{}`)
			names = append(names, o.Customer.Name, o.Customer.Profile.Email)
		}
		seen := map[string]bool{}
		for _, n := range names {
			require.False(t, seen[n])
			seen[n] = true
		}
	})
}

// opt_in takes over the oldest inactive profile with the same e-mail, which
// keeps its rows and gets the new identifier.
func TestTakeOver(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		first := s.Must("news-1", "subscribe", `{"handler":"n1","email":" Ada@Shop.TEST ","external_ids":{"crm":"1"},"cf_x":"kept"}`).Customer
		s.Wait(time.Second)
		s.Must("news-2", "subscribe", `{"handler":"n2","email":"ada@shop.test"}`)
		s.Wait(time.Second)
		taken := s.Must("ada", "opt_in", `{"email":"ADA@shop.test","first_name":"Ada"}`).Customer
		require.Equal(t, first.ID, taken.ID, "the oldest")
		require.Equal(t, "ada", taken.Name)
		require.Equal(t, loyalty.Active, taken.Status)
		require.Equal(t, "n1", taken.Profile.Handler)
		require.Equal(t, loyalty.ExternalIDs{"crm": {"1"}}, taken.Profile.ExternalIDs)
		require.Contains(t, taken.Profile.Custom, "cf_x")
		require.Equal(t, []string{"subscribe", "opt_in"}, s.Events(first.ID))
		require.Equal(t, first.CreatedAt, taken.CreatedAt)
		s.Refused(loyalty.ErrCustomerNotFound, "news-1", "visit", `{"url":"https://shop.test/"}`)
		require.Equal(t, taken.ID, s.Customer("crm:1").ID)

		again := s.Must("news-1", "subscribe", `{"handler":"n3"}`).Customer
		require.NotEqual(t, first.ID, again.ID, "the old identifier is free")

		// A customer who is known by the identifier is not taken over by e-mail.
		own := s.Must("bob", "subscribe", `{"handler":"b","email":"bob@shop.test"}`).Customer
		o := s.Must("bob", "opt_in", `{"email":"ada@shop.test"}`)
		require.Equal(t, own.ID, o.Customer.ID)

		// The second one is taken over next; then none is left.
		require.Equal(t, "n2", s.Must("eve", "opt_in", `{"email":"ada@shop.test"}`).Customer.Profile.Handler)
		require.Empty(t, s.Must("eva", "opt_in", `{"email":"ada@shop.test"}`).Customer.Profile.Handler)
		// subscribe and profile take no profile over.
		s.Must("news-3", "subscribe", `{"handler":"n3","email":"zoe@shop.test"}`)
		require.Empty(t, s.Must("zoe", "profile", `{"opt_in":true,"email":"zoe@shop.test"}`).Customer.Profile.Handler)
		s.Verify()
	})
}

// A bulk ends as the same events one by one would: the profile that an earlier
// event made, or gave another e-mail, is found or not found all the same.
func TestTakeOverInsideABulk(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		for _, bulk := range []bool{false, true} {
			name := func(n string) string { return fmt.Sprintf("%s-%v", n, bulk) }
			story := []loyalty.Submission{
				loyaltytest.Event(name("news"), "subscribe", fmt.Sprintf(`{"handler":"made","email":"made-%v@shop.test"}`, bulk)),
				loyaltytest.Event(name("ada"), "opt_in", fmt.Sprintf(`{"email":"made-%v@shop.test"}`, bulk)),
				loyaltytest.Event(name("gone"), "profile", fmt.Sprintf(`{"email":"elsewhere-%v@shop.test"}`, bulk)),
				loyaltytest.Event(name("bob"), "opt_in", fmt.Sprintf(`{"email":"gone-%v@shop.test"}`, bulk)),
				loyaltytest.Event(name("left"), "opt_out", `{}`),
				loyaltytest.Event(name("cid"), "opt_in", fmt.Sprintf(`{"email":"left-%v@shop.test"}`, bulk)),
			}

			s.Must(name("gone"), "subscribe", fmt.Sprintf(`{"handler":"gone","email":"gone-%v@shop.test"}`, bulk))
			s.Must(name("left"), "subscribe", fmt.Sprintf(`{"handler":"left","email":"left-%v@shop.test"}`, bulk))
			if bulk {
				for _, err := range s.All(story...) {
					require.NoError(t, err)
				}
			} else {
				for _, e := range story {
					s.Must(e.Customer, e.Action, string(e.Data))
				}
			}

			handlers := map[string]string{}
			for _, n := range []string{"ada", "bob", "cid"} {
				handlers[n] = s.Customer(name(n)).Profile.Handler
			}

			require.Equal(t, map[string]string{"ada": "made", "bob": "", "cid": ""}, handlers, "bulk: %v", bulk)
		}

		s.Verify()
	})
}

func TestExternalIDs(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		by := func(field, value, action, data string) error {
			_, err := s.Submit(context.Background(), loyalty.Submission{Customer: value, ExternalID: field, Action: action, Data: []byte(data)})
			return err
		}

		ada := s.Must("ada", "opt_in", `{"email":"ada@shop.test","external_ids":{"crm":"1","till":"A-9"}}`).Customer
		s.Must("bob", "opt_in", `{"email":"bob@shop.test","external_ids":{"crm":"2"}}`)
		require.NoError(t, by("crm", "1", "point_add", `{"points":3}`))
		require.NoError(t, by("till", "A-9", "point_add", `{"points":4}`))
		require.EqualValues(t, 7, s.Customer("ada").Figures.Score)
		require.ErrorIs(t, by("crm", "3", "point_add", `{"points":3}`), loyalty.ErrCustomerNotFound)
		require.ErrorIs(t, by("till", "1", "point_add", `{"points":3}`), loyalty.ErrCustomerNotFound)
		require.ErrorIs(t, by("crm", "3", "opt_in", `{"email":"x@shop.test"}`), loyalty.ErrCustomerNotFound, "nobody is created under an external id")
		require.ErrorIs(t, by("crm", "1", "opt_in", `{"email":"x@shop.test"}`), loyalty.ErrCustomerExists)

		e := s.Refused(loyalty.ErrExternalIDTaken, "bob", "profile", `{"external_ids":{"crm":"1"}}`)
		require.Equal(t, "data.external_ids.crm", e.Details[0].Field)
		s.Refused(loyalty.ErrExternalIDTaken, "eve", "opt_in", `{"email":"eve@shop.test","external_ids":{"crm":"2"}}`)
		s.Refused(loyalty.ErrPropertyInvalid, "bob", "profile", `{"external_ids":{"a:b":"1"}}`)
		s.Must("ada", "profile", `{"external_ids":{"crm":"1"}}`) // one's own
		s.Must("ada", "profile", `{"external_ids":{"crm":"5"}}`) // another value gives the old one up
		require.ErrorIs(t, by("crm", "1", "point_add", `{"points":3}`), loyalty.ErrCustomerNotFound)
		s.Must("bob", "profile", `{"external_ids":{"crm":"1"}}`)
		s.Must("ada", "profile", `{"external_ids":{"till":null,"nothing":null}}`)
		require.Equal(t, loyalty.ExternalIDs{"crm": {"5"}}, s.Customer("ada").Profile.ExternalIDs)
		s.Must("bob", "profile", `{"external_ids":{"till":"A-9","crm":"2"}}`)
		require.NoError(t, by("till", "A-9", "point_add", `{"points":1}`))
		require.EqualValues(t, 1, s.Customer("bob").Figures.Score)
		// Swapping back and forth within one event keeps one claim each.
		s.Must("ada", "profile", `{"external_ids":{"crm":"6"}}`)
		s.Must("ada", "profile", `{"external_ids":{"crm":"5"}}`)
		require.Equal(t, ada.ID, s.Customer("crm:5").ID)
		// An identifier and an external id of the same text are two things.
		s.Must("crm:5", "opt_in", `{"email":"x@shop.test"}`)
		require.NotEqual(t, ada.ID, s.Customer("crm:5").ID, "the exact identifier is tried first")
		s.Verify()
	})
}

// eventsDocument is parsed once, because every action asks it for its example.
var eventsDocument = sync.OnceValues(func() (*openapi3.T, error) { return openapi.Load("events") })

// exampleOf is the data of an action's example in the document.
func exampleOf(t *testing.T, action string) string {
	doc, err := eventsDocument()
	require.NoError(t, err)
	example := doc.Components.Examples[action]
	require.NotNil(t, example, action)
	raw, err := json.Marshal(example.Value.Value.(map[string]any)["data"])
	require.NoError(t, err)
	return string(raw)
}

// Of several attributes that are refused always the same one is named: a request that is sent again gets
// the same answer.
func TestOneOfSeveralIsTold(t *testing.T) {
	eachShop(t, modules{"coupons": "off", "offers": "off", "checkout_accept": "off"}, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		many := func(name string) string { return `"` + name + `":"` + strings.Repeat("x", 9000) + `"` }
		for range 20 {
			e := s.Refused(loyalty.ErrModuleOff, "ada", "checkout", `{"transaction_id":"T","total":1,"points_rewarded":1,"offers":["x"],"coupons":["x"]}`)
			require.Equal(t, "data.coupons", e.Details[0].Field)
			e = s.Refused(loyalty.ErrAttributesTooLarge, "ada", "checkout", `{"transaction_id":"T","total":1,`+many("c")+`,`+many("b")+`,`+many("d")+`}`)
			require.Equal(t, "data.b", e.Details[0].Field)
		}

		s.Configure(modules{"checkout_accept": `{}`})
		s.Must("ada", "checkout", `{"transaction_id":"T","total":1}`)
		for range 20 {
			e := s.Refused(loyalty.ErrCopiedField, "ada", "checkout_accept", `{"transaction_id":"T","total":5,"currency":"EUR","channel":"web"}`)
			require.Equal(t, "data.channel", e.Details[0].Field)
		}
	})
}

// Of two shops with one name it is always the same one that a purchase was made in.
func TestShopsOfOneName(t *testing.T) {
	p := loyaltytest.Compile(t, modules{"stores": `{}`}, things{
		{"stores/store", "pest", `{"name":"The shop"}`}, {"stores/store", "buda", `{"name":"The shop"}`}, {"stores/store", "vac", `{"name":"The shop"}`},
	})
	for range 20 {
		require.Equal(t, "buda", p.ShopID("The shop"))
	}
	require.Equal(t, "vac", p.ShopID("vac"))
	require.Equal(t, "Elsewhere", p.ShopID("Elsewhere"))
}

// An action or attribute whose module is off is refused by name, and nothing is
// recorded.
func TestModuleGates(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		v, err := loyaltytest.Vocabulary()
		require.NoError(t, err)
		values := map[string]string{"offers": `["x"]`, "coupons": `["x"]`, "total_quantity": "1", "points_rewarded": "1", "computed_total_quantity": "1", "shipping_shop_money_amount": "1"}
		needed := map[string]string{
			"opt_in": `"email":"x@shop.test"`, "checkout": `"transaction_id":"T","total":1`,
		}
		gates := 0
		for _, name := range v.Actions() {
			shape, _ := v.Shape(name)
			if shape.Module != "" {
				gates++
				s.Configure(modules{shape.Module: "off"})
				e := s.Refused(loyalty.ErrActionOff, "ada", name, exampleOf(t, name))
				require.Equal(t, []any{shape.Module, name}, []any{e.Args["module"], e.Args["action"]})
				continue
			}

			for attribute, a := range shape.Attributes {
				if a.Module == "" {
					continue
				}

				gates++
				value, ok := values[attribute]
				if !ok {
					value = `"x"`
				}

				off := modules{}
				if _, err := programme.ModuleName(a.Module); err == nil {
					off[a.Module] = "off"
				}

				s.Configure(off)
				customer := "ada"
				if name == "opt_in" {
					customer = "new"
				}

				e := s.Refused(loyalty.ErrModuleOff, customer, name, fmt.Sprintf(`{%s,%q:%s}`, needed[name], attribute, value))
				require.Equal(t, []any{a.Module, attribute}, []any{e.Args["module"], e.Args["property"]})
				require.Equal(t, "data."+attribute, e.Details[0].Field)
			}
		}

		require.Greater(t, gates, 10)
		s.Configure(modules{"checkout_accept": `{}`, "stores": `{}`})
		s.Must("ada", "checkout", `{"transaction_id":"T","total":1,"store":"s","points_rewarded":5,"total_quantity":1}`)
		require.EqualValues(t, 5, s.Customer("ada").Figures.Pending)
		e := s.Refused(loyalty.ErrCopiedField, "ada", "checkout_accept", `{"transaction_id":"T","total":5}`)
		require.Equal(t, "total", e.Args["property"])
		// The gate is where the purchase comes in: a pending one is settled by its
		// date although the module is off by then.
		s.Must("ada", "checkout_update", `{"transaction_id":"T","total":1,"auto_accept":"2026-03-02"}`)
		s.Configure(nil)
		s.Wait(48 * time.Hour)
		require.NoError(t, s.SettleDue(context.Background()))
		require.Equal(t, loyalty.Accepted, s.Transaction("ada", "T").State)
		s.Verify()
	})
}

// A preview answers what would happen, tells why, and writes nothing.
func TestPreview(t *testing.T) {
	m := modules{"points_economy": `{"expiry":{"policy":"rolling","days":2}}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		preview := func(customer, action, data string) (loyalty.Outcome, error) {
			rows := s.Rows()
			o, err := s.Preview(context.Background(), loyaltytest.Keyed(loyaltytest.Event(customer, action, data), "k"))
			require.Equal(t, rows, s.Rows(), "%s %s", action, data)
			return o, err
		}

		o, err := preview("ada", "opt_in", `{"email":"ada@shop.test"}`)
		require.NoError(t, err)
		require.Equal(t, loyalty.Active, o.Customer.Status)
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":40}`)
		s.Wait(time.Hour)

		o, err = preview("ada", "checkout", golden)
		require.NoError(t, err)
		require.Equal(t, points.Figures{Score: 139, Spent: 30}, o.Customer.Figures)
		require.Equal(t, "checkout 69, point_burn -30, checkout_item 60, checkout_item 39", shown(o))
		spoke := map[string]int64{}
		for _, v := range o.Trace {
			require.Equal(t, "applied", v.Verdict, v.Rule)
			require.NotEmpty(t, v.Reason)
			spoke[v.Rule] += v.Points
		}

		require.Equal(t, map[string]int64{"standing": 0, "burn": -30, "earn": 99}, spoke)
		changed := map[int64]int64{}
		for _, l := range o.Touched {
			changed[l.Before] += l.Lot.Remaining
		}

		require.Equal(t, map[int64]int64{40: 10, 0: 99}, changed, "free points before and after")

		for _, c := range []struct {
			customer, action, data string
			want                   error
			rule                   string
		}{
			{"ada", "checkout", strings.Replace(golden, `"points_burned":30`, `"points_burned":41`, 1), loyalty.ErrNotEnoughPoints, "burn"},
			{"ada", "point_spend", `{"points":41}`, loyalty.ErrNotEnoughToSpend, "spend"},
			{"nobody", "point_spend", `{"points":41}`, loyalty.ErrCustomerNotFound, ""},
			{"ada", "juggle", `{}`, loyalty.ErrUnknownAction, ""},
			{"ada", "checkout_accept", `{"transaction_id":"T"}`, loyalty.ErrActionOff, ""},
			{"ada", "unsuspend", `{}`, loyalty.ErrForbiddenState, "state"},
		} {
			o, err := preview(c.customer, c.action, c.data)
			require.ErrorIs(t, err, c.want)
			if c.rule != "" {
				last := o.Trace[len(o.Trace)-1]
				require.Equal(t, []string{c.rule, "refused"}, []string{last.Rule, last.Verdict})
			}
		}

		// What is due is part of what would happen.
		s.Wait(72 * time.Hour)
		o, err = preview("ada", "visit", `{"url":"https://shop.test/"}`)
		require.NoError(t, err)
		require.Equal(t, "point_expire -40, visit", shown(o))
		// And what was previewed does happen.
		did := s.Must("ada", "visit", `{"url":"https://shop.test/"}`)
		require.Equal(t, shown(o), shown(did))
		require.Equal(t, o.Customer.Figures, did.Customer.Figures)
		_, err = s.once("ada", "point_add", `{"points":1}`, "k")
		require.NoError(t, err, "a preview stored no answer")
		s.Verify()
	})
}

// An external id that goes and comes back inside one bulk is free and taken as
// it would be one event at a time.
func TestExternalIDTogglesInABulk(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test","external_ids":{"crm":"1"}}`)
		for _, r := range s.SubmitAll(t.Context(), []loyalty.Submission{
			loyaltytest.Event("ada", "profile", `{"external_ids":{"crm":"2"}}`),
			loyaltytest.Event("ada", "profile", `{"external_ids":{"crm":"1"}}`),
		}) {
			require.NoError(t, r.Err)
		}

		byID := loyaltytest.Event("1", "visit", `{"url":"https://shop.test/"}`)
		byID.ExternalID = "crm"
		_, err := s.Submit(t.Context(), byID)
		require.NoError(t, err)
		s.Must("bea", "opt_in", `{"email":"bea@shop.test","external_ids":{"crm":"2"}}`)
		s.Refused(loyalty.ErrExternalIDTaken, "bea", "profile", `{"external_ids":{"crm":"1"}}`)
		s.Verify()
	})
}
