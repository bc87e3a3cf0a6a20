package backup

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// quietNice is the niceness of copying and proving: a server beside it goes first.
const quietNice = 15

// Quietly does work at a low priority, and so do the programs that it starts. On Linux the
// priority is the thread's: the one that the work is tied to ends with it.
func Quietly(work func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread is not used again
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, quietNice)
		done <- work()
	}()
	return <-done
}

// Background lowers the priority of this whole program, for a command that does nothing but
// copy or prove: collecting garbage is work too, and done by threads of its own.
func Background() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, quietNice) // threads to come inherit it
		}
	}
}

// flush waits until a part of a file is on the disk; f.Sync is still needed in the end.
func flush(f *os.File, at, n int64) error {
	const wait, write, waitBehind = 1, 2, 4 // SYNC_FILE_RANGE_…
	err := syscall.SyncFileRange(int(f.Fd()), at, n, wait|write|waitBehind)
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ESPIPE) || errors.Is(err, syscall.EINVAL) {
		return nil // not every disk can: f.Sync does it
	}
	return err
}
