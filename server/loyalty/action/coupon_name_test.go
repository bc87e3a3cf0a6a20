package action_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestCouponName: a name is kept as it is or sealed, opens with its key for its own
// coupon alone, and without the key there is none.
func TestCouponName(t *testing.T) {
	coupon, other, key := loyalty.ID{1}, loyalty.ID{2}, make([]byte, loyalty.KeySize)
	texts := map[string]string{"en": "Gift", "hu": "Ajándék"}
	plain, err := json.Marshal(texts)
	require.NoError(t, err)
	sealed, err := loyalty.Seal(key, coupon[:], plain)
	require.NoError(t, err)
	for name, n := range map[string]loyalty.CouponName{
		"none": {}, "the programme's": {Texts: texts}, "a caller's": {Sealed: sealed, Customer: loyalty.ID{3}},
	} {
		t.Run(name, func(t *testing.T) {
			written, err := json.Marshal(n)
			require.NoError(t, err)
			var read loyalty.CouponName
			require.NoError(t, json.Unmarshal(written, &read))
			require.Equal(t, n, read)
			require.Equal(t, name == "none", n.IsZero())
			opened, err := read.Open(key, coupon)
			require.NoError(t, err)
			gone, err := read.Open(nil, coupon)
			require.NoError(t, err)
			if n.Sealed == nil {
				require.Equal(t, n, opened)
				require.Equal(t, n, gone)
				return
			}

			require.NotContains(t, string(written), "Gift")
			require.Equal(t, loyalty.CouponName{Texts: texts}, opened)
			require.Zero(t, gone)
			_, err = read.Open(key, other)
			require.Error(t, err, "it belongs to its coupon")
		})
	}

	require.Error(t, json.Unmarshal([]byte(`{"sealed":7}`), new(loyalty.CouponName)))
	require.Error(t, json.Unmarshal([]byte(`7`), new(loyalty.CouponName)))
}
