package server_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// crowdSize is how many customers the bulk tests have.
const crowdSize = 60

// gifts are events that give i+1 points each, to customers in turn.
func gifts(n, customers int) []string {
	events := make([]string, n)
	for i := range events {
		events[i] = earns(fmt.Sprint("c-", i%customers), i+1)
	}
	return events
}

// breakages are events that cannot be recorded, one of each kind, with the code
// and the fields of the error.
var breakages = []struct{ kind, event, code, fields string }{
	{"unknown action", `{"customer":"c-0","action":"dance","data":{}}`, "190012", "action"},
	{"contract", `{"customer":"c-0","action":"point_add","data":{"points":"many"}}`, "190010", "data.points"},
	{"nothing required", `{"customer":"c-0","action":"checkout","data":{"total":1}}`, "0", "data.transaction_id"},
	{"no object", `{"customer":"c-0","action":"visit","data":[]}`, "190010", "data"},
	{"empty", `{}`, "0", "customer action data"},
	{"refused by a rule", `{"customer":"c-0","action":"point_spend","data":{"points":9000000}}`, "0", "data.points"},
	{"conflict", `{"customer":"c-0","action":"opt_in","data":{"email":"c-0@shop.test"}}`, "112101", "customer"},
	{"not there", `{"customer":"nobody","action":"visit","data":{"url":"https://shop.test/"}}`, "160212", "customer"},
	{"internal", `{"customer":"c-0","action":"tier_up","data":{"structure":"s"}}`, "190044", "action"},
	{"module off", `{"customer":"c-0","action":"contest_entry_revoke","data":{"contest_id":"c"}}`, "190043", "action"},
	{"attribute off", `{"customer":"c-0","action":"checkout","data":{"transaction_id":"T","total":1,"total_quantity":1}}`, "190042", "data.total_quantity"},
	{"custom, broken", `{"customer":"c-0","action":"tasting","data":{"cups":"two"}}`, "190010", "data.cups"},
}

// TestBulkSizes: 1, 50, 60 and 500 events, each with a broken one of every kind
// among them: as many results in the order sent, the broken ones alone are
// refused, everything else is recorded once, and a repeated call changes nothing
// and answers with the same bytes.
//
// spec: limit.bulk, service.bulk, endpoint.events.bulk
func TestBulkSizes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		done(h, "/admin/modules/custom_events", `{"enabled":true}`)
		done(h, "/entities/custom-events/action", `{"name":"tasting","schema":{"type":"object","properties":{"cups":{"type":"integer"}}}}`)
		h.crowd("c-", crowdSize, 0)
		for _, n := range []int{1, 50, 60, 500} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				h.t = t
				before := total(h)
				events, want, given := gifts(n, crowdSize), slices.Repeat([]string{"ok"}, n), int64(n*(n+1)/2)
				for i, broken := range breakages[:min(n-1, len(breakages))] {
					at := i * n / len(breakages)
					given -= int64(at + 1)
					events[at], want[at] = broken.event, broken.code
					for field := range strings.FieldsSeq(broken.fields) {
						want[at] += fmt.Sprintf(" events[%d].%s", at, field)
					}
				}

				key := fmt.Sprint("bulk-", n)
				first := h.does("/events/bulk", bulkOf(events), "Idempotency-Key", key)
				require.Equal(t, want, fates(t, first.json(t)))
				require.Empty(t, first.header.Get("Idempotency-Replayed"))
				require.Equal(t, before+given, total(h))
				again := h.post("/events/bulk", bulkOf(events), "Idempotency-Key", key)
				require.Equal(t, first.body, again.body, "to the byte")
				require.Equal(t, before+given, total(h), "nothing happens twice")
				if n == 1 {
					require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
				}
			})
		}

		h.t = t
		ledgerHolds(t, h.store)
	})
}

// total is the score of all customers together.
func total(h *house) (sum int64) {
	h.t.Helper()
	list, err := h.store.Customers(h.t.Context(), loyalty.CustomerQuery{Page: loyalty.Page{Limit: 1000}})
	require.NoError(h.t, err)
	for _, c := range list {
		sum += c.Figures.Score
	}
	return sum
}

