//go:build linux || darwin || freebsd

package doctor

import "syscall"

// Space returns the free space of a folder's disk in bytes.
func Space(folder string) (free, total uint64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, 0, false
	}
	size := uint64(s.Bsize)                               //nolint:gosec // of a block
	return uint64(s.Bavail) * size, s.Blocks * size, true //nolint:unconvert // it is signed elsewhere
}
