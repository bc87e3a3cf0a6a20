//go:build !linux

package backup

import "os"

// Quietly runs work; on this system a thread has no priority of its own.
func Quietly(work func() error) error { return work() }

// Background does nothing on this system.
func Background() {}

// flush does nothing on this system: f.Sync does all of it at the end.
func flush(*os.File, int64, int64) error { return nil }
