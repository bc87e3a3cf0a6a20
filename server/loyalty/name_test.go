package loyalty_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestJoinersInIds: a joiner may stand in an id where a writing needs it, and nowhere in what people type.
func TestJoinersInIds(t *testing.T) {
	for id, takes := range map[string]bool{
		"👩\u200d💻": true, "👩🏽\u200d🚀": true, "❤\ufe0f\u200d🔥": true, "👨\u200d👩\u200d👧": true, // pictures of one emoji
		"می\u200cخواهم": true, "क्\u200cष": true, // letters of joining scripts
		"a\u200db": false, "👩\u200d": false, "\u200d👩": false, "👩\u200da": false, "👩\u200d\u200d💻": false, "🏽\u200d": false,
		"a\u200cb": false, "می\u200c": false, "\u200cمی": false, "می\u200cb": false,
		"a\u200bb": false, "a\u00adb": false, "a\u202eb": false, "a\ufeffb": false, "a\u2060b": false, "a\nb": false,
	} {
		require.Equal(t, takes, loyalty.Identifying(id), "%q", id)
		for _, property := range []string{"customer", "external_ids"} {
			require.Equal(t, takes, loyalty.CheckName(property, id) == nil, "%q", id)
		}
		for _, typed := range []string{"code", "transaction_id"} {
			require.Error(t, loyalty.CheckName(typed, id), "%q", id)
		}
	}
}
