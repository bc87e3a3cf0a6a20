//go:build !linux && !darwin && !freebsd

package doctor

// Space is not known here.
func Space(string) (free, total uint64, ok bool) { return 0, 0, false }
