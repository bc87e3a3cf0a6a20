package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// stadium is a house whose events are recorded by a clock of the test's own, in
// Budapest.
type stadium struct {
	*house
	*loyaltytest.Clock
}

// saturday is an hour and a half before midnight in Budapest, on the last day of a
// month and the last but one of a week.
var saturday = time.Date(2026, 1, 31, 21, 30, 0, 0, time.UTC)

func newStadium(t *testing.T, url string, options ...func(*server.Options)) *stadium {
	t.Helper()
	s := &stadium{Clock: loyaltytest.NewClock(saturday)}
	s.house = openWith(t, url, func(o *engine.EngineOptions) { o.Clock = s.Now }, append(options, patient)...)
	require.Equal(t, http.StatusOK, s.post("/admin/settings", `{"time_zone":"Europe/Budapest"}`).status)
	return s
}

func (s *stadium) scores(customer string, points int) {
	s.t.Helper()
	action := "point_add"
	if points < 0 {
		action, points = "point_sub", -points
	}
	s.happens(customer, action, fmt.Sprintf(`{"points":%d}`, points))
}

// buys buys one thing, a point for each whole unit of its price.
func (s *stadium) buys(customer, transaction, total string) {
	s.t.Helper()
	const line = `{"product_id":"p-1","product_name":"Cup","product_url":"https://shop.test/p-1","quantity":1,"subtotal":%s}`
	s.happens(customer, "checkout", fmt.Sprintf(`{"transaction_id":%q,"total":%s,"items":[`+line+`]}`, transaction, total, total))
}

// board reads a board as text: the rank, the last digits of the id and the score of
// each. It is read at once, so what was sent before is on it.
func (s *stadium) board(query string) string {
	s.t.Helper()
	a := s.sees("/customers/leaderboard?" + query)
	return ranksOf(a.json(s.t)["data"])
}

func ranksOf(entries any) string {
	var all []string
	for _, e := range entries.([]any) {
		e := e.(map[string]any)
		all = append(all, fmt.Sprint(e["rank"], ":", strings.TrimPrefix(e["id"].(string), "member-100"), "=", e["score"]))
	}
	return strings.Join(all, " ")
}

// standing reads where a customer stands, in the same words.
func (s *stadium) standing(customer, query string) string {
	s.t.Helper()
	got := succeeded(s.t, s.get("/customers/"+customer+"/leaderboard?"+query))
	rank, ranked := got["rank"]
	if !ranked {
		rank = "-"
	}
	return fmt.Sprint(rank, " ", got["score"], " of ", ranksOf(got["neighbours"]))
}

// spec: service.api.leaderboard
func TestLeaderboard(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newStadium(t, url)
		require.Empty(t, s.board(""), "nobody yet")
		for i := 1; i <= 7; i++ {
			s.enrol(fmt.Sprint("member-100", i))
			s.Wait(time.Millisecond) // who joined last stands first among equals
		}

		t.Run("ties", s.ties)
		t.Run("what is shown", s.shows)
		t.Run("pages", s.pages)
		t.Run("neighbours", s.neighbours)
		t.Run("midnight", s.midnight)
		t.Run("statuses", s.statuses)
		t.Run("refunds", s.refunds)
		t.Run("merges", s.merges)
		t.Run("another zone", s.anotherZone)
	})
}

