package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// Every statement of a batch reaches its rows by conditions on an index, in the
// plan that is kept for any number of rows.
func TestPlansReachRowsByKeys(t *testing.T) {
	storetest.PlainOnly(t)
	url := storetest.Postgres(t)
	ctx := context.Background()
	c, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(ctx)) }()
	_, err = c.Exec(ctx, store.BatchSettings)
	require.NoError(t, err)
	texts := store.Statements()
	require.Greater(t, len(texts), 60)
	for i, text := range texts {
		n := strings.Count(text, "$")
		for n > 0 && !strings.Contains(text, fmt.Sprint("$", n)) {
			n--
		}

		_, err := c.Exec(ctx, fmt.Sprintf("PREPARE p%d AS %s", i, text))
		require.NoError(t, err, text)
		execute := fmt.Sprintf("EXPLAIN (FORMAT JSON) EXECUTE p%d", i)
		if n > 0 {
			execute += "(" + strings.Repeat("NULL, ", n-1) + "NULL)"
		}

		var plan []byte
		require.NoError(t, c.QueryRow(ctx, execute).Scan(&plan), text)
		var tree []struct{ Plan planNode }
		require.NoError(t, json.Unmarshal(plan, &tree))
		require.Empty(t, tree[0].Plan.scans(), text)
	}
}

type planNode struct {
	Type      string `json:"Node Type"`
	Relation  string `json:"Relation Name"`
	Index     string `json:"Index Name"`
	Condition string `json:"Index Cond"`
	Plans     []planNode
}

// scans lists the tables that a plan reads without a condition on an index.
func (p *planNode) scans() (tables []string) {
	stored := p.Relation != "" || p.Index != ""
	if stored && strings.HasSuffix(p.Type, "Scan") && p.Type != "Bitmap Heap Scan" && p.Condition == "" {
		tables = append(tables, p.Type+" "+p.Relation+" "+p.Index)
	}
	for i := range p.Plans {
		tables = append(tables, p.Plans[i].scans()...)
	}
	return tables
}

// TestPlansFollowGrowth: a plan that was made while a table was empty does not read all of it once it
// has grown, though nothing has analyzed it since.
func TestPlansFollowGrowth(t *testing.T) {
	storetest.PlainOnly(t)
	store.PlansLast(t, time.Hour)
	url := storetest.Postgres(t)
	ctx := context.Background()
	raw, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { require.NoError(t, raw.Close(ctx)) }()
	_, err = raw.Exec(ctx, "ALTER TABLE answers SET (autovacuum_enabled = off); ANALYZE answers")
	require.NoError(t, err)
	s := storetest.Open(t, url)
	ask := func() {
		needs := loyalty.Needs{Now: start, Answers: []loyalty.AnswerKey{{AccessKey: "key", Key: "a"}, {AccessKey: "key", Key: "b"}}}
		require.NoError(t, s.Within(ctx, needs, func(*loyalty.Loaded) (*loyalty.Writes, error) { return nil, nil }))
	}

	read := func() (scans, entries int) {
		require.NoError(t, raw.QueryRow(ctx, "SELECT idx_scan, idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'answers_pkey'").Scan(&scans, &entries))
		return scans, entries
	}

	ask() // planned while it was empty
	_, err = raw.Exec(ctx, `INSERT INTO answers (access_key, key, hash, status, body, at)
 SELECT 'key', n::text, '', 200, '', 0 FROM generate_series(1, 5000) n`)
	require.NoError(t, err)
	store.PlansLast(t, 0)
	before, _ := read()
	ask()
	require.NoError(t, s.Close())
	require.Eventually(t, func() bool { after, _ := read(); return after > before }, time.Minute, 10*time.Millisecond)
	_, entries := read()
	require.Less(t, entries, 100)
}
