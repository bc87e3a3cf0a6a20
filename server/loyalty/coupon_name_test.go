package loyalty

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestCouponNamesAreReadAsWritten: as they were written, in a form that others wrote, and inside
// of what an event did.
func TestCouponNamesAreReadAsWritten(t *testing.T) {
	words := rapid.SampledFrom([]string{"en", "hu", "", `q"`, `\`, "<&>", "é\u2028", "\n", "a:b,c}"})
	rapid.Check(t, func(t *rapid.T) {
		want := CouponName{Texts: rapid.MapOfN(words, words, 1, 4).Draw(t, "texts")}
		if rapid.Bool().Draw(t, "sealed") {
			want = CouponName{Sealed: rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "sealed"), Customer: ID{1, 15: 2}}
		}

		text, err := json.Marshal(want)
		require.NoError(t, err)
		spaced, err := json.MarshalIndent(want, "", " ")
		require.NoError(t, err)
		for _, form := range [][]byte{text, spaced} {
			got := CouponName{Texts: map[string]string{"xx": "before"}, Sealed: []byte{1}}
			require.NoError(t, got.UnmarshalJSON(form), "%s", form)
			require.Equal(t, want, got, "%s", form)
		}

		var all struct{ Name CouponName }
		require.NoError(t, json.Unmarshal([]byte(`{"Name":`+string(spaced)+`}`), &all))
		require.Equal(t, want, all.Name)
	})
}

func TestNoNamesOfCoupons(t *testing.T) {
	for _, text := range []string{`{}`, `null`} {
		var none CouponName
		require.NoError(t, none.UnmarshalJSON([]byte(text)))
		require.True(t, none.IsZero(), text)
	}
	for _, text := range []string{``, `{`, `[]`, `"en"`, `{"en":1}`, `{"en":"a}`, `{"en":}`, `{"sealed":1,"customer":2}`} {
		var wrong CouponName
		require.Error(t, wrong.UnmarshalJSON([]byte(text)), text)
	}
}
