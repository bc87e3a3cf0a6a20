//go:build !linux

package systemd

// LeaveStart does nothing on this system.
func LeaveStart() {}
