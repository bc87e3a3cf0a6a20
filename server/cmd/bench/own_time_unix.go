//go:build unix

package main

import (
	"syscall"
	"time"
)

// ownTime is the processor time of this program and of the ended programs that it ran.
func ownTime() (all time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if syscall.Getrusage(who, &used) == nil {
			all += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return all
}
