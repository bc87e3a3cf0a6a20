package storetest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Freeze stops every process of the server, like a machine that hangs: its connections stay open, and requests get no
// answer. Thaw ends it, at the latest with the test.
func (c *Cluster) Freeze(t testing.TB) {
	t.Helper()
	if err := c.signal(syscall.SIGSTOP); err != nil {
		t.Fatalf("freezing a server: %v", err)
	}
	t.Cleanup(func() { _ = c.signal(syscall.SIGCONT) }) // it may be gone by then
}

// Thaw resumes a frozen server.
func (c *Cluster) Thaw(t testing.TB) {
	t.Helper()
	if err := c.signal(syscall.SIGCONT); err != nil {
		t.Fatalf("thawing a server: %v", err)
	}
}

// signal reaches the postmaster first, so that it starts no new process, and then all its children.
func (c *Cluster) signal(s syscall.Signal) error {
	first, err := c.postmaster()
	if err != nil {
		return err
	}
	if err := syscall.Kill(first, s); err != nil {
		return err
	}

	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return err
	}

	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}

		// the format is: pid (name) state parent …; a name may contain blanks and brackets
		after := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(after) < 2 || after[1] != strconv.Itoa(first) {
			continue
		}

		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}

	return nil
}
