package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// ladder is what the levels of the test are made of, in the order in which it must be
// made.
var ladder = [][2]string{
	{"tiers/structure", `{"id":"club","name":"Club","base":"points","window":{"kind":"rolling","days":5},"downgrade":"automatic","grace_days":2}`},
	{"tiers/tier", `{"id":"gold","structure":"club","name":{"en":"Gold","hu":"Arany"},"threshold":300,"benefits":{"free_delivery":true,"discount":2.50}}`},
	{"tiers/tier", `{"id":"silver","structure":"club","name":{"en":"Silver"},"threshold":100}`},
	{"tiers/structure", `{"id":"empty","name":"Without levels","base":"points"}`},
	{"tiers/structure", `{"id":"shopper","name":"Shoppers","base":"spend"}`},
	{"tiers/tier", `{"id":"regular","structure":"shopper","name":{"en":"Regular"},"threshold":99.5}`},
	{"tiers/structure", `{"id":"staff","name":"Staff","base":"manual"}`},
	{"tiers/tier", `{"id":"helper","structure":"staff","name":{"en":"Helper"},"threshold":0}`},
	{"tiers/tier", `{"id":"head","structure":"staff","name":{"en":"Head"},"threshold":1}`},
	{"automation/campaign", `{"id":"hire","name":"Hire","trigger":"visit","effects":[{"type":"tier","tier":"head"}],"status":"active"}`},
	{"automation/campaign", `{"id":"gift","name":"Gift","trigger":"video","effects":[{"type":"tier","tier":"gold"}],"status":"active"}`},
}

func newLadder(t *testing.T, url string) *stadium {
	t.Helper()
	s := newStadium(t, url)
	for _, e := range ladder {
		s.makes("/entities/"+e[0], e[1])
	}
	return s
}

// levels reads where a customer stands: of each level the id, its marks, the figure
// and what it lacks, and since and until when, in the programme's days.
func (s *stadium) levels(customer string) []string {
	s.t.Helper()
	a := s.sees("/customers/" + customer + "/levels")
	var all []string
	for _, l := range a.json(s.t)["data"].([]any) {
		l := l.(map[string]any)
		words := []string{l["id"].(string)}
		for _, mark := range []string{"current", "reached", "next", "manual"} {
			if l[mark] == true {
				words = append(words, mark)
			}
		}

		if _, counted := l["figure"]; counted {
			words = append(words, fmt.Sprint(l["figure"], " lacks ", l["missing"]))
		}

		for _, instant := range []string{"since", "expires_at"} {
			if at, told := l[instant]; told {
				words = append(words, instant+" "+at.(string))
			}
		}

		all = append(all, strings.Join(words, " "))
	}

	return all
}

// spec: service.api.levels
func TestLevels(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newLadder(t, url)
		t.Run("catalogue", s.catalogue)
		s.enrol("member-1001")
		t.Run("points", s.climbs)
		t.Run("spend", s.spends)
		t.Run("given", s.given)
		t.Run("other customers", s.strangers)
		t.Run("by hand", s.byHand)
		t.Run("foretold", s.foretells)
		t.Run("module", s.switchedOff)
	})
}

func (s *stadium) catalogue(t *testing.T) {
	got := s.get("/levels").json(t)
	require.Nil(t, got["next"])
	var ids []string
	for _, l := range got["data"].([]any) {
		ids = append(ids, l.(map[string]any)["id"].(string))
	}

	require.Equal(t, []string{"silver", "gold", "regular", "helper", "head"}, ids)
	require.Contains(t, s.get("/levels", "Accept-language", "hu").body,
		`{"benefits":{"discount":2.50,"free_delivery":true},"id":"gold","name":"Arany","structure":{"base":"points","id":"club","name":"Club"},"threshold":300}`)
	require.Contains(t, s.get("/levels").body, `{"benefits":{},"id":"regular","name":"Regular","structure":{"base":"spend","currency":"EUR","id":"shopper","name":"Shoppers"},"threshold":99.5}`)

	page := s.get("/levels?limit=2&offset=1").json(t)
	require.Len(t, page["data"], 2)
	require.Equal(t, "gold", page["data"].([]any)[0].(map[string]any)["id"])
	next := s.get(page["next"].(string)).json(t)
	require.Len(t, next["data"], 2)
	require.Nil(t, next["next"])
	require.Equal(t, http.StatusBadRequest, s.get("/levels?limit=0").status)
	require.Equal(t, http.StatusBadRequest, s.get("/levels?structure=club").status)

	s.makes("/entities/tiers/tier", `{"id":"spare","structure":"club","name":{"en":"Spare"},"threshold":500}`)
	require.Contains(t, s.get("/levels").body, "spare")
	require.Equal(t, http.StatusOK, s.post("/entities/tiers/tier/spare/archive", "").status)
	require.NotContains(t, s.get("/levels").body, "spare")
}