// TestBoardsWithoutIDs: with show_ids off neither a board nor what surrounds a
// customer says an id; ranks, scores and pages stay what they were.
func TestBoardsWithoutIDs(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newStadium(t, url)
		for i, handler := range []string{"one", "two", "three"} {
			id := fmt.Sprint("member-100", i+1)
			s.enrol(id)
			s.Wait(time.Millisecond)
			s.happens(id, "profile", `{"handler":"`+handler+`"}`)
			s.scores(id, 30-10*i)
		}

		require.Equal(t, "1:1=30 2:2=20 3:3=10", s.board(""), "ids are shown")
		hidden := func(target string) answer {
			a := s.sees(target)
			require.NotContains(t, a.body, "member-100", target)
			return a
		}

		require.Equal(t, http.StatusOK, s.post("/admin/modules/leaderboard", `{"enabled":true,"config":{"show_ids":false}}`).status)
		for _, period := range []string{"all", "year", "month", "week", "day"} {
			var walked []string
			for link := any("/customers/leaderboard?limit=2&period=" + period); link != nil; {
				page := hidden(link.(string)).json(t)
				for _, e := range page["data"].([]any) {
					walked = append(walked, fmt.Sprint(e))
				}
				link = page["next"]
			}
			require.Equal(t, []string{"map[handler:one rank:1 score:30]", "map[handler:two rank:2 score:20]", "map[handler:three rank:3 score:10]"}, walked, period)
		}

		around := succeeded(t, s.get("/customers/member-1002/leaderboard"))
		require.Equal(t, "[map[handler:one rank:1 score:30] map[handler:two rank:2 score:20] map[handler:three rank:3 score:10]]", fmt.Sprint(around["neighbours"]))
		require.Equal(t, "2 20", fmt.Sprint(around["rank"], " ", around["score"]))
		require.Equal(t, http.StatusOK, s.post("/admin/modules/leaderboard", `{"config":{"show_ids":true}}`).status)
		require.Equal(t, "1:1=30 2:2=20 3:3=10", s.board(""), "and they are shown again")
	})
}

func (s *stadium) ties(t *testing.T) {
	for customer, points := range map[string]int{"member-1001": 30, "member-1002": 20, "member-1003": 20, "member-1004": 10} {
		s.scores(customer, points)
	}
	const want = "1:1=30 2:3=20 2:2=20 4:4=10"
	for _, query := range []string{"", "period=all", "period=year", "period=month", "period=week", "period=day", "period=day&previous=false"} {
		require.Equal(t, want, s.board(query), query)
	}
	require.Empty(t, s.board("period=day&previous=true"))
	require.Empty(t, s.board("period=all&previous=true"))
	s.happens("member-1001", "point_spend", `{"points":30}`)
	require.Equal(t, want, s.board(""), "what is spent still was earned")
}

func (s *stadium) shows(t *testing.T) {
	s.happens("member-1001", "profile", `{"handler":"m1001","image_url":"https://shop.test/member-1001.png","first_name":"Sample","birth_date":"1990-05-17"}`)
	got := s.get("/customers/leaderboard?period=week&limit=1").json(t)
	require.Equal(t, map[string]any{"name": "week", "starts_at": "2026-01-25T23:00:00.000Z", "ends_at": "2026-02-01T23:00:00.000Z"}, got["period"])
	entry := got["data"].([]any)[0].(map[string]any)
	require.Equal(t, "map[handler:m1001 id:member-1001 image_url:https://shop.test/member-1001.png rank:1 score:30]", fmt.Sprint(entry))
	require.Equal(t, map[string]any{"name": "all"}, s.get("/customers/leaderboard").json(t)["period"])
	for _, query := range []string{"period=decade", "period=", "previous=maybe", "limit=0", "limit=1001", "cursor=x", "sort=score"} {
		require.Equal(t, http.StatusBadRequest, s.get("/customers/leaderboard?"+query).status, query)
	}
	require.Equal(t, http.StatusNotFound, s.get("/customers/nobody/leaderboard").status)
	refused(t, s.post("/events", `{"customer":"leaderboard","action":"opt_in","data":{"email":"l@shop.test"}}`), http.StatusBadRequest, 190014)
}

