package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestOnlyChangedPiecesAreWritten counts the rows of lines that a write has.
func TestOnlyChangedPiecesAreWritten(t *testing.T) {
	purchase := func(lines, pieces int) loyalty.Transaction {
		return loyalty.Transaction{Name: "T", Pieces: pieces, Detail: loyalty.TransactionDetail{Items: make([]loyalty.Line, lines)}}
	}
	touched := purchase(5000, 79)
	touched.Detail.Items[64].Points, touched.Detail.Items[4999].Personal = 1, []byte{1}
	for name, c := range map[string]struct {
		before, after        loyalty.Transaction
		added, changed, gone int
	}{
		"nothing":                 {purchase(5000, 79), purchase(5000, 79), 0, 0, 0},
		"two lines":               {purchase(5000, 79), touched, 0, 2, 0},
		"few lines":               {purchase(64, 0), purchase(64, 0), 0, 0, 0},
		"lines that come":         {purchase(64, 0), purchase(65, 0), 2, 0, 0},
		"a line that goes":        {purchase(65, 2), purchase(64, 2), 0, 0, 2},
		"a last row that shrinks": {purchase(130, 3), purchase(129, 3), 0, 1, 0},
		"a last row that grows":   {purchase(129, 3), purchase(193, 3), 1, 1, 0},
	} {
		p := piecesOf(&loyalty.Writes{Transactions: []changedTransaction{{Before: c.before, After: c.after}}})
		require.Equal(t, []int{c.added, c.changed, c.gone}, []int{len(p.added), len(p.changed), len(p.gone)}, name)
	}

	p := piecesOf(&loyalty.Writes{NewTransactions: []loyalty.Transaction{purchase(65, 0), purchase(64, 0)}, Moved: []changedTransaction{{Before: purchase(200, 4), After: purchase(200, 4)}}})
	require.Equal(t, []int{6, 0, 4}, []int{len(p.added), len(p.changed), len(p.gone)})
}
