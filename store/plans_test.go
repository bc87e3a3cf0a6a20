package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// Every statement of a batch reaches its rows by conditions on an index, in the
// plan that is kept for any number of rows.
func TestPlansReachRowsByKeys(t *testing.T) {
	plainOnly(t)
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
