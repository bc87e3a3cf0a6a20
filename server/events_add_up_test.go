package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// A customer's events add up to what can be spent, after everything that can happen
// to points, and each is shown alike by every list and by the answer that recorded it.
func TestEventsAddUp(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, u string) {
		h := openOn(t, u, patient)
		require.Equal(t, http.StatusOK, h.post("/admin/modules/checkout_accept", `{"enabled":true}`).status)
		require.Equal(t, http.StatusOK, h.post("/admin/modules/customer_id_validation", `{"enabled":true}`).status)
		for _, c := range []string{"member-1001", "member-1002"} {
			h.enrol(c)
		}

		s := &sums{house: h, told: map[string]string{}}
		s.say(`{"customer":"member-1001","action":"point_add","data":{"points":100}}`)
		s.say(bought("member-1001", "T-1", `,"points_burned":30`))
		s.say(`{"customer":"member-1001","action":"checkout_update","data":{"transaction_id":"T-1","total":99.99,"points_burned":20}}`)
		s.say(`{"customer":"member-1001","action":"checkout_accept","data":{"transaction_id":"T-1"}}`)
		s.say(`{"customer":"member-1001","action":"partial_refund","data":{"transaction_id":"T-1","amount":33.33}}`)
		s.say(bought("member-1001", "T-2", ""))
		s.say(`{"customer":"member-1001","action":"checkout_reject","data":{"transaction_id":"T-2"}}`)
		s.say(bought("member-1001", "T-3", ""))
		s.hold("member-1001")

		s.say(`{"customer":"member-1002","action":"point_sub","data":{"points":5}}`)
		s.say(`{"customer":"member-1002","action":"point_add","data":{"points":40}}`)
		s.hold("member-1002")

		guest := bought("guest-1", "T-4", "")
		s.say(`{"guest":true,` + guest[1:])
		s.say(`{"customer":"guest-1","action":"checkout_accept","data":{"transaction_id":"T-4"}}`)
		s.say(`{"customer":"member-1001","action":"checkout_claim","data":{"transaction_id":"T-4"}}`)
		s.hold("member-1001")
		s.hold("guest-1")

		require.Equal(t, http.StatusOK, h.post("/customers/member-1002/merge", `{"target":"member-1001"}`).status)
		s.hold("member-1001")
		s.say(`{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-4"}}`)
		s.hold("member-1001")
	})
}

// sums remembers what answers said of events.
type sums struct {
	*house
	told map[string]string // by id: action, points, change
}

// say sends an event, and sees that its preview shows the changes that it makes.
func (s *sums) say(event string) {
	s.t.Helper()
	preview := s.post("/events/preview", event)
	answer := s.does("/events", event)
	foreseen, made := preview.json(s.t)["events"].([]any), answer.json(s.t)["events"].([]any)
	require.Len(s.t, foreseen, len(made))
	for i := range made {
		e := made[i].(map[string]any)
		s.told[fmt.Sprint(e["id"])] = summed(e)
		require.Equal(s.t, summed(foreseen[i].(map[string]any)), summed(e))
	}
}

// summed is what every list and answer tells alike of an event.
func summed(e map[string]any) string { return fmt.Sprint(e["action"], e["points"], e["change"]) }

// hold compares the lists of a customer.
func (s *sums) hold(customer string) {
	s.t.Helper()
	path := "/customers/" + customer
	var sum int64
	all, byID := s.list(path+"/events?limit=1000"), map[string]any{}
	for _, e := range all {
		id := fmt.Sprint(e["id"])
		byID[id] = e
		sum += number(s.t, e["change"])
		if told, submitted := s.told[id]; submitted {
			require.Equal(s.t, told, summed(e))
		}
	}

	c := s.get(path).json(s.t)["data"].(map[string]any)
	require.Equal(s.t, number(s.t, c["spendable"]), sum, customer)
	for _, list := range []string{"/v1" + path + "/events?limit=1000", "/customers/-/events?limit=1000", path + "/events?sort=date&limit=1000"} {
		met := 0
		for _, e := range s.list(list) {
			if known, mine := byID[fmt.Sprint(e["id"])]; mine {
				require.Equal(s.t, known, e, list)
				met++
			}
		}
		require.Equal(s.t, len(all), met, list)
	}

	for _, p := range s.list(path + "/transactions") {
		s.adds(path, p, byID)
	}

	require.Equal(s.t, all[0]["timestamp"], c["updated_at"], "the customer changed with the last event")
}

// adds holds the breakdown and the events of a purchase.
func (s *sums) adds(path string, purchase, byID map[string]any) {
	var earned int64
	for _, m := range purchase["breakdown"].([]any) {
		move := m.(map[string]any)
		earned += number(s.t, move["earned"])
		require.Equal(s.t, byID[fmt.Sprint(move["id"])].(map[string]any)["change"], move["change"])
	}
	require.Equal(s.t, number(s.t, purchase["earned"]), earned, "%v", purchase)
	for _, e := range s.list(path + "/transactions/" + fmt.Sprint(purchase["id"]) + "/events") {
		require.Equal(s.t, byID[fmt.Sprint(e["id"])], e)
	}
}

func (s *sums) list(target string) (entries []map[string]any) {
	for _, e := range s.get(target).json(s.t)["data"].([]any) {
		entries = append(entries, e.(map[string]any))
	}
	return entries
}

// TestBreakdownOfSeveralGifts: each campaign that adds to a purchase is told with what it gave, in one that is
// accepted at once and in one that waited, and the gift of a line as well as that of the purchase.
func TestBreakdownOfSeveralGifts(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("ada")
		for _, campaign := range []string{
			`{"id":"half","name":"Half","trigger":"checkout","effects":[{"type":"multiply","factor":1.5}],"priority":2,"status":"active"}`,
			`{"id":"beans","name":"Beans","trigger":"checkout_item","condition":"item.product_id == \"p-1\"","effects":[{"type":"points","points":15}],"priority":1,"status":"active"}`,
			`{"id":"thanks","name":"Thanks","trigger":"checkout","effects":[{"type":"points","points":3}],"status":"active"}`,
		} {
			done(h, "/entities/automation/campaign", campaign)
		}

		earned := func(id string) (moves []string) {
			purchase := succeeded(t, h.get("/customers/ada/transactions/"+id))
			for _, m := range purchase["breakdown"].([]any) {
				move := m.(map[string]any)
				require.Equal(t, move["points"], move["earned"], "%v", move)
				moves = append(moves, fmt.Sprint(move["action"], " ", move["earned"]))
			}
			return moves
		}

		h.told(bought("ada", "T-1", ""), `{"customer":"ada","action":"partial_refund","data":{"transaction_id":"T-1","amount":33.33}}`)
		require.Equal(t, []string{"checkout_item 60", "checkout_item 39", "point_add 49", "point_add 3", "point_add 15", "partial_refund -55"}, earned("T-1"))
		done(h, "/admin/modules/checkout_accept", `{"enabled":true}`)
		h.told(bought("ada", "T-2", ""), `{"customer":"ada","action":"checkout_accept","data":{"transaction_id":"T-2"}}`)
		require.Equal(t, []string{"checkout_accept_item 60", "checkout_accept_item 39", "point_add 49", "point_add 3", "point_add 15"}, earned("T-2"))
	})
}
