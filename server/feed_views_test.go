package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestViewsForReports: a role that may read only the three views finds in them what the feed has, and no names.
func TestViewsForReports(t *testing.T) {
	url := storetest.Postgres(t)
	h, raw := openOn(t, url, patient), storetest.Raw(t, url)
	h.enrol("canary-bird")
	h.add("canary-bird", "30")
	require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"canary-bird","action":"point_spend","data":{"points":12}}`).status)
	h.numbered()
	as := func(statement string) (list []map[string]any) {
		t.Helper()
		tx, err := raw.Begin()
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback()) }()
		role := []string{
			"CREATE ROLE reports_of_a_test", "GRANT USAGE ON SCHEMA public TO reports_of_a_test",
			"GRANT SELECT ON export_events, export_postings, export_customers TO reports_of_a_test", "SET LOCAL ROLE reports_of_a_test",
		}

		if storetest.OnCitus() {
			role = nil // other machines know none before the transaction ends
		}

		for _, s := range role {
			_, err := tx.Exec(s)
			require.NoError(t, err, s)
		}

		var text string
		require.NoError(t, tx.QueryRow("WITH r AS MATERIALIZED ("+statement+") SELECT coalesce(json_agg(r), '[]')::text FROM r").Scan(&text))
		require.NotContains(t, text, "canary")
		require.NoError(t, json.Unmarshal([]byte(text), &list))
		if role != nil {
			_, err = tx.Exec("SELECT * FROM customers")
			require.ErrorContains(t, err, "permission denied")
		}

		return list
	}

	feed := h.get("/events/feed?include=data,postings").json(t)["data"].([]any)
	require.Len(t, feed, 3)
	events, postings := as("SELECT * FROM export_events ORDER BY sequence"), as("SELECT * FROM export_postings ORDER BY event_id, seq")
	require.Len(t, events, len(feed))
	moved := 0
	for i, row := range feed {
		row, e := row.(map[string]any), events[i]
		for feed, view := range map[string]string{"sequence": "sequence", "id": "event_id", "customer_id": "customer_id", "action": "action"} {
			require.Equal(t, fmt.Sprint(row[feed]), fmt.Sprint(e[view]), view)
		}
		list, _ := row["postings"].([]any)
		for _, p := range list {
			p := p.(map[string]any)
			require.Equal(t, fmt.Sprint(row["id"], p["from"], p["to"], p["points"]),
				fmt.Sprint(postings[moved]["event_id"], postings[moved]["from_account"], postings[moved]["to_account"], postings[moved]["points"]))
			moved++
		}
	}

	require.Len(t, postings, moved)
	require.Positive(t, moved)
	customers := as("SELECT customer_id, status, score, spendable, spent, created_at IS NOT NULL AS dated FROM export_customers")
	require.Equal(t, []map[string]any{{
		"customer_id": events[0]["customer_id"], "status": "active", "score": 30.0, "spendable": 18.0, "spent": 12.0, "dated": true,
	}}, customers)
}
