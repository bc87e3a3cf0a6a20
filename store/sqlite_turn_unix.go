//go:build linux || darwin || freebsd

package store

import (
	"os"
	"syscall"
)

// lockFile takes the lock of a file if it is free.
func lockFile(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil //nolint:gosec // a descriptor is small
}

func unlockFile(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) //nolint:gosec // likewise; the lock ends with the file at the latest
}
