package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeptMemory: what is kept grows with the memory, within bounds.
func TestKeptMemory(t *testing.T) {
	for there, kept := range map[uint64]int{0: 96 << 20, 1 << 30: 96 << 20, 16 << 30: 256 << 20, 1 << 40: 384 << 20} {
		require.Equal(t, kept, keptMemory(there), "%d", there)
	}
	require.Positive(t, memoryThere())
}
