package store

import (
	"encoding/hex"
	"testing"
	"time"

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

// TestChainHash: the hash of a row never changes, with the sender only where there is one, and every other row has
// another hash.
func TestChainHash(t *testing.T) {
	head := func(sentBy, effects, postings string) string {
		five := int64(5)
		row := eventLink{recordedAt: Millis(time.UnixMilli(2000)), at: Millis(time.UnixMilli(1000)), points: &five, parent: UUID{7}, action: "visit", transaction: "T-1",
			data: []byte(`{"a":1}`), personal: []byte{1}, effectText: []byte(effects), sentBy: sentBy}
		return hex.EncodeToString((&link{customer: UUID{1}, event: UUID{2}, row: &row, postings: postings}).after([]byte{9}))
	}
	const stored = "c50068fb78b3878f35ee4931b909858dba6f529ee5ae894aeac13e95743fa1e4"
	require.Equal(t, stored, head("", "{}", "1:0:1::5;"))
	for _, other := range []string{head("LK1", "{}", "1:0:1::5;"), head("{}", "", "1:0:1::5;"), head("1:0:1::5;", "{}", "")} {
		require.NotEqual(t, stored, other)
	}
}
