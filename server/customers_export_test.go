package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// known reads all that is known of a customer, as lines by their table.
func (h *house) known(customer, query string) map[string][]map[string]any {
	h.t.Helper()
	a := h.sees("/customers/" + customer + "/export?" + query)
	require.Equal(h.t, "application/x-ndjson", a.header.Get("Content-Type"))
	tables := map[string][]map[string]any{}
	for line := range strings.Lines(a.body) {
		var row map[string]any
		require.NoError(h.t, json.Unmarshal([]byte(line), &row), line)
		name := fmt.Sprint(row["table"])
		tables[name] = append(tables[name], row)
	}
	return tables
}

// TestExportOfACustomer: every row of one person and of the customers merged into it, and of no other, in the columns
// of the tables. What names a person comes only on request, for a key that may see it, and leaves a line in the audit
// trail.
func TestExportOfACustomer(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, at string) {
		h := openOn(t, at, patient)
		h.module("coupons", true)
		h.shopped(4)
		many := 600 // more than a piece has
		for i := range many {
			h.happens("member-1", "point_add", fmt.Sprintf(`{"points":1,"reason":"step-%d"}`, i))
		}

		require.Equal(t, http.StatusOK, h.post("/customers/member-2/merge", `{"target":"member-1"}`).status)
		h.numbered()
		all := h.known("member-1", "personal=true")
		ids := map[any]bool{}
		for _, c := range all["customers"] {
			ids[c["customer_id"]] = true
		}

		require.Len(t, ids, 2, "who was merged is there, too")
		for table, rows := range all {
			columns := map[string]bool{}
			seen := map[any]bool{}
			for _, row := range rows {
				require.True(t, ids[row["customer_id"]], "%s: %v", table, row)
				require.False(t, seen[row["key"]], "%s %v twice", table, row["key"])
				seen[row["key"]] = true
				for name := range row {
					columns[name] = true
				}
			}

			for name := range h.exported(table, "personal=true&limit=1")[0] {
				require.True(t, columns[name], "%s has no %s", table, name)
			}

			want := 0
			for _, row := range h.exported(table, "") {
				if ids[row["customer_id"]] {
					want++
				}
			}

			require.Len(t, rows, want, table)
		}

		require.Len(t, all["purchases"], 2)
		require.Len(t, all["coupons"], 2)
		require.Greater(t, len(all["events"]), many)
		for i := 1; i < len(all["events"]); i++ {
			require.LessOrEqual(t, all["events"][i-1]["recorded_at"], all["events"][i]["recorded_at"], "the oldest first")
		}

		body := h.get("/customers/member-1/export?personal=true").body
		require.Contains(t, body, "step-599")
		require.NotContains(t, body, "member-0")
		plain := h.get("/customers/member-1/export").body
		for _, secret := range []string{"member-1", "member-2", "secret-reason", "step-599"} {
			require.NotContains(t, plain, secret)
		}

		notes := h.get("/admin/audit?action=export.personal").json(t)["data"].([]any)
		target := fmt.Sprint(notes[0].(map[string]any)["target"])
		require.Contains(t, target, "customers/")
		require.True(t, ids[strings.TrimPrefix(target, "customers/")], "the audit names the person by the internal id")

		require.Equal(t, 160212, h.get("/customers/nobody/export").fault(t).Code)
		require.Equal(t, http.StatusBadRequest, h.get("/customers/member-1/export?personal=perhaps").status)
		h.happens("member-3", "opt_out", `{}`)
		require.Equal(t, http.StatusNotFound, h.get("/customers/member-3/export").status)
		h.key = h.newKey(administration.KeyChange{APIs: &[]string{"customers"}})
		require.Equal(t, 190064, h.get("/customers/member-1/export?personal=true").fault(t).Code)
		require.Equal(t, http.StatusOK, h.get("/customers/member-1/export").status)
	})
}
