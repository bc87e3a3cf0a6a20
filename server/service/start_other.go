//go:build !linux

package service

// LeaveStart does nothing on this system.
func LeaveStart() {}
