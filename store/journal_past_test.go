package store_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// The events of the past come in the order of recording, page by page, each once;
// those that waited for their validation are told apart.
func TestPastEvents(t *testing.T) {
	storetest.Databases(t, func(t *testing.T, open func(*testing.T) *store.Store) {
		s := open(t)
		began := time.Now().UTC().Truncate(time.Millisecond)
		customer, last := loyalty.NewID(began, loyalty.ID{}), loyalty.ID{}
		var w loyalty.Writes
		var want []loyalty.ID
		add := func(action string, at time.Time, parent loyalty.ID) loyalty.ID {
			last = loyalty.NewID(at, last)
			w.Events = append(w.Events, loyalty.Event{ID: last, Parent: parent, Customer: customer, Action: action, At: at, RecordedAt: at, Data: json.RawMessage("{}")})
			return last
		}

		for i := range 20 {
			at := began.Add(time.Duration(i/3) * time.Millisecond) // some in one millisecond
			want = append(want, add([]string{"visit", "merge"}[i%2], at, loyalty.ID{}))
			add("video", at, loyalty.ID{})
		}

		held := want[18]
		add("pending", began.Add(6*time.Millisecond), held)
		require.NoError(t, storetest.Put(s, time.Time{}, w))

		q := loyalty.PastQuery{Actions: []string{"merge", "visit"}, From: began, Before: began.Add(time.Second), Limit: 3}
		n, err := s.CountPast(t.Context(), q)
		require.NoError(t, err)
		require.EqualValues(t, 20, n)
		var got []loyalty.ID
		for {
			page, err := s.PastEvents(t.Context(), q)
			require.NoError(t, err)
			for _, e := range page {
				got = append(got, e.ID)
				require.Equal(t, e.ID == held, e.Held)
				q.After = loyalty.Cursor{At: e.RecordedAt, ID: e.ID}
			}
			if len(page) < q.Limit {
				break
			}
		}

		require.Equal(t, want, got)

		q.From, q.Before, q.After = began.Add(time.Millisecond), began.Add(2*time.Millisecond), loyalty.Cursor{}
		page, err := s.PastEvents(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, page, 3)
		require.Equal(t, want[3], page[0].ID)
	})
}

// What a backtest reads of a journal is reached by indexes, in their order.
func TestPastEventsByIndex(t *testing.T) {
	storetest.PlainOnly(t)
	url := storetest.Postgres(t)
	s, raw := storetest.Open(t, url), storetest.Raw(t, url)
	newJournal(t, s)
	raw.SetMaxOpenConns(1)
	reads := map[string][]any{}
	require.NoError(t, s.OnRead(func(sql string, parameters []any) { reads[sql] = parameters }))
	q := loyalty.PastQuery{Actions: []string{"point_add", "merge"}, From: time.UnixMilli(1), Before: time.Now().Add(time.Hour), Limit: 2}
	page, err := s.PastEvents(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, page, 2)
	q.After = loyalty.Cursor{At: page[1].RecordedAt, ID: page[1].ID}
	_, err = s.PastEvents(t.Context(), q)
	require.NoError(t, err)
	_, err = s.CountPast(t.Context(), q)
	require.NoError(t, err)
	_, err = raw.Exec("ANALYZE; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(reads), 4)

	for sql, parameters := range reads {
		var plan []byte
		require.NoError(t, raw.QueryRow("EXPLAIN (FORMAT JSON) "+sql, parameters...).Scan(&plan), sql)
		var tree []struct{ Plan planNode }
		require.NoError(t, json.Unmarshal(plan, &tree))
		require.Empty(t, tree[0].Plan.scans(), sql)
		require.False(t, strings.Contains(sql, "LIMIT") && tree[0].Plan.has("Sort"), "%s\n%s", sql, plan)
	}
}
