//go:build unix

package storetest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// owner is the user to run PostgreSQL as where the test runs as root, which PostgreSQL
// refuses: postgres, or else the unprivileged user that every Unix has.
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

func giveAway(dir string) error {
	if uid, gid, ok := owner(); ok {
		return os.Chown(dir, uid, gid)
	}
	return nil
}

// unprivileged also takes the command out of the terminal's process group, so
// that an interrupt reaches the test first.
func unprivileged(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if uid, gid, ok := owner(); ok {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
