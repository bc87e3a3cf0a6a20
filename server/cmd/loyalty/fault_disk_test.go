//go:build unix

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaultDiskFull runs the embedded database on a small disk that fills up
// (R4): writes are refused, reads go on, nothing acknowledged is lost, and the
// program goes on by itself when there is space again.
func TestFaultDiskFull(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "64m") // the log alone grows to 16 MB before it is folded
	g := newGround(t, "sqlite:"+filepath.Join(disk, "loyalty.db"))
	l := newLoad(t, g)
	s := g.start(t)
	l.open(s.address)
	ballast := filepath.Join(disk, "ballast")
	l.run(s.address)
	for range min(10, rounds(t, 2)) { // the database grows
		l.progress(100)
		fill(t, ballast)
		before := l.book.aways()
		require.Eventually(t, func() bool { return l.book.aways() > before }, patience, 1e6, "the disk is never full: %s", l.book)
		read := newCaller(t, g.key).get(s.address + "/customers/ada")
		require.NoError(t, read.err)
		require.Equal(t, http.StatusOK, read.status, "reads go on: %s", read.body)
		l.becomes(s, "/livez", http.StatusOK)
		becomesUnready(t, s, newCaller(t, g.key), "the database's disk is full")
		require.NoError(t, os.Remove(ballast))
		l.progress(100)
		becomesReady(t, s, newCaller(t, g.key))
	}

	fill(t, ballast)
	before := l.book.aways()
	require.Eventually(t, func() bool { return l.book.aways() > before }, patience, 1e6)
	require.Equal(t, -1, s.stop(os.Kill), "a kill on a full disk")
	l.stop()
	s = g.start(t)
	read := newCaller(t, g.key).get(s.address + "/customers/ada")
	require.Equal(t, http.StatusOK, read.status, "a full disk opens and is read: %s %v", read.body, read.err)
	require.NoError(t, os.Remove(ballast))
	l.resume(s.address)
	mustHold(t, l.check(s.address, 1))
	require.Equal(t, 0, s.stop(terminate), s.log())
	t.Log(l.book)
}

// smallDisk mounts a disk in memory.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=0700,size="+size, "loyalty-test", dir).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED ON A FULL DISK: mounting a small one needs root: %v %s", err, out)
	}
	t.Cleanup(func() {
		out, err := exec.Command("umount", dir).CombinedOutput()
		require.NoError(t, err, string(out))
	})
	return dir
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 1<<20))
	}
}
