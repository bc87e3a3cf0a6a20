package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// stepKind is a list whose entries lead on by one step, and the request that the step
// is, whether it is there or not.
type stepKind struct {
	list, step string
	request    func(customer string, e map[string]any) (url, body string)
	// harmless says that repeating the step is no error and changes nothing, so that
	// a step which is not shown may be accepted all the same.
	harmless func(e map[string]any) bool
}

func never(map[string]any) bool { return false }

var stepKinds = []stepKind{
	{"activities/quizzes", "answer", func(customer string, e map[string]any) (string, string) {
		return fmt.Sprintf("/customers/%s/activities/quizzes/%s/earn", customer, e["id"]), `{"answer":"a"}`
	}, never},
	{"activities/contests", "enter", func(customer string, e map[string]any) (string, string) {
		return fmt.Sprintf("/customers/%s/activities/contests/%s/enter", customer, e["id"]), ""
	}, never},
	{"activities/treasure-hunts", "find", func(customer string, e map[string]any) (string, string) {
		code := ""
		if e["event"] == "offline_treasure_code_found" {
			code = `,"code":"beans"`
		}
		return "/events", fmt.Sprintf(`{"customer":"%s","action":"%s","data":{"treasure_id":"%s"%s}}`, customer, e["event"], e["id"], code)
	}, never},
	{"activities/offers", "claim", func(customer string, e map[string]any) (string, string) {
		return fmt.Sprintf("/customers/%s/activities/offers/%s/claim", customer, e["id"]), ""
	}, func(e map[string]any) bool { return e["claimed_at"] != nil }},
	{"prize-wheels", "spin", func(customer string, e map[string]any) (string, string) {
		return fmt.Sprintf("/customers/%s/prize-wheels/%s", customer, e["id"]), ""
	}, never},
}

// crossroads is a house where every kind of activity is open, not yet open, over,
// dear, and bounded.
func crossroads(t *testing.T, url string) *house {
	t.Helper()
	h := openOn(t, url, patient)
	h.everyModule()
	for _, dates := range []struct{ id, dates string }{
		{"open", `,"starts_at":"2020-01-01"`}, {"soon", `,"starts_at":"2099-01-01"`}, {"over", `,"ends_at":"2020-01-01"`},
	} {
		h.entity("quizzes/quiz", `{"id":"`+dates.id+`","title":{"en":"Q"},"question":{"en":"Q?"},"answers":[{"id":"a","text":{"en":"A"}},{"id":"b","text":{"en":"B"}}],"correct_answer":"a"`+dates.dates+`}`)
		h.entity("contests/contest", `{"id":"`+dates.id+`","title":{"en":"C"},"max_entries":2`+dates.dates+`}`)
		h.entity("treasure-hunt/treasure", `{"id":"`+dates.id+`","title":{"en":"T"},"kind":"online"`+dates.dates+`}`)
		h.entity("offers/offer", `{"id":"`+dates.id+`","name":{"en":"O"},"type":"cart","discount":{"type":"fixed_price","value":1}`+dates.dates+`}`)
		h.entity("prize-wheels/wheel", `{"id":"`+dates.id+`","name":{"en":"W"},"limit":{"count":1,"period":"ever"},"options":[{"type":"empty","label":{"en":"E"},"weight":1}]`+dates.dates+`}`)
		h.entity("profiling/flow", `{"id":"`+dates.id+`","title":{"en":"F"},"questions":[{"id":"q","field":"gender","text":{"en":"G"}},{"id":"r","field":"language","text":{"en":"L"},"answers":[{"id":"hun","text":{"en":"H"}}]}]`+dates.dates+`}`)
	}

	h.entity("segments/segment", `{"id":"rich","name":"Rich","condition":"customer.score >= 10"}`)
	h.entity("contests/contest", `{"id":"dear","title":{"en":"Dear"},"points":60}`)
	h.entity("treasure-hunt/treasure", `{"id":"coded","title":{"en":"Coded"},"kind":"offline","code":"BEANS"}`)
	h.entity("treasure-hunt/treasure", `{"id":"seen","title":{"en":"Seen"},"kind":"offline"}`)
	h.entity("offers/offer", `{"id":"rich","name":{"en":"O"},"type":"cart","discount":{"type":"fixed_price","value":1},"segments":["rich"]}`)
	h.entity("prize-wheels/wheel", `{"id":"dear","name":{"en":"Dear"},"points":30,"options":[{"type":"empty","label":{"en":"E"},"weight":1}]}`)
	h.entity("rewards/reward", `{"id":"scarce","title":{"en":"Scarce"},"type":"physical","stock":2,"max_claims":1}`)
	h.entity("prize-wheels/wheel", `{"id":"scarce","name":{"en":"Scarce"},"options":[{"type":"reward","label":{"en":"R"},"weight":1,"reward":"scarce"}]}`)
	h.entity("coupons/pool", `{"id":"bare","name":"Bare","source":"uploaded","coupon":{"type":"amount","value":5,"currency":"EUR"}}`)
	h.entity("rewards/reward", `{"id":"bare","title":{"en":"Bare"},"type":"coupon","pool":"bare"}`)
	h.entity("prize-wheels/wheel", `{"id":"bare","name":{"en":"Bare"},"options":[{"type":"reward","label":{"en":"R"},"weight":1,"reward":"bare"}]}`)
	return h
}

