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
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestAdministrationPlans: the audit trail is read along an index in the order of the
// list, and the failed requests by an index.
func TestAdministrationPlans(t *testing.T) {
	url := storetest.Postgres(t)
	s, ctx := storetest.Open(t, url), context.Background()
	now := time.Now().UTC()
	require.NoError(t, s.Change(ctx, func(tx loyalty.AdminTx) error {
		for i := range 500 {
			at := now.Add(time.Duration(i) * time.Second)
			e := loyalty.AuditEntry{ID: loyalty.NewID(at, loyalty.ID{}), At: at, Actor: fmt.Sprint("LK", i%50), ActorKind: loyalty.ActorKey, Action: fmt.Sprint("thing.", i%50), Target: fmt.Sprint(i)}
			if err := tx.Audit(e); err != nil {
				return err
			}
		}
		return nil
	}))

	c, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(ctx)) }()
	_, err = c.Exec(ctx, "ANALYZE audit")
	require.NoError(t, err)

	reads := map[string][]any{}
	require.NoError(t, s.OnRead(func(sql string, parameters []any) { reads[sql] = parameters }))
	for _, field := range []string{"action", "target", "key_id"} {
		_, err := s.AuditLog(ctx, loyalty.AuditQuery{
			Conditions: []loyalty.Condition{{Field: field, Operator: loyalty.Eq, Values: []any{"7"}}}, Page: loyalty.Page{Limit: 10},
		})
		require.NoError(t, err)
	}

	_, err = s.AuditLog(ctx, loyalty.AuditQuery{Page: loyalty.Page{Limit: 10, After: &loyalty.Cursor{At: now, ID: loyalty.NewID(now, loyalty.ID{})}}})
	require.NoError(t, err)
	_, err = s.Failures(ctx, loyalty.FailureQuery{
		Conditions: []loyalty.Condition{{Field: "at", Operator: loyalty.Gte, Values: []any{now}}, {Field: "status", Operator: loyalty.Eq, Values: []any{int64(400)}}},
		Page:       loyalty.Page{Limit: 10},
	})

	require.NoError(t, err)
	_, err = c.Exec(ctx, "SET enable_seqscan = off")
	require.NoError(t, err)
	explained := 0
	for sql, parameters := range reads {
		if strings.Contains(sql, "goose") {
			continue
		}
		explained++
		var plan []byte
		require.NoError(t, c.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+sql, parameters...).Scan(&plan), sql)
		var tree []struct{ Plan planNode }
		require.NoError(t, json.Unmarshal(plan, &tree))
		require.Empty(t, tree[0].Plan.scans(), "%s\n%s", sql, plan)
		if strings.Contains(sql, "audit") { // of failed requests there are never many
			require.NotContains(t, string(plan), `"Sort"`, "%s\n%s", sql, plan)
		}
	}

	require.Equal(t, 5, explained)
}