// climbs goes up and down a window of five days with two of grace.
func (s *stadium) climbs(t *testing.T) {
	club := func() []string { return s.levels("member-1001")[:2] }
	require.Equal(t, []string{"silver next 0 lacks 100", "gold 0 lacks 300"}, club())
	s.scores("member-1001", 150)
	require.Equal(t, []string{
		"silver current reached 150 lacks 0 since 2026-01-31T21:30:00.000Z expires_at 2026-02-06T23:00:00.000Z",
		"gold next 150 lacks 150",
	}, club())

	s.Wait(24 * time.Hour)
	s.scores("member-1001", 160)
	require.Equal(t, []string{
		"silver reached 310 lacks 0",
		"gold current reached 310 lacks 0 since 2026-02-01T21:30:00.000Z expires_at 2026-02-06T23:00:00.000Z",
	}, club())

	s.Wait(4 * 24 * time.Hour) // 5 February: the first ones have left the window
	require.Equal(t, []string{
		"silver reached 160 lacks 0",
		"gold current reached 160 lacks 140 since 2026-02-01T21:30:00.000Z expires_at 2026-02-06T23:00:00.000Z",
	}, club(), "in its grace")

	s.Wait(2 * 24 * time.Hour) // no request at midnight
	require.Equal(t, []string{"silver next 0 lacks 100", "gold 0 lacks 300"}, club(), "everything has left the window by then")
	s.scores("member-1001", -5)
	require.Equal(t, []string{"silver next -5 lacks 105", "gold -5 lacks 305"}, club())
}

func (s *stadium) spends(t *testing.T) {
	s.buys("member-1001", "T-1", "60.25")
	require.Equal(t, "regular next 60.25 lacks 39.25", s.levels("member-1001")[2])
	s.buys("member-1001", "T-2", "39.25")
	require.Equal(t, "regular current reached 99.5 lacks 0 since 2026-02-07T21:30:00.000Z", s.levels("member-1001")[2])
	s.happens("member-1001", "refund", `{"transaction_id":"T-1"}`)
	require.Equal(t, "regular current reached 39.25 lacks 60.25 since 2026-02-07T21:30:00.000Z", s.levels("member-1001")[2], "nobody comes down here")
}

func (s *stadium) given(t *testing.T) {
	require.Equal(t, []string{"helper", "head"}, s.levels("member-1001")[3:])
	s.happens("member-1001", "visit", `{"url":"https://shop.test/"}`)
	require.Equal(t, []string{"helper reached", "head current reached manual since 2026-02-07T21:30:00.000Z"}, s.levels("member-1001")[3:])
	s.happens("member-1001", "video", `{"url":"https://shop.test/film"}`)
	got := s.levels("member-1001")
	require.Equal(t, "silver reached 34 lacks 66", got[0])
	require.Regexp(t, `^gold current reached manual 34 lacks 266 since 2026-02-07T21:30:00.000Z`, got[1])
}

func (s *stadium) strangers(t *testing.T) {
	require.Equal(t, http.StatusNotFound, s.get("/customers/nobody/levels").status)
	s.enrol("member-1002")
	s.scores("member-1002", 100)
	s.happens("member-1002", "suspend", `{}`)
	require.Contains(t, s.levels("member-1002")[0], "silver current reached 100")
	require.Equal(t, http.StatusOK, s.post("/customers/member-1002/merge", `{"target":"member-1001"}`).status)
	require.Equal(t, s.levels("member-1001"), s.levels("member-1002"))
	page := s.get("/customers/member-1001/levels?limit=1&offset=1").json(t)
	require.Equal(t, "gold", page["data"].([]any)[0].(map[string]any)["id"])
	require.NotNil(t, page["next"])
}

