package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNextRoom: batches that were split are followed by smaller ones, and those by larger ones
// until they are as large as ever.
func TestNextRoom(t *testing.T) {
	for name, c := range map[string]struct {
		room, size int
		split      bool
		want       int
	}{
		"a full batch that was not split": {128, 128, false, 128},
		"one that was":                    {128, 128, true, 64},
		"a small one that was":            {128, 10, true, 5},
		"two that were":                   {128, 2, true, 1},
		"a small batch tells nothing":     {32, 5, false, 32},
		"a full one lets more in":         {32, 32, false, 37},
		"even after one":                  {1, 1, false, 2},
		"and never more than usual":       {120, 120, false, 128},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, nextRoom(c.room, c.size, MaxBatch, c.split)) })
	}
}