// people are customers in every state that decides what they may do.
func (h *house) people(prefix string) (ids []string) {
	h.t.Helper()
	for _, id := range []string{"fresh", "rich", "suspended", "inactive"} {
		ids = append(ids, prefix+id)
		if id != "inactive" {
			h.enrol(prefix + id)
		}
	}

	for _, e := range []string{
		`{"customer":"%srich","action":"point_add","data":{"points":100}}`,
		`{"customer":"%ssuspended","action":"point_add","data":{"points":100}}`,
		`{"customer":"%ssuspended","action":"suspend","data":{}}`,
		`{"customer":"%sinactive","action":"subscribe","data":{"handler":"i"}}`,
	} {
		h.does("/events", fmt.Sprintf(e, prefix))
	}

	return ids
}

// TestCrossroads meets customers in every state where every kind of activity is.
func TestCrossroads(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := crossroads(t, url)
		t.Run("steps lead", func(t *testing.T) { h.during(t).stepsLead(t) })
		t.Run("quotes agree with redeeming", func(t *testing.T) { h.during(t).quotesAgreeWithRedeeming(t) })
	})
}

// stepsLead holds every step of every list against the request that it is: where
// the step is shown the request is accepted, and where it is not it is refused. Three
// rounds, so that what can be done once or twice comes to its end.
func (h *house) stepsLead(t *testing.T) {
	shown, hidden := map[string]int{}, map[string]int{}
	for _, customer := range h.people("s-") {
		for range 3 {
			for _, kind := range stepKinds {
				for _, e := range h.entries("/customers/" + customer + "/" + kind.list + everyStatus) {
					url, body := kind.request(customer, e)
					got := link(e, kind.step)
					a := h.post(url, body)
					about := fmt.Sprintf("%s %s %s: %s", customer, kind.list, e["id"], a.body)
					switch {
					case got != "":
						require.Equal(t, "POST "+url, got)
						require.Equal(t, http.StatusOK, a.status, about)
						shown[kind.step]++
					case kind.harmless(e):
						require.Equal(t, http.StatusOK, a.status, about)
					default:
						require.Equal(t, http.StatusUnprocessableEntity, a.status, about)
						hidden[kind.step]++
					}
				}
			}

			h.profile(customer, shown, hidden)
		}
	}

	for _, step := range []string{"answer", "enter", "find", "claim", "spin", "next"} {
		require.GreaterOrEqual(t, shown[step], 3, step)
		require.GreaterOrEqual(t, hidden[step], 3, step)
	}
}

// profile follows the steps of every flow: to the next question, and to its answer.
func (h *house) profile(customer string, shown, hidden map[string]int) {
	h.t.Helper()
	base := "/customers/" + customer + "/activities/profiling/"
	for _, e := range h.entries(strings.TrimSuffix(base, "/") + everyStatus) {
		next := succeeded(h.t, h.get(base+fmt.Sprint(e["id"])+"/next"))
		about := fmt.Sprintf("%s %s", customer, e["id"])
		require.Equal(h.t, e["completed"], next["completed"], about)
		if got := link(e, "next"); got != "" {
			require.Equal(h.t, "GET "+base+fmt.Sprint(e["id"])+"/next", got)
			body := `{"answer":"x"}`
			if choices, ok := next["question"].(map[string]any)["answers"].([]any); ok {
				body = fmt.Sprintf(`{"answer":"%s"}`, choices[0].(map[string]any)["id"])
			}
			succeeded(h.t, h.post(strings.TrimPrefix(link(next, "answer"), "POST "), body))
			shown["next"]++
			continue
		}

		require.Empty(h.t, link(next, "answer"), about)
		if e["completed"] == false {
			a := h.post(base+fmt.Sprint(e["id"])+"/questions/q", `{"answer":"x"}`)
			require.Equal(h.t, http.StatusUnprocessableEntity, a.status, "%s: %s", about, a.body)
			hidden["next"]++
		}
	}
}
