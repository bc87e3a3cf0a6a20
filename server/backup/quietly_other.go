//go:build !linux

package backup

import "os"

// Quietly does work; elsewhere a thread has no priority of its own.
func Quietly(work func() error) error { return work() }

// Background does nothing where priorities are not those of threads.
func Background() {}

// flush does nothing where there is no such call: f.Sync does it all in the end.
func flush(*os.File, int64, int64) error { return nil }
