package coupon

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

func TestCodesFollowTheirPattern(t *testing.T) {
	r := NewRandom()
	for pattern, form := range map[string]string{
		"COF-####-@@@@": `^COF-[0-9]{4}-[A-HJ-NP-Z]{4}$`,
		"************":  `^[2-9A-HJ-NP-Z]{12}$`,
		"é#ß@*x":        `^é[0-9]ß[A-HJ-NP-Z][2-9A-HJ-NP-Z]x$`,
	} {
		p := readPattern(pattern)
		for range 200 {
			require.Regexp(t, regexp.MustCompile(form), p.Draw(r))
		}
	}
}

func TestPatternsAreCounted(t *testing.T) {
	for pattern, n := range map[string]float64{"######": 1e6, "@#*": 24 * 10 * 32, "FIXED": 1, "A-####": 1e4} {
		require.InDelta(t, n, readPattern(pattern).Codes(), 0, pattern)
	}
	require.Greater(t, ownPattern.Codes(), sparse, "codes of no pool are never expected to meet")
}

// Every character of a place comes up: no part of the alphabet is left out.
func TestCodesUseTheWholeAlphabet(t *testing.T) {
	r, p, seen := NewRandom(), readPattern("*"), map[string]bool{}
	for range 5000 {
		seen[p.Draw(r)] = true
	}
	require.Len(t, seen, len(codeMixed))
}

func TestPoolPatternIsChecked(t *testing.T) {
	for pattern, ok := range map[string]bool{"": false, "#####": false, "######": true, "@@@@-##": true, "ABCDEF": false} {
		pool := Pool{Source: PoolGenerated, Pattern: pattern}
		if err := pool.readPattern(); ok {
			require.NoError(t, err, pattern)
		} else {
			require.Equal(t, "pattern", loyalty.AsError(err).Details[0].Field, pattern)
		}
	}
}
