package engine

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
)

// Attributes that need no decoder are read as the decoder reads them.
func TestTextAndDecimal(t *testing.T) {
	same := func(t require.TestingT, raw []byte) {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = ""
		}
		require.Equal(t, s, loyalty.TextOf(raw), "%q", raw)
		var n float64
		if json.Unmarshal(raw, &n) != nil {
			n = 0
		}
		require.InDelta(t, n, decimalOf(raw), 0, "%q", raw)
	}

	for _, raw := range []string{"", `""`, `"a"`, `"Kávé"`, `"a\u00e9\n"`, "\"\xff\"", "0", "-1.50", "1e3", "1e999", `"7"`, "true", "null", "[1]", `{"a":1}`} {
		same(t, []byte(raw))
	}

	require.Equal(t, "Kávé", loyalty.TextOf([]byte(`"Kávé"`)))
	require.InDelta(t, -1.5, decimalOf([]byte("-1.50")), 0)
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Float64(), func(f float64) any { return f })).Draw(t, "value"))
		if err == nil {
			same(t, raw)
		}
	})
}

// Every text of the profile is a fact of conditions under its name.
func TestConditionsSeeEachTextOfTheProfile(t *testing.T) {
	for _, field := range loyalty.ProfileTexts {
		c, err := condition.Compile(`customer.` + field.Name + ` == "here"`)
		require.NoError(t, err, field.Name)
		var p loyalty.Profile
		*field.Of(&p) = "here"
		holds, err := c.Holds(&condition.Facts{Customer: condition.Customer{Profile: &p}})
		require.NoError(t, err)
		require.True(t, holds, field.Name)
		holds, err = c.Holds(&condition.Facts{})
		require.NoError(t, err)
		require.False(t, holds, field.Name)
	}
}
