package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/tail"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// fed is a row of the feed.
type fed struct {
	Sequence   int64
	Cursor     string
	Type       string
	CustomerID string `json:"customer_id"`
	ID         string
	Action     string
	KeyID      string `json:"key_id"`
	ActorKind  string `json:"actor_kind"`
	Customer   *struct{ ID string }
	Data       map[string]any
	Postings   []struct {
		From, To, Lot string
		Points        int64
	}
}

// fedPage is a page of the feed.
type fedPage struct {
	Data []fed
	Next string
	Head int64
	Lag  int64 `json:"lag_ms"`
}

func (h *house) feed(query string, headers ...string) fedPage {
	h.t.Helper()
	a := h.sees("/events/feed"+query, headers...)
	var p fedPage
	require.NoError(h.t, json.Unmarshal([]byte(a.body), &p), a.body)
	return p
}

// numbered numbers what the node committed.
func (h *house) numbered() {
	h.t.Helper()
	require.NoError(h.t, h.store.NumberOwn(h.t.Context()))
}

// watched numbers what the node commits, as its jobs do.
func (h *house) watched() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tail.Watch(ctx, h.store, func(error) {})
	}()
	h.t.Cleanup(func() { stop(); <-ended })
}

// stream opens the feed in another form; the caller closes the body.
func (h *house) stream(ctx context.Context, form, query string, headers ...string) *http.Response {
	h.t.Helper()
	transport := &signing.Transport{Scheme: signing.Default(region), Credential: h.key}
	r := h.request(http.MethodGet, "/events/feed"+query, "", append(headers, "Accept", form)...).WithContext(ctx)
	resp, err := transport.RoundTrip(r)
	require.NoError(h.t, err)
	require.Equal(h.t, http.StatusOK, resp.StatusCode)
	require.Equal(h.t, form, resp.Header.Get("Content-Type"))
	require.Equal(h.t, "no", resp.Header.Get("X-Accel-Buffering"))
	return resp
}

func sequences(rows []fed) (list []int64) {
	for _, r := range rows {
		list = append(list, r.Sequence)
	}
	return list
}

