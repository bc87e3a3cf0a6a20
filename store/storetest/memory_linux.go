package storetest

import (
	"os"
	"sync"
	"syscall"
)

// inMemory is the folder in which tests keep their databases where it has room to
// spare: a PostgreSQL database is a thousand files, and most of what a test of this
// kind costs is to write them and to take them away again. Empty: the temporary
// folder. LOYALTY_TEST_FSYNC=1 asks for a real disk, and so does the test plan
// (LOYALTY_TORTURE), which has the time for one.
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
