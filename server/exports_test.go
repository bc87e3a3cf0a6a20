package server_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// exported reads a table as lines of JSON.
func (h *house) exported(table, query string) (rows []map[string]any) {
	h.t.Helper()
	a := h.sees("/admin/exports/" + table + "?" + query)
	for line := range strings.Lines(a.body) {
		var row map[string]any
		require.NoError(h.t, json.Unmarshal([]byte(line), &row), line)
		rows = append(rows, row)
	}
	return rows
}

// spreadsheet reads a table as CSV, by the names of its columns.
func (h *house) spreadsheet(table, query string) (rows []map[string]string) {
	h.t.Helper()
	a := h.sees("/admin/exports/" + table + "?format=csv&" + query)
	require.Equal(h.t, "text/csv; charset=utf-8", a.header.Get("Content-Type"))
	all, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	require.NoError(h.t, err)
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// shopped has customers with points, purchases and coupons.
func (h *house) shopped(customers int) {
	for i := range customers {
		name := fmt.Sprint("member-", i)
		h.enrol(name)
		h.happens(name, "point_add", `{"points":50,"reason":"secret-reason"}`)
		h.happens(name, "checkout", fmt.Sprintf(`{"transaction_id":"=T/%d","total":10.5,"currency":"EUR","points_burned":5,"items":[{"product_id":"p","product_name":"P","product_url":"https://shop.test/p","quantity":2,"subtotal":10.5}]}`, i))
		h.happens(name, "coupon_create", fmt.Sprintf(`{"code":"C-%d","value":5}`, i))
	}
	h.numbered()
}

// TestExports: every row of every table once, in both forms, in one answer or behind any
// row, and within a stretch of time.
func TestExports(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, at string) {
		h := openOn(t, at, patient)
		h.module("coupons", true)
		for _, table := range []string{"customers", "events", "postings", "lots", "purchases", "coupons", "claims"} {
			require.Empty(t, h.exported(table, ""), table)
		}

		began := time.Now().Add(-time.Minute).UTC()
		h.shopped(7)
		want := map[string]int{"customers": 7, "purchases": 7, "coupons": 7, "claims": 0}
		for _, table := range []string{"customers", "events", "postings", "lots", "purchases", "coupons", "claims"} {
			all := h.exported(table, "")
			if n, known := want[table]; known {
				require.Len(t, all, n, table)
			} else {
				require.Greater(t, len(all), 13, table)
			}

			seen := map[string]bool{}
			for i, row := range all {
				key := fmt.Sprint(row["key"])
				require.False(t, seen[key], key)
				seen[key] = true
				require.NotContains(t, row, "customer")
				rest := h.exported(table, "after="+url.QueryEscape(textOf(row["key"])))
				require.Equal(t, all[i+1:], append(all[:0:0], rest...), "%s behind %s", table, key)
			}

			cells := h.spreadsheet(table, "")
			require.Len(t, cells, len(all), table)
			for i := range cells {
				require.Equal(t, textOf(all[i]["key"]), cells[i]["key"])
			}

			require.Len(t, h.exported(table, "limit=3"), min(3, len(all)), table)
			for query, n := range map[string]int{
				"from=" + began.Format(time.RFC3339): len(all), "to=" + began.Format(time.RFC3339): 0,
				"from=2099-01-01T00:00:00Z": 0, "from=2000-01-01T00:00:00Z&to=2099-01-01T00:00:00Z&personal=true": len(all),
			} {
				require.Len(t, h.exported(table, query), n, "%s %s", table, query)
			}
		}

		var sum float64
		for _, p := range h.exported("postings", "") {
			if p["to"] == "available" {
				sum += p["points"].(float64)
			}
			if p["from"] == "available" {
				sum -= p["points"].(float64)
			}
		}

		var held, spendable float64
		for _, l := range h.exported("lots", "") {
			held += l["remaining"].(float64)
		}

		for _, c := range h.exported("customers", "") {
			spendable += c["spendable"].(float64)
		}

		require.Equal(t, held, sum)
		require.Equal(t, held, spendable)
	})
}

// textOf writes a key as the query has it.
func textOf(key any) string {
	if n, is := key.(float64); is {
		return fmt.Sprint(int64(n))
	}
	return fmt.Sprint(key)
}

// TestExportsPersonal: what names a person comes only where it was asked for, by a key that
// may see it, and leaves a line in the audit; of who left nothing is named.
func TestExportsPersonal(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, at string) {
		h := openOn(t, at, patient)
		h.module("coupons", true)
		h.shopped(2)
		tables := []string{"customers", "events", "postings", "lots", "purchases", "coupons", "claims"}
		whole := func(query string) (text string) {
			for _, table := range tables {
				a := h.sees("/admin/exports/" + table + "?" + query)
				text += a.body
			}
			return text
		}

		plain := whole("")
		for _, secret := range []string{"member-0", "secret-reason", "@"} {
			require.NotContains(t, plain, secret)
		}

		audit := func() int { return len(h.get("/admin/audit?action=export.personal").json(t)["data"].([]any)) }
		require.Zero(t, audit())
		open := whole("personal=true")
		for _, secret := range []string{"member-0", "secret-reason"} {
			require.Contains(t, open, secret)
		}

		require.Equal(t, len(tables), audit())
		h.happens("member-0", "opt_out", `{}`)
		h.numbered()
		require.NotContains(t, whole("personal=true"), "member-0")
		require.Contains(t, whole("personal=true"), "member-1")

		h.key = h.newKey(administration.KeyChange{APIs: &[]string{"administration"}})
		require.Equal(t, http.StatusForbidden, h.get("/admin/exports/lots?personal=true").status)
		require.Equal(t, http.StatusOK, h.get("/admin/exports/lots").status)
	})
}

// TestExportFormulas: no cell is a formula, and numbers stay numbers.
func TestExportFormulas(t *testing.T) {
	h := open(t)
	for i, name := range []string{"=1+1", "+36", "-1", "@x", "'quoted", "a,\"b\"\nc", "＝1+1", "＋36", "－1", "＠x"} {
		h.enrol(fmt.Sprint("m", i))
		h.happens(fmt.Sprint("m", i), "profile", fmt.Sprintf(`{"first_name":%q}`, name))
	}
	var got []string
	for _, row := range h.spreadsheet("customers", "personal=true") {
		got = append(got, row["first_name"])
	}
	require.Equal(t, []string{"'=1+1", "'+36", "'-1", "'@x", "''quoted", "a,\"b\"\nc", "'＝1+1", "'＋36", "'－1", "'＠x"}, got)
	for _, row := range h.exported("customers", "personal=true") {
		require.NotContains(t, row["first_name"], "'=")
	}
}

func TestExportFaults(t *testing.T) {
	h := open(t)
	for _, c := range []struct {
		path  string
		field string
	}{
		{"lots?after=x", "after"}, {"lots?after=0197b3a2-6d0c-7c55-9a3e-1f0a4c1d1001", "after"}, {"events?after=-1", "after"},
		{"postings?after=1", "after"}, {"postings?after=1/0", "after"}, {"customers?after=1/2", "after"},
		{"lots?from=yesterday", "from"}, {"lots?format=xls", "format"}, {"lots?limit=0", "limit"}, {"secrets", "table"},
	} {
		a := h.get("/admin/exports/" + c.path)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", c.path, a.body)
		require.Contains(t, a.body, c.field, c.path)
	}
}