// byHand gives levels by the operation, by body and by form, and is refused what cannot be.
func (s *stadium) byHand(t *testing.T) {
	s.enrol("member-1003")
	to := "/customers/member-1003/levels"
	a := s.does(to, `{"structure":"club","tier":"gold","expdate":"2027-01-01","reason":"moved here"}`)
	given := a.json(t)["data"].(map[string]any)
	require.Equal(t, "2027-01-01T22:59:59.999Z", given["expires_at"], "the day's last instant in the programme's zone")
	require.Equal(t, []any{"member-1003", "club", "gold"}, []any{given["customer"], given["structure"], given["tier"]})
	require.Contains(t, s.levels("member-1003")[1], "gold current reached manual 0 lacks 300")
	history := s.get("/customers/member-1003/events?action=tier_change").json(t)["data"].([]any)
	require.Len(t, history, 1)
	require.Equal(t, map[string]any{"structure": "club", "tier": "gold", "expdate": "2027-01-01T22:59:59.999Z", "reason": "moved here"}, history[0].(map[string]any)["data"])

	a = s.form(to, "structure=club&tier=silver")
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.NotContains(t, a.json(t)["data"], "expires_at")
	require.Contains(t, s.levels("member-1003")[0], "silver current reached manual 0 lacks 100", "down too")

	for body, want := range map[string]struct {
		status, code int
		field        string
	}{
		`{"tier":"gold"}`:                                           {http.StatusBadRequest, 0, "structure"},
		`{"structure":"club"}`:                                      {http.StatusBadRequest, 0, "tier"},
		`{"structure":"none","tier":"gold"}`:                        {http.StatusNotFound, 190123, "structure"},
		`{"structure":"club","tier":"none"}`:                        {http.StatusNotFound, 190122, "tier"},
		`{"structure":"club","tier":"regular"}`:                     {http.StatusNotFound, 190122, "tier"}, // of another structure
		`{"structure":"club","tier":"gold","expdate":"2020-01-01"}`: {http.StatusBadRequest, 190010, "expdate"},
		`{"structure":"club","tier":"gold","expdate":"some day"}`:   {http.StatusBadRequest, 190010, "expdate"},
	} {
		a := s.post(to, body)
		require.Equal(t, want.status, a.status, "%s: %s", body, a.body)
		require.Equal(t, want.code, a.fault(t).Code, body)
		require.Equal(t, []string{want.field}, a.fault(t).fields(), body)
	}

	refused(t, s.post("/customers/nobody/levels", `{"structure":"club","tier":"gold"}`), http.StatusNotFound, 160212)
	require.Equal(t, http.StatusOK, s.post("/events", `{"customer":"member-1004","action":"subscribe","data":{"handler":"m1004"}}`).status)
	refused(t, s.post("/customers/member-1004/levels", `{"structure":"club","tier":"gold"}`), http.StatusUnprocessableEntity, 190041)
}

// foretells: a figure that is too low today keeps its level where a day below zero leaves the window first, and what
// is told of its end comes true.
func (s *stadium) foretells(t *testing.T) {
	s.enrol("member-1007")
	s.scores("member-1007", -40)
	s.Wait(4 * 24 * time.Hour)
	s.scores("member-1007", 150)
	s.scores("member-1007", -20)
	silver := func() string { return s.levels("member-1007")[0] }
	require.Equal(t, "silver current reached 90 lacks 10 since 2026-02-11T21:30:00.000Z expires_at 2026-02-17T23:00:00.000Z", silver())
	s.Wait(24 * time.Hour)
	require.Equal(t, "silver current reached 130 lacks 0 since 2026-02-11T21:30:00.000Z expires_at 2026-02-17T23:00:00.000Z", silver())
	s.Wait(5 * 24 * time.Hour)
	require.Equal(t, "silver current reached 0 lacks 100 since 2026-02-11T21:30:00.000Z expires_at 2026-02-17T23:00:00.000Z", silver(), "its last day")
	s.Wait(24 * time.Hour)
	require.Equal(t, "silver next 0 lacks 100", silver())
}

func (s *stadium) switchedOff(t *testing.T) {
	require.Equal(t, http.StatusOK, s.post("/admin/modules/tiers", `{"enabled":false}`).status)
	refused(t, s.get("/levels"), http.StatusNotFound, 160600)
	refused(t, s.get("/customers/member-1001/levels"), http.StatusNotFound, 160600)
	refused(t, s.post("/customers/member-1001/levels", `{"structure":"club","tier":"gold"}`), http.StatusNotFound, 160600)
}