// TestFeedPages: every event once, by pages of any size, from the beginning, from now,
// by type, with what the caller asks for.
func TestFeedPages(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		require.Equal(t, fedPage{Data: []fed{}, Next: h.feed("").Next}, h.feed("?limit=7"))
		for i := range 3 {
			h.enrol(fmt.Sprint("member-", i))
			h.happens(fmt.Sprint("member-", i), "point_add", `{"points":50,"reason":"<b>&"}`)
			h.happens(fmt.Sprint("member-", i), "checkout", fmt.Sprintf(`{"transaction_id":"T-%d","total":10,"points_burned":5,"items":[{"product_id":"p","product_name":"P","product_url":"https://shop.test/p","quantity":1,"subtotal":10}]}`, i))
		}

		h.numbered()
		all := h.feed("?limit=5000")
		require.Equal(t, all.Head, int64(len(all.Data)))
		require.Zero(t, all.Lag)
		require.Equal(t, all.Next, all.Data[len(all.Data)-1].Cursor)
		for i, r := range all.Data {
			require.Equal(t, int64(i+1), r.Sequence)
			require.Equal(t, "event."+r.Action, r.Type)
			require.NotContains(t, r.Data, "reason", "it is personal")
			require.Empty(t, r.Postings)
		}

		for i := range 3 { // as the list of the customer has them, the other way round
			var want, got []string
			entries, _ := h.get(fmt.Sprintf("/customers/member-%d/events?limit=1000", i)).json(t)["data"].([]any)
			for _, e := range entries {
				want = append(want, fmt.Sprint(e.(map[string]any)["id"]))
			}
			for _, r := range slices.Backward(all.Data) {
				if r.Customer.ID == fmt.Sprint("member-", i) {
					got = append(got, r.ID)
				}
			}
			require.Equal(t, want, got)
		}

		for _, limit := range []int{1, 4} {
			var rows []fed
			for next := ""; ; {
				p := h.feed(fmt.Sprint("?limit=", limit, next))
				if rows = append(rows, p.Data...); len(p.Data) == 0 {
					break
				}
				require.Equal(t, p.Lag > 0, p.Data[len(p.Data)-1].Sequence < p.Head)
				require.Equal(t, p.Data, h.feed(fmt.Sprint("?limit=", limit, next)).Data, "the same cursor gives the same rows")
				next = "&after=" + p.Next
			}
			require.Equal(t, all.Data, rows)
		}

		require.Equal(t, sequences(all.Data[4:]), sequences(h.feed("?after="+all.Data[3].Cursor).Data))

		some := h.feed("?types=event.point_*,event.opt_in&limit=4&include=postings,personal")
		var want []int64
		for _, r := range all.Data {
			if r.Action == "opt_in" || strings.HasPrefix(r.Action, "point_") {
				want = append(want, r.Sequence)
			}
		}

		require.Equal(t, want[:4], sequences(some.Data))
		require.Equal(t, want[4:], sequences(h.feed("?types=event.opt_in,event.point_*&after="+some.Next).Data), "in any order")
		require.Equal(t, "<b>&", some.Data[1].Data["reason"])
		require.Equal(t, "member-0@shop.test", some.Data[0].Data["email"])
		require.Equal(t, "issued available 50 "+some.Data[1].ID, fmt.Sprint(some.Data[1].Postings[0].From, " ", some.Data[1].Postings[0].To, " ", some.Data[1].Postings[0].Points, " ", some.Data[1].Postings[0].Lot))
		none := h.feed("?types=event.no_such_thing")
		require.Empty(t, none.Data)
		require.Empty(t, h.feed("?types=event.no_such_thing&after="+none.Next).Data)

		now := h.feed("?after=now")
		require.Empty(t, now.Data)
		require.Equal(t, all.Next, now.Next)
		h.happens("member-1", "visit", `{"url":"https://shop.test/"}`)
		h.numbered()
		require.Equal(t, []int64{all.Head + 1}, sequences(h.feed("?after="+now.Next).Data))

		damaged := []byte(now.Next)
		damaged[4] ^= 1
		beyond := "IAAAAAAPQkA" // of another list
		for _, bad := range []string{"nonsense", string(damaged), beyond, some.Next, "%00"} {
			a := h.get("/events/feed?after=" + bad)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, []string{"after"}, a.fault(t).fields(), bad)
			require.NotEmpty(t, a.fault(t).Message)
		}

		a := h.get("/events/feed", "Last-Event-ID", "nonsense")
		require.Equal(t, []string{"Last-Event-ID"}, a.fault(t).fields(), a.body)
		for _, bad := range []string{"limit=5001", "limit=0", "wait=26", "types=point_add", "types=event.a*b", "include=everything"} {
			a := h.get("/events/feed?" + bad)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, []string{bad[:strings.Index(bad, "=")]}, a.fault(t).fields(), bad)
		}
	})
}