func (s *stadium) pages(t *testing.T) {
	var walked []string
	link := any("/customers/leaderboard?period=day&limit=2")
	var second string
	for link != nil {
		got := s.get(link.(string)).json(t)
		walked = append(walked, ranksOf(got["data"]))
		link = got["next"]
		if len(walked) == 1 {
			second = link.(string)
			s.scores("member-1005", 25) // among those who were read already
		}
	}

	require.Equal(t, []string{"1:1=30 2:5=25", "3:3=20 3:2=20", "5:4=10"}, append([]string{s.board("period=day&limit=2")}, s.board("period=day&limit=2&offset=2"), s.board("period=day&limit=2&offset=4")))
	require.Equal(t, []string{"1:1=30 2:3=20", "3:2=20 5:4=10"}, walked, "the walk goes on behind the last one it saw")
	back := s.get(second).json(t)["previous"].(string)
	require.Equal(t, "2:5=25 3:3=20", ranksOf(s.get(back).json(t)["data"]))
	require.Equal(t, http.StatusBadRequest, s.get(strings.Replace(second, "period=day", "period=week", 1)).status)

	s.Wait(3 * time.Hour) // beyond midnight
	require.Empty(t, s.board("period=day"))
	require.Equal(t, "3:2=20 5:4=10", ranksOf(s.get(second).json(t)["data"]), "the walk stays on its board")
	s.Wait(-3 * time.Hour)
	s.scores("member-1005", -25)
}

func (s *stadium) neighbours(t *testing.T) {
	require.Equal(t, "1:1=30 2:3=20 2:2=20 4:4=10 5:5=0", s.board("period=day"), "what was taken back leaves nothing, but happened")
	require.Equal(t, "2 20 of 1:1=30 2:3=20 2:2=20 4:4=10", s.standing("member-1003", "period=day"))
	require.Equal(t, "2 20 of 2:3=20 2:2=20 4:4=10", s.standing("member-1002", "period=week&neighbours=1"))
	require.Equal(t, "1 30 of 1:1=30 2:3=20 2:2=20", s.standing("member-1001", ""))
	require.Equal(t, "5 0 of 2:2=20 4:4=10 5:5=0", s.standing("member-1005", "period=year"))
	require.Equal(t, "4 10 of 4:4=10", s.standing("member-1004", "neighbours=0"))
	require.Equal(t, "4 10 of 1:1=30 2:3=20 2:2=20 4:4=10 5:5=0", s.standing("member-1004", "neighbours=100"))
	require.Equal(t, "- 0 of ", s.standing("member-1006", ""), "nothing moved the score")
	require.Equal(t, "- 0 of ", s.standing("member-1001", "period=all&previous=true"))
	for _, query := range []string{"neighbours=-1", "neighbours=101", "neighbours=x", "limit=3"} {
		require.Equal(t, http.StatusBadRequest, s.get("/customers/member-1001/leaderboard?"+query).status, query)
	}
}

// midnight: the days, weeks and months are Budapest's.
func (s *stadium) midnight(t *testing.T) {
	s.Wait(2 * time.Hour) // Sunday, 1 February, half past midnight; in UTC it is still Saturday
	s.scores("member-1006", 5)
	for query, want := range map[string]string{
		"period=day": "1:6=5", "period=month": "1:6=5", "period=day&previous=true&limit=2": "1:1=30 2:3=20",
		"period=month&previous=true&limit=1": "1:1=30", "period=week&limit=1": "1:1=30", "period=year&limit=1": "1:1=30",
		"period=week&previous=true": "", "period=year&previous=true": "",
	} {
		require.Equal(t, want, s.board(query), query)
	}

	s.happens("member-1006", "point_add", `{"points":7,"effective_timestamp":"2026-01-31T22:59:59Z"}`)
	s.happens("member-1006", "point_add", `{"points":2,"effective_timestamp":"2026-01-31T23:00:00Z"}`)
	require.Equal(t, "1:6=7", s.board("period=day"), "an event counts on the day of its date")
	require.Equal(t, "5 7 of 5:6=7", s.standing("member-1006", "period=day&previous=true&neighbours=0"))
	s.Wait(24 * time.Hour) // Monday
	s.scores("member-1006", 1)
	require.Equal(t, "1:6=1", s.board("period=day"))
	require.Equal(t, "1:6=1", s.board("period=week"))
	require.Equal(t, "1:6=8", s.board("period=month"))
	require.Equal(t, "1:1=30 2:3=20 2:2=20 4:6=14", s.board("period=week&previous=true&limit=4"))
	require.Equal(t, "2026-02-01T23:00:00.000Z", s.get("/customers/leaderboard?period=week").json(t)["period"].(map[string]any)["starts_at"])
}

