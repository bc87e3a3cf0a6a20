package store

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// TestStretches: every score is in one stretch, stretches follow one another, and
// one ends where the next one begins.
func TestStretches(t *testing.T) {
	for score := int64(-70_000); score <= 70_000; score++ {
		stretch := stretchOf(score)
		if score < stretchEnd(stretch) {
			require.Equal(t, stretch, stretchOf(score+1), score)
		} else {
			require.Equal(t, score, stretchEnd(stretch))
			require.Equal(t, stretch+1, stretchOf(score+1), score)
		}
	}

	rapid.Check(t, func(t *rapid.T) {
		score := rapid.Int64Range(-points.Max, points.Max).Draw(t, "score")
		end := stretchEnd(stretchOf(score))
		require.LessOrEqual(t, score, end)
		require.Equal(t, stretchOf(score), stretchOf(end))
		require.Equal(t, stretchOf(score)+1, stretchOf(end+1))
		require.LessOrEqual(t, end-score, max(score, -score)/fine+1, "a narrow one")
	})
}