// TestBulkInOneTransaction: 50 events for 50 customers are one transaction of the
// database when none fails; the rows themselves tell.
func TestBulkInOneTransaction(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.crowd("c-", 50, 0)
		db := contentsOf(t, url)
		for name, headers := range map[string][]string{"plain": nil, "idempotent": {"Idempotency-Key", "k"}} {
			var a answer
			commits := db.commits(`visit`, func() {
				events := make([]string, 50)
				for i := range events {
					events[i] = fmt.Sprintf(`{"customer":"c-%d","action":"visit","data":{"url":"https://shop.test/","points":1}}`, i)
				}
				a = h.post("/events/bulk", bulkOf(events), headers...)
			})

			require.Equal(t, http.StatusOK, a.status)
			require.Equal(t, "0", fmt.Sprint(a.json(t)["errors"]), a.body)
			if storetest.OnCitus() && db.file == "" { // each machine counts its part of it
				require.Contains(t, []int{1, 2}, commits, name)
				continue
			}

			require.Equal(t, 1, commits, name)
		}

		require.Equal(t, 3, db.commits(`point_sub`, func() {
			for i := range 3 {
				done(h, "/events", fmt.Sprintf(`{"customer":"c-%d","action":"point_sub","data":{"points":1}}`, i))
			}
		}), "the count counts")
	})
}

// commits counts the transactions that wrote while something was done: on SQLite
// the commits in the log, on PostgreSQL those that wrote the events of an action
// which were not there before.
func (c *contents) commits(action string, do func()) int {
	c.t.Helper()
	if c.file != "" {
		before := c.logged()
		do()
		return c.logged() - before
	}
	const written = `SELECT DISTINCT xmin::text FROM events WHERE action = $1`
	before := texts(c.t, c.db, written, action)
	do()
	return len(texts(c.t, c.db, written, action)) - len(before)
}

// logged counts the commits in SQLite's log: the frames that end one carry the
// size of the database.
func (c *contents) logged() (n int) {
	c.t.Helper()
	log := c.files()["file-wal"]
	require.Greater(c.t, len(log), 32)
	page, salt := int(binary.BigEndian.Uint32([]byte(log[8:12]))), log[16:24]
	for log = log[32:]; len(log) >= 24+page && log[8:16] == salt; log = log[24+page:] {
		if log[4:8] != "\x00\x00\x00\x00" {
			n++
		}
	}
	return n
}

// dying is an engine whose process ends in the middle of a bulk: what came before
// is recorded, and no answer goes out.
type dying struct {
	api.Engine
	after atomic.Int64 // events; 0: it lives
}

func (d *dying) SubmitEach(ctx context.Context, all []loyalty.Submission, told func(int, loyalty.Result)) {
	after := d.after.Load()
	if after == 0 {
		d.Engine.SubmitEach(ctx, all, told)
		return
	}
	d.Engine.SubmitEach(ctx, all[:after], told)
	panic(http.ErrAbortHandler)
}

// TestBulkAfterACrash: a bulk that broke off half way is sent again under its key.
// What was recorded is answered as it was, the rest is done.
func TestBulkAfterACrash(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		d := &dying{}
		h := openOn(t, url, patient, func(o *server.Options) { d.Engine, o.Engine = o.Engine, d })
		h.crowd("c-", 10, 0)
		events := gifts(20, 10)
		events[3], events[13] = breakages[5].event, breakages[5].event
		d.after.Store(10)
		transport := &signing.Transport{Scheme: signing.Default(region), Credential: h.key}
		_, err := transport.RoundTrip(h.request(http.MethodPost, "/events/bulk", bulkOf(events), "Content-Type", jsonType, "Idempotency-Key", "k"))
		require.Error(t, err, "no answer")
		d.after.Store(0)
		require.EqualValues(t, 55-4, total(h), "the first ten were recorded")
		early := contentsOf(t, url)
		known := len(texts(t, early.db, `SELECT action FROM events WHERE action = 'point_add'`))

		first := h.does("/events/bulk", bulkOf(events), "Idempotency-Key", "k")
		require.Empty(t, first.header.Get("Idempotency-Replayed"), "half of it is new")
		require.EqualValues(t, 210-4-14, total(h))
		require.Len(t, texts(t, early.db, `SELECT action FROM events WHERE action = 'point_add'`), known+9)
		again := h.post("/events/bulk", bulkOf(events), "Idempotency-Key", "k")
		require.Equal(t, first.body, again.body)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		require.EqualValues(t, 210-4-14, total(h))
		part := h.post("/events/bulk", bulkOf(events[:19]), "Idempotency-Key", "k")
		require.Equal(t, "true", part.header.Get("Idempotency-Replayed"), "each event is as it was at its place")
		other := h.post("/events/bulk", bulkOf(events[1:2]), "Idempotency-Key", "k")
		require.Equal(t, http.StatusConflict, other.status, "another event was done there")
	})
}
