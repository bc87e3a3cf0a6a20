package action_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// written is how many bytes the rows of events take, but for what every row has.
func written(events []loyalty.Event) (n int) {
	for i := range events {
		effects, _ := json.Marshal(events[i].Effects)
		n += len(events[i].Data) + len(events[i].Personal) + len(effects)
	}
	return n
}

// shown are the attributes of the events of an action, as a list shows them, in the
// order of the journal.
func (s *shop) shown(customer, action string) (all []map[string]any) {
	s.T.Helper()
	page, err := s.DB.Events(ctx, loyalty.EventQuery{
		Customer:   s.Customer(customer).ID,
		Conditions: []loyalty.Condition{{Field: "action", Operator: loyalty.Eq, Values: []any{action}}},
		Page:       loyalty.Page{Limit: 1000},
	})

	require.NoError(s.T, err)
	for i := range slices.Backward(page.Events) {
		text, err := page.Attributes(&page.Events[i])
		require.NoError(s.T, err)
		var data map[string]any
		require.NoError(s.T, json.Unmarshal(text, &data))
		all = append(all, data)
	}

	return all
}

// TestLinesInherit: each line shows every attribute of its checkout as it was when
// the line was written; its own win; and all of them are kept once, whatever the
// number of lines.
func TestLinesInherit(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{}`}, func(t *testing.T, s *shop) {
		const lines = 300
		note := strings.Repeat("n", 8000)
		s.Enrol("ada")
		key := s.Loaded(s.Customer("ada").ID).Customer.Key
		o := s.Must("ada", "checkout", `{"transaction_id":"T-1","total":9,"channel":"online","discount":"1","note":"`+note+`","items":`+loyaltytest.Basket(lines, `,"discount":0.5,"gift":"ribbon"`)+`}`)
		require.Less(t, written(o.Events), 2*len(note)+400*lines, "the checkout")
		o = s.Must("ada", "checkout_update", `{"transaction_id":"T-1","total":9,"channel":"store","items":`+loyaltytest.Basket(lines, "")+`}`)
		require.Less(t, written(o.Events), 2*len(note)+400*lines, "the update")
		o = s.Must("ada", "checkout_accept", `{"transaction_id":"T-1","cf_by":"Cili"}`)
		require.Less(t, written(o.Events), 2*len(note)+400*lines, "the acceptance")
		for action, channel := range map[string]string{"checkout_item": "online", "checkout_update_item": "store", "checkout_accept_item": "store"} {
			all := s.shown("ada", action)
			require.Len(t, all, lines, action)
			for i, data := range all {
				require.Equal(t, []any{channel, note, "T-1", fmt.Sprintf("p-%d", i)}, []any{data["channel"], data["note"], data["transaction_id"], data["product_id"]}, action)
				require.NotContains(t, data, "items", action)
				require.NotContains(t, data, "cf_by", "what the acceptance says is its own")
				if action == "checkout_item" {
					require.Equal(t, []any{0.5, "ribbon"}, []any{data["discount"], data["gift"]}, "the line's own")
				} else {
					require.Equal(t, []any{"1", nil}, []any{data["discount"], data["gift"]}, action)
				}
			}
		}

		require.NotContains(t, s.Dump(), note[:50], "what is undeclared lies sealed")
		require.NotContains(t, s.Personal(key)["checkout_accept_item"], note[:50], "and not with the lines")
		s.FoldsBack()
		s.Must("ada", "opt_out", `{}`)
		left, err := s.DB.Events(ctx, loyalty.EventQuery{Customer: o.Customer.ID, Page: loyalty.Page{Limit: 1000}})
		require.NoError(t, err)
		for i := range left.Events {
			text, err := left.Attributes(&left.Events[i])
			require.NoError(t, err)
			require.NotContains(t, string(text), note[:50], "nobody reads it any more")
		}
	})
}

// TestLinesWithCopies: item events that were written when each had a copy of what it
// inherits are read as they are.
func TestLinesWithCopies(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Enrol("ada")
		ada := s.Loaded(s.Customer("ada").ID).Customer
		at := s.Clock()
		parent := loyalty.Event{
			ID: loyalty.NewID(at, ada.LastEvent), Customer: ada.ID, Action: "checkout_accept", Transaction: "T-0", At: at, RecordedAt: at,
			Data: json.RawMessage(`{"transaction_id":"T-0","cf_by":"Cili"}`),
		}

		item := loyalty.Event{
			ID: loyalty.NewID(at, parent.ID), Parent: parent.ID, Customer: ada.ID, Action: "checkout_accept_item", Transaction: "T-0", At: at, RecordedAt: at,
			Data: json.RawMessage(`{"transaction_id":"T-0","channel":"online","product_id":"p-1"}`),
		}

		var err error
		item.Personal, err = loyalty.Seal(ada.Key, item.ID[:], []byte(`{"note":"old"}`))
		require.NoError(t, err)
		require.NoError(t, s.DB.Within(ctx, loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
			return &loyalty.Writes{Events: []loyalty.Event{parent, item}}, nil
		}))
		require.Equal(t, []map[string]any{{"transaction_id": "T-0", "channel": "online", "product_id": "p-1", "note": "old"}}, s.shown("ada", "checkout_accept_item"))
	})
}

// TestConditionsSeeWhatLinesInherit: a rule about a line sees the checkout's
// attributes behind the line's own, and so does a challenge that adds one up.
func TestConditionsSeeWhatLinesInherit(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(modules{"automation": "{}", "challenges": "{}", "incentivized_purchase": "off"}, things{
			loyaltytest.AnyCampaign("seen", `"trigger":"checkout_item","condition":"event.data.note == \"gift\" && event.data.colour == \"red\" && \"colour\" in event.data","effects":[{"type":"points","points":5}]`),
			{"challenges/challenge", "weigh", `{"title":{"en":"W"},"points":100,"criteria":[{"action":"checkout_item","sum":"data.weight","threshold":7}]}`},
		})
		s.Enrol("ada")
		o := s.Must("ada", "checkout", `{"transaction_id":"T-1","total":9,"note":"gift","colour":"blue","weight":3,"items":[`+
			strings.Trim(loyaltytest.Basket(1, `,"colour":"red"`), "[]")+","+strings.Trim(loyaltytest.Basket(1, `,"weight":4`), "[]")+`]}`)
		require.EqualValues(t, 5+100, o.Customer.Figures.Score)
		s.FoldsBack()
	})
}

// TestGiftsOfLinesAreToldOnce: what campaigns give for thousands of lines is told by
// the last of them, not by each with all before it.
func TestGiftsOfLinesAreToldOnce(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		const lines = 200
		s.Make(modules{"automation": "{}", "incentivized_purchase": "off"}, things{loyaltytest.AnyCampaign("each", `"trigger":"checkout_item","effects":[{"type":"points","points":1}]`)})
		s.Enrol("ada")
		o := s.Must("ada", "checkout", `{"transaction_id":"T-1","total":9,"items":`+loyaltytest.Basket(lines, "")+`}`)
		require.EqualValues(t, lines, o.Customer.Figures.Score)
		require.Less(t, written(o.Events), 1500*lines)
		s.Must("ada", "refund_item", `{"transaction_id":"T-1","product_id":"p-7"}`)
		s.Must("ada", "refund", `{"transaction_id":"T-1"}`)
		s.FoldsBack()
	})
}

// TestUpdateTellsChangedLines: an update that sends no items tells the journal of
// those lines only that are worth something else now.
func TestUpdateTellsChangedLines(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{}`, "incentivized_purchase": `{"rate":1}`}, func(t *testing.T, s *shop) {
		s.Enrol("ada")
		s.Must("ada", "checkout", `{"transaction_id":"T-1","total":9,"items":`+loyaltytest.Basket(50, "")+`}`)
		o := s.Must("ada", "checkout_update", `{"transaction_id":"T-1","total":10}`)
		require.Len(t, o.Events, 1)
		require.Empty(t, o.Events[0].Effects.Transaction.Lines)
		require.EqualValues(t, 100, o.Customer.Figures.Pending)
		s.FoldsBack()
		s.Configure(modules{"checkout_accept": `{}`, "incentivized_purchase": `{"rate":2}`})
		o = s.Must("ada", "checkout_update", `{"transaction_id":"T-1","total":10}`)
		require.Len(t, o.Events[0].Effects.Transaction.Lines, 50)
		require.EqualValues(t, 200, o.Customer.Figures.Pending)
		s.FoldsBack()
		o = s.Must("ada", "checkout_update", `{"transaction_id":"T-1","total":10,"items":`+loyaltytest.Basket(2, "")+`}`)
		require.Len(t, o.Events, 3, "an event for each line that was sent")
		s.Must("ada", "checkout_accept", `{"transaction_id":"T-1"}`)
		s.FoldsBack()
	})
}
