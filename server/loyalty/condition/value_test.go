package condition

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What needs no decoder is read as the decoder reads it.
func TestDecode(t *testing.T) {
	for _, raw := range []string{
		"", `"`, `""`, `"a"`, `"a\n"`, `"a\u00e9"`, `"é"`, "\"a\xff\"", "\"a\nb\"", `"a"b"`, `"a" "b"`, ` "a"`, `"a" `,
		"0", "-0", "-", "-1", "01", "1.", "1.50", "1e3", "1e999", "-1e-999", "1_000", "0x10", "+1", "9007199254740993", "92233720368547758070", "1 2", "1 ", " 1",
		"true", "false", "null", "nul", "[1]", `{"a":1}`, "NaN", "Infinity",
	} {
		require.Equal(t, decodeAny(json.RawMessage(raw)), decode(json.RawMessage(raw)), "%q", raw)
	}

	require.Equal(t, textOf("a"), decode(json.RawMessage(`"a"`)))
	require.Equal(t, integer(9007199254740993), decode(json.RawMessage("9007199254740993")))
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.OneOf(
			rapid.Map(rapid.String(), func(s string) []byte { raw, _ := json.Marshal(s); return raw }),
			rapid.Map(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), func(f float64) []byte { raw, _ := json.Marshal(f); return raw }),
			rapid.Map(rapid.Int64(), func(n int64) []byte { raw, _ := json.Marshal(n); return raw }),
			rapid.SliceOfN(rapid.SampledFrom([]byte(`"\ 0123456789.eE+-atrue`)), 0, 12),
		).Draw(t, "raw")
		require.Equal(t, decodeAny(raw), decode(raw), "%q", raw)
	})
}
