package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplicaURLs: commas part addresses, and the hosts of one.
func TestReplicaURLs(t *testing.T) {
	for text, wanted := range map[string][]string{
		"":                                      nil,
		"postgres://a/x":                        {"postgres://a/x"},
		"postgres://a/x, postgresql://b/x,":     {"postgres://a/x", "postgresql://b/x"},
		"postgres://u@a:1,b:2/x,postgres://c/x": {"postgres://u@a:1,b:2/x", "postgres://c/x"},
	} {
		require.Equal(t, wanted, replicaURLs(text), text)
	}
}
