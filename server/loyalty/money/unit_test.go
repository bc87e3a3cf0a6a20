package money

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSmallest(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]Amount{
		"EUR": 100, "HUF": 100, "JPY": Unit, " jpy ": Unit, "KWD": 10, "CLF": 1, "UYW": 1, "": 100, "POINTS": 100,
	} {
		require.Equal(t, want, Smallest(currency), currency)
	}
}
