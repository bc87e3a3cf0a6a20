//go:build !linux

package storetest

// inMemory is the folder in which tests keep their databases; empty: the temporary one.
func inMemory() string { return "" }