func (s *stadium) statuses(t *testing.T) {
	s.happens("member-1001", "suspend", `{}`)
	require.Equal(t, "1:3=20 1:2=20 3:6=15 4:4=10 5:5=0", s.board(""))
	require.Equal(t, "- 30 of ", s.standing("member-1001", ""))
	s.scores("member-1001", 4)
	s.happens("member-1001", "unsuspend", `{}`)
	require.Equal(t, "1:1=34 2:3=20", s.board("limit=2"), "back with everything")
	s.happens("member-1003", "opt_out", `{}`)
	require.Equal(t, "1:1=34 2:2=20 3:6=15 4:4=10 5:5=0", s.board(""))
}

func (s *stadium) refunds(t *testing.T) {
	s.buys("member-1004", "T-1", "60")
	require.Equal(t, "1:4=60 2:6=8 3:1=4", s.board("period=month"))
	s.Wait(24 * time.Hour)
	s.happens("member-1004", "refund", `{"transaction_id":"T-1"}`)
	require.Equal(t, "1:4=-60", s.board("period=day"), "the day on which it is given back")
	require.Equal(t, "1:6=8 2:1=4 3:4=0", s.board("period=month"))
	require.Equal(t, "1:1=34 2:2=20 3:6=15 4:4=10 5:5=0", s.board(""))
}

func (s *stadium) merges(t *testing.T) {
	s.scores("member-1007", 100)
	require.Equal(t, "1:7=100 2:4=-60", s.board("period=day"))
	s.Wait(24 * time.Hour)
	require.Equal(t, http.StatusOK, s.post("/customers/member-1007/merge", `{"target":"member-1002"}`).status)
	require.Empty(t, s.board("period=day"), "nobody scored anything by it")
	require.Equal(t, "1:2=100 2:4=-60", s.board("period=day&previous=true"), "what the other one scored is the survivor's")
	require.Equal(t, "1:2=120 2:1=34 3:6=15 4:4=10 5:5=0", s.board(""))
	require.Equal(t, "1 120 of 1:2=120 2:1=34", s.standing("member-1007", "neighbours=1"), "the survivor answers")
	s.happens("member-1007", "point_add", `{"points":1}`)
	require.Equal(t, "1:2=1", s.board("period=day"))
}

// anotherZone: the days are others, and so is what was scored in them.
func (s *stadium) anotherZone(t *testing.T) {
	s.Wait(6 * time.Hour) // half an hour after midnight in New York
	s.scores("member-1006", 2)
	require.Equal(t, "1:6=2 2:2=1", s.board("period=day"))
	require.Equal(t, http.StatusOK, s.post("/admin/settings", `{"time_zone":"America/New_York"}`).status)
	require.Equal(t, "1:6=2", s.board("period=day"))
	require.Equal(t, "1:2=1", s.board("period=day&previous=true"))
	require.Equal(t, "2026-02-04T05:00:00.000Z", s.get("/customers/leaderboard?period=day").json(t)["period"].(map[string]any)["starts_at"])
	require.Equal(t, "1:2=121 2:1=34 3:6=17 4:4=10 5:5=0", s.board(""))
}