// TestFeedNames: a caller who may not list events elsewhere gets no names, the feed has none if the programme
// suppresses them, and customers who left are never named.
func TestFeedNames(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.enrol("canary-7")
		h.happens("canary-7", "point_add", `{"points":50,"reason":"canary reason"}`)
		done(h, "/customers/canary-7/merge", `{"target":"member-1"}`)
		h.numbered()
		const everything = "/events/feed?include=data,personal,postings"
		require.Contains(t, h.get(everything).body, "canary reason")
		till := h.newKey(admin.KeyChange{APIs: &[]string{"events"}})
		a := h.signed(till, h.request(http.MethodGet, "/events/feed?include=postings", ""))
		require.Equal(t, http.StatusOK, a.status)
		require.Contains(t, a.body, `"action":"merge"`)
		for _, told := range []string{"canary", "member-1", `"data":{`, `"customer":`} {
			require.NotContains(t, a.body, told)
		}

		a = h.signed(till, h.request(http.MethodGet, everything, ""))
		require.Equal(t, http.StatusForbidden, a.status)
		require.Equal(t, 190064, a.fault(t).Code)

		require.Equal(t, http.StatusOK, h.post("/admin/modules/events_api", `{"enabled":true,"config":{"suppress_pii":true}}`).status)
		a = h.get(everything)
		require.Contains(t, a.body, `"data":{`)
		require.NotContains(t, a.body, "canary")
		require.NotContains(t, a.body, "member-1")
		require.Equal(t, http.StatusOK, h.post("/admin/modules/events_api", `{"enabled":true,"config":{"suppress_pii":false}}`).status)

		h.happens("member-1", "opt_out", `{}`)
		h.numbered()
		a = h.get(everything)
		require.Contains(t, a.body, `"action":"opt_out"`)
		require.NotContains(t, a.body, "canary")
		require.NotContains(t, a.body, "member-1")
	})
}

// TestFeedWaits: a page that would be empty is answered soon after the commit, and in the
// end without rows.
func TestFeedWaits(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.watched()
		h.enrol("member-1")
		began := time.Now()
		require.Empty(t, h.feed("?after=now&wait=1&types=event.visit").Data)
		require.GreaterOrEqual(t, time.Since(began), time.Second)
		committed := make(chan time.Time, 1)
		go func() {
			time.Sleep(300 * time.Millisecond)
			h.happens("member-1", "visit", `{"url":"https://shop.test/"}`)
			committed <- time.Now()
		}()

		p := h.feed("?after=now&wait=25&types=event.visit")
		late := time.Since(<-committed)
		require.Len(t, p.Data, 1)
		require.Less(t, late, 10*time.Second)
		t.Logf("figures: the feed: a page that waits comes %s after the commit", late.Round(time.Millisecond))
	})
}

// TestFeedStreams: lines and server-sent events, resumed by their cursors; they end with
// their key.
func TestFeedStreams(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.watched()
		h.enrol("member-1")
		for range 4 {
			h.happens("member-1", "visit", `{"url":"https://shop.test/"}`)
		}

		require.Eventually(t, func() bool { return h.feed("").Head == 5 }, time.Minute, 20*time.Millisecond)
		lines := func(query string) (rows []fed) {
			resp := h.stream(t.Context(), "application/x-ndjson", query)
			defer func() { require.NoError(t, resp.Body.Close()) }()
			for d := json.NewDecoder(resp.Body); ; {
				var r fed
				if err := d.Decode(&r); errors.Is(err, io.EOF) {
					return rows
				} else {
					require.NoError(t, err)
				}
				rows = append(rows, r)
			}
		}

		all := lines("")
		require.Equal(t, []int64{1, 2, 3, 4, 5}, sequences(all))
		require.Equal(t, h.feed("").Data, all)
		require.Equal(t, []int64{3, 4}, sequences(lines("?limit=2&after="+all[1].Cursor)))
		require.Empty(t, lines("?after=now&wait=1"))

		ctx, leave := context.WithCancel(t.Context())
		first := h.stream(ctx, "text/event-stream", "?after="+all[0].Cursor)
		told := sse(t, bufio.NewScanner(first.Body))
		require.Equal(t, all[1].Cursor, (<-told).Cursor)
		leave()
		require.NoError(t, first.Body.Close())
		second := h.stream(t.Context(), "text/event-stream", "?after="+all[0].Cursor, "Last-Event-ID", all[2].Cursor)
		told = sse(t, bufio.NewScanner(second.Body))
		require.Equal(t, []int64{4, 5}, sequences([]fed{<-told, <-told}))
		h.happens("member-1", "point_add", `{"points":5}`)
		require.Equal(t, "event.point_add", (<-told).Type)

		require.Equal(t, http.StatusBadRequest, h.get("/events/feed?after=x", "Accept", "text/event-stream").status)
		keeper := h.key
		h.key = h.newKey(admin.KeyChange{})
		_, err := h.admin.RevokeKey(t.Context(), admin.Call{KeyID: admin.CommandLine}, keeper.KeyID)
		require.NoError(t, err)
		_, more := <-told
		require.False(t, more, "the stream ends with its key")
		require.NoError(t, second.Body.Close())
	})
}

