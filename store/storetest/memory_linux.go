package storetest

import (
	"os"
	"sync"
	"syscall"
)

// inMemory is the folder in memory for tests' databases, if it has enough space: a PostgreSQL database is a thousand
// files, and writing and deleting them is most of the cost of such a test. Empty: the temporary folder.
// LOYALTY_TEST_FSYNC=1 asks for a real disk, and so does the test plan (LOYALTY_TORTURE), which has the time for one.
var inMemory = sync.OnceValue(func() string {
	const (
		folder = "/dev/shm"
		tmpfs  = 0x01021994
		room   = 4 << 30 // bytes
	)
	var s syscall.Statfs_t
	if os.Getenv("LOYALTY_TEST_FSYNC") == "1" || os.Getenv("LOYALTY_TORTURE") != "" || syscall.Statfs(folder, &s) != nil {
		return ""
	}
	if s.Type != tmpfs || s.Bavail*uint64(s.Bsize) < room { //nolint:gosec // a block's size is above zero
		return ""
	}
	return folder
})