// TestLeaderboardUnbuilt: what is not counted yet is not shown, and the job counts
// what readers have no time for.
func TestLeaderboardUnbuilt(t *testing.T) {
	h := open(t, func(o *server.Options) {
		o.Leaderboard = leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{Store: o.Reader.(loyalty.JobStore), Programmes: o.Directory, Patience: -1})
	})
	h.enrol("member-1001")
	add := `{"customer":"member-1001","action":"point_add","data":{"points":10}}`
	require.Equal(t, http.StatusOK, h.post("/events", add).status)
	for _, target := range []string{"/customers/leaderboard", "/customers/member-1001/leaderboard?period=day"} {
		a := h.get(target)
		refused(t, a, http.StatusServiceUnavailable, 190270)
		require.Equal(t, "1", a.header.Get("Retry-After"))
	}

	counted := func() {
		require.Equal(t, http.StatusOK, h.post("/admin/jobs/leaderboard/run", "").status)
	}
	counted()
	require.Equal(t, "1:1=10", ranksOf(h.get("/customers/leaderboard").json(t)["data"]))
	require.Equal(t, http.StatusOK, h.post("/events", add).status)
	day := h.get("/customers/leaderboard?period=day").json(t)
	require.Equal(t, "1:1=10", ranksOf(day["data"]), "there was no time for more")
	require.Contains(t, day["period"], "as_of")
	counted()
	require.Equal(t, "1:1=20", ranksOf(h.get("/customers/leaderboard?period=day").json(t)["data"]))
}

// TestLeaderboardCountedAnew: while days are counted by another zone, the boards of before are shown with the instant up to which they
// count. The board of all time goes on, and a customer who leaves stands on no board.
func TestLeaderboardCountedAnew(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		var s *stadium
		s = newStadium(t, url, func(o *server.Options) {
			o.Leaderboard = leaderboard.NewLeaderboard(leaderboard.LeaderboardOptions{
				Store: o.Reader.(loyalty.JobStore), Programmes: o.Directory, Patience: -1,
				Clock: func() time.Time { return s.Now() },
			})
		})

		for i := range 3 {
			id := fmt.Sprint("member-", 1001+i)
			s.enrol(id)
			s.scores(id, 10*(i+1))
		}

		counted := func() { require.Equal(t, http.StatusOK, s.post("/admin/jobs/leaderboard/run", "").status) }
		period := func() map[string]any {
			return s.get("/customers/leaderboard?period=day").json(t)["period"].(map[string]any)
		}
		counted()
		before, asOf := period(), s.Now().Format("2006-01-02T15:04:05.000Z")
		require.Equal(t, "1:3=30 2:2=20 3:1=10", s.board("period=day"))

		for _, zone := range []string{"Asia/Tokyo", "Pacific/Auckland"} { // the second one before the first was counted
			s.Wait(time.Minute)
			require.Equal(t, http.StatusOK, s.post("/admin/settings", `{"time_zone":"`+zone+`"}`).status)
			require.Equal(t, "1:3=30 2:2=20 3:1=10", s.board("period=day"))
			require.Equal(t, before["starts_at"], period()["starts_at"])
			require.Equal(t, asOf, period()["as_of"])
		}

		s.scores("member-1001", 100)
		s.happens("member-1003", "opt_out", `{}`)
		counted()
		require.Equal(t, "1:1=110 2:2=20", s.board(""))
		require.Equal(t, "1:1=110 2:2=20", s.board("period=day"))
		require.NotEqual(t, before["starts_at"], period()["starts_at"])

		var left int
		require.NoError(t, storetest.Raw(t, url).QueryRow(`SELECT count(*) FROM rankings`).Scan(&left))
		require.Equal(t, 3*5, left, "of the set of before nothing is left")
	})
}

