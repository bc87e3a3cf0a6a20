package server_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
	"github.com/loyalty-platform/loyalty/signing"
)

// TestThousandRequests: a key of which nothing else was said has 1000 requests for
// a minute, over all APIs together; the next one is refused by each of them, and
// other keys are not held back. The minute stands still, so that no speed matters.
//
// spec: limit.rate
func TestThousandRequests(t *testing.T) {
	const most = 1000
	now := &stopped{now: time.Now()}
	h := open(t, func(o *server.Options) { o.Limiter = ratelimit.NewMemory(now.clock) })
	h.everyModule()
	var reads []offered
	for _, o := range everyOperation(t) {
		if o.reads() {
			reads = append(reads, o)
		}
	}

	key, other := h.newKey(admin.KeyChange{}), h.newKey(admin.KeyChange{})
	ask := func(o offered) answer {
		body := ""
		if o.method == http.MethodPost {
			body = "{}"
		}
		return h.signed(key, h.request(o.method, o.target(t), body, "Content-Type", jsonType))
	}

	asked := map[string]int{}
	for i := range most {
		o := reads[i%len(reads)]
		a := ask(o)
		require.NotEqual(t, http.StatusTooManyRequests, a.status, "request %d, %s", i+1, o.OperationID)
		require.Equal(t, fmt.Sprint(most), a.header.Get("RateLimit-Limit"))
		require.Equal(t, fmt.Sprint(most-1-i), a.header.Get("RateLimit-Remaining"), o.OperationID)
		asked[o.api]++
	}

	require.Len(t, asked, 12, "every API was asked")
	for _, o := range reads {
		a := ask(o)
		require.Equal(t, http.StatusTooManyRequests, a.status, o.OperationID)
		require.Equal(t, "1", a.header.Get("Retry-After"), o.OperationID)
	}

	require.Equal(t, http.StatusOK, h.signed(other, h.request(http.MethodGet, "/customers", "")).status, "another key has requests of its own")
	now.now = now.now.Add(time.Minute)
	require.Equal(t, fmt.Sprint(most-1), ask(reads[0]).header.Get("RateLimit-Remaining"), "a minute brings them all back")
}

// TestSpentLimitIsToldBeforeTheBody: once a key was told that its limit is used up, the next body is refused unread,
// from any sender; a new minute, or another limit, is checked anew.
func TestSpentLimitIsToldBeforeTheBody(t *testing.T) {
	now := &stopped{now: time.Now()}
	h := open(t, func(o *server.Options) { o.Limiter, o.Clock = ratelimit.NewMemory(now.clock), now.clock })
	one := 1
	key := h.newKey(admin.KeyChange{RateLimit: &one})
	post := func() *http.Request { return h.request(http.MethodPost, "/events", "{}", "Content-Type", jsonType) }
	unread := func() *http.Response {
		r := h.request(http.MethodPost, "/events", "", "Content-Type", jsonType)
		require.NoError(t, signing.Default(region).Sign(r, nil, key)) // the body's hash is wrong: it was not looked at
		return h.headersAlone(r, 1<<20-1)
	}

	require.Equal(t, http.StatusBadRequest, h.signed(key, post()).status)
	require.Equal(t, http.StatusTooManyRequests, h.signed(key, post()).status)
	now.now = now.now.Add(20 * time.Second)
	a := unread()
	require.Equal(t, http.StatusTooManyRequests, a.StatusCode)
	require.Equal(t, []string{"40", "1", "0", "40"}, []string{a.Header.Get("Retry-After"), a.Header.Get("RateLimit-Limit"), a.Header.Get("RateLimit-Remaining"), a.Header.Get("RateLimit-Reset")})
	now.now = now.now.Add(40 * time.Second)
	require.Equal(t, http.StatusBadRequest, h.signed(key, post()).status, "the next one is there")
}

// TestRefusedBulkComesBackWhenTold: the request of a bulk counts as well as its events, so a caller
// who waits as long as Retry-After says is served, also with a limit that is just as large.
func TestRefusedBulkComesBackWhenTold(t *testing.T) {
	now := &stopped{now: time.Now()}
	h := open(t, func(o *server.Options) { o.Limiter, o.Clock = ratelimit.NewMemory(now.clock), now.clock })
	most := 60
	key := h.newKey(admin.KeyChange{RateLimit: &most})
	bulk := func(events int) answer {
		one := `{"customer":"nobody","action":"point_add","data":{"points":1}}`
		return h.signed(key, h.request(http.MethodPost, "/events/bulk", `{"events":[`+strings.Repeat(one+",", events-1)+one+`]}`, "Content-Type", jsonType))
	}

	require.Equal(t, http.StatusOK, bulk(50).status)
	for _, events := range []int{20, 60, 100} {
		// Where nothing is left the request is refused before its events are known, and told of itself alone.
		served := false
		for tries := 0; tries < 3 && !served; tries++ {
			a := bulk(events)
			if served = a.status == http.StatusOK; !served {
				require.Equal(t, http.StatusTooManyRequests, a.status, a.body)
				seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
				require.NoError(t, err)
				now.now = now.now.Add(time.Duration(seconds) * time.Second)
			}
		}
		require.True(t, served, "%d events", events)
	}
}
