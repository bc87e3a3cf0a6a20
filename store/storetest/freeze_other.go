//go:build !linux

package storetest

import "testing"

// Freeze skips the test: it needs the processes of a server, which only Linux lists in files.
func (*Cluster) Freeze(t testing.TB) {
	t.Helper()
	t.Skip("NOT TESTED WITH A FROZEN SERVER: this system does not tell its processes")
}

// Thaw resumes a frozen server.
func (*Cluster) Thaw(testing.TB) {}
