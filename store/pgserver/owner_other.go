//go:build !unix

package pgserver

import "os/exec"

// GiveAway does nothing: only on Unix does PostgreSQL refuse the user that tests run as.
func GiveAway(string) error { return nil }

// Detach does nothing: there are no process groups.
func Detach(*exec.Cmd) {}

// Unprivileged does nothing, as GiveAway does.
func Unprivileged(*exec.Cmd) {}
