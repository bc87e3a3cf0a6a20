package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChainTellsFieldsApart: what is moved from one field to the next is another row.
func TestChainTellsFieldsApart(t *testing.T) {
	head := func(action, transaction string) []byte {
		return (&link{row: &eventLink{action: action, transaction: transaction}}).after(nil)
	}
	require.Equal(t, head("checkout", "T-1"), head("checkout", "T-1"))
	require.NotEqual(t, head("checkout", "T-1"), head("checkoutT", "-1"))
}
