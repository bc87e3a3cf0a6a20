package backup

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// quietNice is the niceness of copying and proving, so that a server beside it has priority.
const quietNice = 15

// Quietly runs work, and the programs that it starts, at a low priority. On Linux the priority belongs to the thread:
// the work is bound to one, which ends with it.
func Quietly(work func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, quietNice)
		done <- work()
	}()
	return <-done
}

// Background lowers the priority of the whole program, for a command that only copies or proves: garbage collection
// takes processor time as well, on threads of its own.
func Background() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, quietNice) // new threads inherit it
		}
	}
}

// flush waits until a part of a file is on the disk; f.Sync is still needed at the end.
func flush(f *os.File, at, n int64) error {
	const wait, write, waitBehind = 1, 2, 4 // SYNC_FILE_RANGE_…
	err := syscall.SyncFileRange(int(f.Fd()), at, n, wait|write|waitBehind)
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ESPIPE) || errors.Is(err, syscall.EINVAL) {
		return nil // not every file system supports it: f.Sync does it
	}
	return err
}
