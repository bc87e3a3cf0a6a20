package loyalty_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestExternalIDs: one id is a text as it always was, several are a list, and a name without ids stands for null.
func TestExternalIDs(t *testing.T) {
	for text, ids := range map[string]loyalty.ExternalIDs{
		`{"crm":"a<b&\"c"}`:             {"crm": {`a<b&"c`}},
		`{"card":["1","2"],"crm":null}`: {"card": {"1", "2"}, "crm": nil},
		`{}`:                            {},
		`null`:                          nil,
	} {
		var read loyalty.ExternalIDs
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		require.Equal(t, ids, read)
		written, err := read.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}

	var read loyalty.ExternalIDs
	require.NoError(t, json.Unmarshal([]byte(`{"card":["1"],"crm":[]}`), &read))
	written, err := json.Marshal(map[string]loyalty.ExternalIDs{"<": read})
	require.NoError(t, err)
	require.Equal(t, `{"\u003c":{"card":"1","crm":null}}`, string(written))
	for _, bad := range []string{`[]`, `"a"`, `{"crm":7}`, `{"crm":{"a":"b"}}`, `{"crm":["1",7]}`, `{"crm":true}`} {
		require.Error(t, json.Unmarshal([]byte(bad), &read), bad)
	}

	require.Equal(t, []loyalty.Name{loyalty.ExternalName("a", "2"), loyalty.ExternalName("a", "1"), loyalty.ExternalName("b", "3")},
		loyalty.ExternalIDs{"b": {"3"}, "a": {"2", "1"}, "c": nil}.Names())
}
