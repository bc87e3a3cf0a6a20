package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// soon walks a list of rising or falling customers to its end: the customers, with what they lack and when their level
// ends, and how many were examined.
func (s *stadium) soon(target string) (all []string, looked, pages int) {
	s.t.Helper()
	for link := any(target); link != nil; pages++ {
		a := s.sees(link.(string))
		got := a.json(s.t)
		require.Nil(s.t, got["previous"])
		for _, e := range got["data"].([]any) {
			e := e.(map[string]any)
			words := []string{e["customer"].(string)}
			for _, level := range []string{"level", "next"} {
				if l, told := e[level].(map[string]any); told {
					words = append(words, level, l["id"].(string))
				}
			}
			for _, name := range []string{"figure", "missing", "expires_at"} {
				if v, told := e[name]; told {
					words = append(words, fmt.Sprint(v))
				}
			}
			all = append(all, strings.Join(words, " "))
		}

		var n int
		_, err := fmt.Sscan(fmt.Sprint(got["looked_at"]), &n)
		require.NoError(s.t, err)
		looked += n
		link = got["next"]
	}

	return all, looked, pages
}

// TestLevelsSoon: who is near the next level and whose level ends soon, page by page, agree with what each customer's own
// levels say.
func TestLevelsSoon(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newLadder(t, url)
		for i, points := range []int{90, 150, 250, 310, 0, 320} {
			id := fmt.Sprintf("member-%d", i)
			s.enrol(id)
			if points > 0 {
				s.scores(id, points)
			}
		}

		s.happens("member-5", "opt_out", `{}`)
		s.happens("member-2", "suspend", `{}`)
		list := func(target string) []string {
			all, looked, _ := s.soon(target)
			slices.Sort(all) // they come in the order of their ids, all of one instant here
			require.Equal(t, 5, looked, "those who left are not looked at")
			return all
		}

		const rising, falling = "/levels/club/rising", "/levels/club/falling"
		near := []string{"member-0 next silver 90 10", "member-2 level silver next gold 250 50"}
		require.Equal(t, near, list(rising))
		require.Equal(t, near[1:], list(rising + "?share=17")[1:], "51 of 300")
		require.Equal(t, near[:1], list(rising+"?share=16"), "48 of 300")
		require.Equal(t, []string{near[0], "member-1 level silver next gold 150 150", near[1]}, list(rising+"?share=50"))
		require.Equal(t, "member-4 next silver 0 100", list(rising + "?share=100")[3])

		ends := []string{
			"member-1 level silver 150 0 2026-02-06T23:00:00.000Z", "member-2 level silver 250 0 2026-02-06T23:00:00.000Z", "member-3 level gold 310 0 2026-02-06T23:00:00.000Z",
		}
		require.Equal(t, ends, list(falling))
		require.Empty(t, list(falling+"?days=5"))
		require.Equal(t, ends, list(falling+"?days=7"))
		require.Contains(t, s.levels("member-3")[1], "gold current reached 310 lacks 0 since 2026-01-31T21:30:00.000Z expires_at 2026-02-06T23:00:00.000Z", "as they are told themselves")

		all, looked, pages := s.soon(falling + "?limit=1")
		slices.Sort(all)
		require.Equal(t, ends, all, "page by page")
		require.Equal(t, 5, looked)
		require.GreaterOrEqual(t, pages, 3)

		s.happens("member-1", "video", `{"url":"https://shop.test/film"}`) // gives gold, without an end
		require.NotContains(t, strings.Join(list(falling), ","), "member-1")
		s.Wait(24 * time.Hour)
		s.scores("member-0", 15)
		require.Equal(t, "member-0 level silver 105 0 2026-02-06T23:00:00.000Z", list(falling)[0])
		s.Wait(4 * 24 * time.Hour) // what came on the first day is out of the window
		require.Equal(t, []string{"member-0 level silver 15 85 2026-02-06T23:00:00.000Z", "member-2 level silver 0 100 2026-02-06T23:00:00.000Z", "member-3 level gold 0 300 2026-02-06T23:00:00.000Z"}, list(falling))

		require.Empty(t, list("/levels/staff/rising?share=100"), "nothing is counted there")
		require.Equal(t, []string{"member-0 next regular 0 99.5"}, list("/levels/shopper/rising?share=100")[:1])
		s.buys("member-0", "T-1", "80.25")
		require.Equal(t, []string{"member-0 next regular 80.25 19.25"}, list("/levels/shopper/rising"))

		for target, status := range map[string]int{
			"/levels/nothing/rising": 404, "/levels/nothing/falling": 404, rising + "?share=0": 400, rising + "?share=101": 400, falling + "?days=0": 400, falling + "?days=732": 400,
			rising + "?days=3": 400, falling + "?limit=0": 400, rising + "?cursor=AZXmE8Vvc2eUkzZ0m3b0Hg": 400,
		} {
			require.Equal(t, status, s.get(target).status, target)
		}

		next := s.get(falling + "?limit=1").json(t)["next"].(string)
		require.Equal(t, http.StatusBadRequest, s.get(strings.Replace(next, "falling", "rising", 1)).status, "a cursor is its list's")
	})
}

// TestLevelsSoonWalks: a page looks at a thousand customers and goes on behind them.
func TestLevelsSoonWalks(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newLadder(t, url)
		s.crowd("crowd-", 1100, 0)
		for _, n := range []string{"crowd-3", "crowd-1050", "crowd-1099"} {
			s.scores(n, 95)
		}
		all, looked, pages := s.soon("/levels/club/rising")
		slices.Sort(all)
		require.Equal(t, []string{"crowd-1050 next silver 95 5", "crowd-1099 next silver 95 5", "crowd-3 next silver 95 5"}, all)
		require.Equal(t, []int{1100, 2}, []int{looked, pages})
	})
}
