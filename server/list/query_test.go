package list

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// FuzzQuery: a query is read or refused, and everything read was in it.
func FuzzQuery(f *testing.F) {
	f.Add("a=1&b=%20&c")
	f.Add("=&;=%zz&%00=1")

	f.Fuzz(func(t *testing.T, raw string) {
		pairs, err := ParseQuery(raw)
		if err != nil {
			var e *loyalty.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, loyalty.Invalid, e.Kind)
			require.NotEmpty(t, e.Name)
			return
		}
		for _, p := range pairs {
			require.True(t, contract.IsText(p.Name) && contract.IsText(p.Value))
		}
	})
}