// sse reads server-sent events until their stream ends.
func sse(t *testing.T, lines *bufio.Scanner) <-chan fed {
	rows := make(chan fed, 100)
	go func() {
		defer close(rows)
		id := ""
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = text
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var r fed
				if err := json.Unmarshal([]byte(text), &r); err != nil || r.Cursor != id {
					t.Errorf("%v: %s under %s", err, text, id)
				}
				rows <- r
			}
		}
	}()

	return rows
}

// TestFeedEndsWithTheServer: a server that stops does not wait for streams, nor for pages
// that wait, and one key has half of the places.
func TestFeedEndsWithTheServer(t *testing.T) {
	h := open(t, patient)
	h.enrol("member-1")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Server.Serve(ctx, listener, 20*time.Second) }()
	h.url = "http://" + listener.Addr().String()
	var open []*http.Response
	for range 64 {
		open = append(open, h.stream(t.Context(), "text/event-stream", ""))
	}

	a := h.get("/events/feed?wait=1")
	require.Equal(t, http.StatusServiceUnavailable, a.status, a.body)
	require.NoError(t, open[0].Body.Close())
	var waited sync.WaitGroup
	waited.Go(func() {
		require.Eventually(t, func() bool { return h.get("/events/feed?wait=25").status == http.StatusOK }, time.Minute, 10*time.Millisecond)
	})
	time.Sleep(500 * time.Millisecond)
	began := time.Now()
	stop()
	require.NoError(t, <-served)
	require.Less(t, time.Since(began), 10*time.Second)
	waited.Wait()
	for _, resp := range open[1:] {
		_, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
}

// TestFeedSlowReader: who takes nothing of a stream does not hold it, nor its place.
func TestFeedSlowReader(t *testing.T) {
	t.Parallel()
	h := open(t, patient)
	h.crowd("member-", 1, 1)
	long := strings.Repeat("x", 15_000)
	for range 32 {
		var batch []string
		for range 32 {
			batch = append(batch, `{"customer":"member-0","action":"profile","data":{"cf_long":"`+long+`"}}`)
		}
		h.bulk(batch...)
	}

	h.numbered()
	began := time.Now()
	resp := h.stream(t.Context(), "application/x-ndjson", "?include=personal")
	id := resp.Header.Get("X-Request-Id")
	require.NotEmpty(t, h.log.lines(t, id), "the server gave the stream up")
	require.Greater(t, time.Since(began), 19*time.Second, "it had its time")
	require.NoError(t, resp.Body.Close())
}

