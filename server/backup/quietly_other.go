//go:build !linux

package backup

// quietly does work; elsewhere a thread has no priority of its own.
func quietly(work func() error) error { return work() }

// Background does nothing where priorities are not those of threads.
func Background() {}
