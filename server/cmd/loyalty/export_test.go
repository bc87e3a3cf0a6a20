package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/export"
)

// Every table is written whole, and again behind any of its rows; personal data leaves a
// line in the audit.
func TestExportCommand(t *testing.T) {
	data := "--data=" + t.TempDir()
	r := inside(t, "demo", data, "--customers", "10", "--events", "600", "--seed", "1")
	require.Equal(t, 0, r.code, r.errors)
	for _, table := range export.Tables() {
		whole := inside(t, "export", table, data)
		require.Equal(t, 0, whole.code, whole.errors)
		rows, err := csv.NewReader(strings.NewReader(whole.out)).ReadAll()
		require.NoError(t, err, table)
		require.Greater(t, len(rows), 2, table)
		require.Len(t, rows[0], len(export.Columns(table, false)))
		behind := inside(t, "export", table, data, "--after", rows[1][0])
		require.Equal(t, 0, behind.code, behind.errors)
		require.True(t, strings.HasSuffix(whole.out, behind.out))
		rest, err := csv.NewReader(strings.NewReader(behind.out)).ReadAll()
		require.NoError(t, err)
		require.Equal(t, rows[2:], rest, "no row twice, none left out")
		lines := inside(t, "export", table, data, "--format", "ndjson")
		require.Equal(t, len(rows)-1, strings.Count(lines.out, "\n"))
		require.Empty(t, inside(t, "export", table, data, "--format", "ndjson", "--to", "2000-01-01").out)
		require.NotContains(t, whole.out, ",member-000")
	}

	file := filepath.Join(t.TempDir(), "customers.csv")
	r = inside(t, "export", "customers", data, "--personal", "--output", file)
	require.Equal(t, 0, r.code, r.errors)
	require.Contains(t, r.errors, "customers: 10 rows")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "member-0001")
	for _, c := range []struct {
		args  []string
		words string
	}{
		{[]string{"secrets"}, "there is no table"}, {[]string{"lots", "--after", "x"}, "--after"}, {[]string{"lots", "--from", "x"}, "--from"},
		{[]string{"lots", "--format", "xls"}, "--format"}, {[]string{"lots", "--output", file}, "--output"},
	} {
		r := inside(t, append(append([]string{"export"}, c.args...), data)...)
		require.Equal(t, 2, r.code, c.args)
		require.Contains(t, r.errors, c.words)
	}
}
