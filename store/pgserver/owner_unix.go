//go:build unix

package pgserver

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// owner returns the user to run PostgreSQL as in place of root, which it refuses: postgres, or else the unprivileged
// user that every Unix has.
func owner() (uid, gid int, ok bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ = strconv.Atoi(u.Uid)
			gid, _ = strconv.Atoi(u.Gid)
			return uid, gid, true
		}
	}
	return 0, 0, false
}

// GiveAway makes the user that PostgreSQL runs as the owner of a folder.
func GiveAway(folder string) error {
	if uid, gid, ok := owner(); ok {
		return os.Chown(folder, uid, gid)
	}
	return nil
}

// Detach takes the command out of the terminal's process group, so that an interrupt reaches only the parent, which
// then stops things in order.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// Unprivileged detaches the command and runs it as the user that PostgreSQL runs as.
func Unprivileged(cmd *exec.Cmd) {
	Detach(cmd)
	if uid, gid, ok := owner(); ok {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