// TestFeedKilledReader has writers on two nodes, and a reader that is killed at random,
// in a page or in a stream, and goes on by the cursor that it kept with its rows: it has
// every event once, those of a customer in the order of their list.
func TestFeedKilledReader(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, databaseURL string) {
		const customers, writers, events = 6, 3, 40
		nodes := []*house{openOn(t, databaseURL, patient), openOn(t, databaseURL, patient)}
		nodes[1].key = nodes[0].key
		require.NoError(t, nodes[1].directory.Refresh(t.Context()))
		for _, h := range nodes {
			h.watched()
		}

		for i := range customers {
			nodes[0].enrol(fmt.Sprint("member-", i))
		}

		var writing sync.WaitGroup
		for n, h := range nodes {
			for w := range writers {
				dice := rand.New(rand.NewPCG(uint64(n), uint64(w))) //nolint:gosec // repeatable, and no secret
				writing.Go(func() {
					for range events {
						a := h.post("/events", fmt.Sprintf(`{"customer":"member-%d","action":"point_add","data":{"points":1}}`, dice.IntN(customers)))
						if a.status != http.StatusOK {
							t.Errorf("%d: %s", a.status, a.body)
						}
					}
				})
			}
		}

		over := make(chan struct{})
		go func() { writing.Wait(); close(over) }()

		want := int64(customers + len(nodes)*writers*events)
		var kept []fed                      // what the reader stored, with the last cursor
		dice := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // repeatable, and no secret
		kills := 0
		for end := time.Now().Add(2 * time.Minute); int64(len(kept)) < want; kills++ {
			require.True(t, time.Now().Before(end), "%d of %d", len(kept), want)
			cursor := ""
			if len(kept) > 0 {
				cursor = kept[len(kept)-1].Cursor
			}
			kept = append(kept, readABit(nodes[dice.IntN(2)], cursor, dice)...)
		}

		<-over
		ids, by := map[string]bool{}, map[string][]string{}
		for i, r := range kept {
			require.Equal(t, int64(i+1), r.Sequence)
			require.False(t, ids[r.ID])
			ids[r.ID] = true
			by[r.Customer.ID] = append(by[r.Customer.ID], r.ID)
		}

		require.Len(t, kept, int(want))
		for i := range customers {
			var list []string
			for target := fmt.Sprintf("/customers/member-%d/events?limit=1000", i); target != ""; {
				page := nodes[1].get(target).json(t)
				for _, e := range page["data"].([]any) {
					list = append(list, fmt.Sprint(e.(map[string]any)["id"]))
				}
				target, _ = page["next"].(string)
			}
			slices.Reverse(list)
			require.Equal(t, list, by[fmt.Sprint("member-", i)])
		}

		t.Logf("figures: the feed: %d events, a reader that was killed %d times", want, kills)
	})
}

// readABit reads the feed for a while in some form, and is cut off at any byte: what came
// whole is kept.
func readABit(h *house, cursor string, dice *rand.Rand) (rows []fed) {
	ctx, kill := context.WithTimeout(h.t.Context(), time.Duration(1+dice.IntN(400))*time.Millisecond)
	defer kill()
	form := []string{"application/json", "application/x-ndjson", "text/event-stream"}[dice.IntN(3)]
	query := url.Values{"limit": {fmt.Sprint(1 + dice.IntN(40))}, "wait": {"1"}}
	headers := []string{"Accept", form}
	if form == "text/event-stream" && cursor != "" && dice.IntN(2) == 0 {
		headers = append(headers, "Last-Event-ID", cursor)
	} else if cursor != "" {
		query.Set("after", cursor)
	}

	transport := &signing.Transport{Scheme: signing.Default(region), Credential: h.key}
	resp, err := transport.RoundTrip(h.request(http.MethodGet, "/events/feed?"+query.Encode(), "", headers...).WithContext(ctx))
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }() // it was cut off

	if form == "application/json" {
		var p fedPage
		if json.NewDecoder(resp.Body).Decode(&p) != nil {
			return nil
		}
		return p.Data
	}

	reader := bufio.NewReader(io.LimitReader(resp.Body, int64(1+dice.IntN(20_000))))
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return rows
		}
		var r fed
		if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &r) == nil {
			rows = append(rows, r)
		}
	}
}

// TestFeedIsNudged: a caller who waits for an event of this server gets it although nothing else gives numbers here,
// where no job works; so it does not wait for the regular numbering.
func TestFeedIsNudged(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("ada")
		got := make(chan answer, 1)
		go func() { got <- h.get("/events/feed?after=now&wait=20") }()
		time.Sleep(300 * time.Millisecond) // it waits by now
		began := time.Now()
		require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"ada","action":"point_add","data":{"points":5}}`).status)
		a := <-got
		require.Equal(t, http.StatusOK, a.status, a.body)
		require.Contains(t, a.body, "event.", "before the wait was over")
		require.Less(t, time.Since(began), 10*time.Second)
	})
}
