package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each kind of work is done to its end, and the callers' events are measured before and beside it.
func TestBeside(t *testing.T) {
	everyRow(t)
	needsPostgres(t)
	for databases, only := range map[string]string{"sqlite": "claims,lots", "postgres": "tiers,purchases"} {
		t.Run(databases, func(t *testing.T) {
			t.Parallel()
			o, err := besideFlags([]string{"-items", "100", "-alone", "1", "-seconds", "0.05", "-wait", "0s", "-databases", databases, "-only", only, "-binary", built(t), "-dir", small(t).dir})
			require.NoError(t, err)
			var out strings.Builder
			require.NoError(t, beside(t.Context(), o, &out, t.Output()))
			require.Contains(t, out.String(), "machine was")
			for _, w := range works {
				if strings.Contains(only, w.name) {
					require.Contains(t, out.String(), w.title)
				} else {
					require.NotContains(t, out.String(), w.title)
				}
			}

			requireGone(t, o.options)
		})
	}
}

func TestBesideOptions(t *testing.T) {
	for reason, args := range map[string]string{"-items must be": "-items 999", "-alone 1 or": "-alone 0", `no work called "lot"`: "-only claims,lot"} {
		o, err := besideFlags(strings.Fields(args))
		require.NoError(t, err)
		require.ErrorContains(t, o.validate(), reason)
	}
}