// TestLeaderboardScores: the bands of a board hold every customer on it, once each, and agree with the board itself.
//
// spec: service.api.leaderboard
func TestLeaderboardScores(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newStadium(t, url)
		bands := func(query string) (all []string) {
			t.Helper()
			got := succeeded(t, s.get("/customers/leaderboard/scores?"+query))
			for _, b := range got["bands"].([]any) {
				b := b.(map[string]any)
				all = append(all, fmt.Sprint(b["from"], "-", b["to"], ":", b["customers"]))
			}
			return append(all, fmt.Sprint(got["customers"]))
		}

		require.Equal(t, []string{"0"}, bands(""), "nobody is on it")
		scores := []int{-30, 0, 1, 99, 100, 101, 5000, 5000, 12_345, 1_000_000}
		for i, n := range scores {
			id := fmt.Sprintf("member-%d", i)
			s.enrol(id)
			s.scores(id, max(n, 1))
			if n < 1 {
				s.scores(id, n-1)
			}
		}

		require.Equal(t, []string{"-1000000--1:1", "0-999999:8", "1000000-1999999:1", "10"}, bands("bands=3"))
		whole := bands("bands=50")
		require.Len(t, whole, 1+22, "of 50,000 each")
		require.Equal(t, []string{"-50000--1:1", "0-49999:8", "50000-99999:0"}, whole[:3])
		require.Equal(t, whole[len(whole)-2:], []string{"1000000-1049999:1", "10"})
		s.happens("member-9", "suspend", `{}`)
		s.happens("member-8", "opt_out", `{}`)
		require.Equal(t, []string{"-1000--1:1", "0-999:5", "1000-1999:0", "2000-2999:0", "3000-3999:0", "4000-4999:0", "5000-5999:2", "8"}, bands("bands=10"))
		require.Equal(t, bands(""), bands("period=month"))
		require.Equal(t, []string{"0"}, bands("previous=true"))
		for i := range scores[6:8] {
			s.scores(fmt.Sprintf("member-%d", 6+i), -5000)
		}

		require.Equal(t, []string{"-50--1:1", "0-49:4", "50-99:1", "100-149:2", "8"}, bands("bands=4"))
		for _, query := range []string{"bands=1", "bands=51", "limit=3", "period=decade"} {
			require.Equal(t, http.StatusBadRequest, s.get("/customers/leaderboard/scores?"+query).status, query)
		}
	})
}

// TestBoardsThatCannotBeCounted: while the database takes no count, the last whole board is shown with
// the instant up to which it counts; it goes on where it can be counted again.
func TestBoardsThatCannotBeCounted(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newStadium(t, url)
		s.enrol("member-1001")
		s.enrol("member-1002")
		s.scores("member-1001", 10)
		period := func(path string) map[string]any {
			t.Helper()
			return s.sees(path).json(t)["period"].(map[string]any)
		}

		require.NotContains(t, period("/customers/leaderboard?period=week"), "as_of")
		whole := s.board("period=week")

		halt, resume := []string{
			`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'nothing is counted'; END $$`,
			`CREATE TRIGGER halt BEFORE INSERT OR UPDATE ON rankings FOR EACH ROW EXECUTE FUNCTION refuse()`,
		}, []string{`DROP TRIGGER halt ON rankings`}

		if !strings.HasPrefix(url, "postgres") {
			halt = []string{`CREATE TRIGGER halt BEFORE INSERT ON rankings BEGIN SELECT RAISE(ABORT, 'nothing is counted'); END`,
				`CREATE TRIGGER halt_update BEFORE UPDATE ON rankings BEGIN SELECT RAISE(ABORT, 'nothing is counted'); END`}
			resume = []string{`DROP TRIGGER halt`, `DROP TRIGGER halt_update`}
		}

		raw := storetest.Raw(t, url)
		for _, statement := range halt {
			_, err := raw.Exec(statement)
			require.NoError(t, err)
		}

		s.scores("member-1002", 20)
		require.Equal(t, whole, s.board("period=week"), "the last whole board")
		require.Equal(t, "2026-01-31T21:30:00.000Z", period("/customers/leaderboard?period=week")["as_of"])
		require.Equal(t, "2026-01-31T21:30:00.000Z", succeeded(t, s.get("/customers/leaderboard/scores?period=week"))["period"].(map[string]any)["as_of"])
		for _, statement := range resume {
			_, err := raw.Exec(statement)
			require.NoError(t, err)
		}

		require.NotEqual(t, whole, s.board("period=week"))
		require.NotContains(t, period("/customers/leaderboard?period=week"), "as_of")
	})
}
