//go:build !linux && !darwin && !freebsd

package doctor

// Space is unknown on this system.
func Space(string) (free, total uint64, ok bool) { return 0, 0, false }
