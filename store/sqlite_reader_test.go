package store

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadersKeepStatements: a statement that is read with again is the one that was kept, while its rows are being read
// another one is, and however many texts there are, no more than some stay.
func TestReadersKeepStatements(t *testing.T) {
	_, e := openTestFile(t)
	c, err := e.readers.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	kept := func() (n int) {
		require.NoError(t, c.Raw(func(conn any) error {
			n = len(conn.(*readerConn).below.prepared)
			require.Empty(t, conn.(*readerConn).open)
			return nil
		}))
		return n
	}

	const text = `WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n`
	rest := func(rows *sql.Rows) (list []int) {
		for rows.Next() {
			var i int
			require.NoError(t, rows.Scan(&i))
			list = append(list, i)
		}
		require.NoError(t, rows.Close())
		return list
	}

	begin := func(ctx context.Context, text string, args ...any) *sql.Rows {
		rows, err := c.QueryContext(ctx, text, args...)
		require.NoError(t, err)
		return rows
	}

	read := func(text string, args ...any) []int {
		rows := begin(t.Context(), text, args...)
		list := rest(rows)
		require.NoError(t, rows.Err())
		return list
	}

	before := kept()
	for range 3 {
		require.Equal(t, []int{4, 5}, read(text, 4))
	}

	require.Equal(t, before+1, kept())

	outer := begin(t.Context(), text, 3)
	require.True(t, outer.Next())
	require.Equal(t, []int{5}, read(text, 5), "beside rows of the same text")
	require.Equal(t, []int{4, 5}, rest(outer), "and those go on")
	require.NoError(t, outer.Err())

	stopped, stop := context.WithCancel(t.Context())
	left := begin(stopped, text, 1)
	require.True(t, left.Next())
	stop()
	_ = left.Err() // whether it has noticed by now
	require.NoError(t, left.Close())
	require.Equal(t, []int{5}, read(text, 5), "after a reader who left")

	for i := range 5 * readerKept {
		require.Equal(t, []int{i}, read(fmt.Sprintf(`SELECT %d`, i)))
	}

	require.LessOrEqual(t, kept(), readerKept)
}
