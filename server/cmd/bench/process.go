package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/store/pgserver"
)

// leash starts a program, tells its process id, and ends with whoever holds the
// other end of its input, however that one dies: then the program is stopped
// and its folder removed, so that no run leaves anything behind.
const leash = `log=$1 signal=$2 dir=$3; shift 3
"$@" >>"$log" 2>&1 </dev/null &
echo $!
read -r _
kill -"$signal" $! 2>/dev/null
wait
rm -rf "$dir"`

// command says what a process is to be.
type command struct {
	args   []string
	env    []string // besides ours
	signal string   // what stops it: QUIT, TERM
	system bool     // runs as the unprivileged system user when we are root
}

// process is a program that runs on a leash, in a folder of its own.
type process struct {
	dir   string
	pid   int
	cmd   *exec.Cmd
	input io.Closer
}

// newDir makes the folder of a process, which start takes over; system gives it
// to the system user.
func newDir(parent, name string, system bool) (string, error) {
	dir, err := os.MkdirTemp(parent, "loyalty-bench-"+name+"-")
	if err != nil {
		return "", err
	}
	if system {
		if err := pgserver.GiveAway(dir); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// start runs the command in dir, which is removed when the process is stopped,
// and also when it cannot be started.
func start(dir string, c command) (*process, error) {
	args := append([]string{"-c", leash, "leash", filepath.Join(dir, "log"), c.signal, dir}, c.args...)
	cmd := exec.Command("/bin/sh", args...)
	cmd.Dir, cmd.Env = dir, append(cleanEnviron(), c.env...)
	if pgserver.Detach(cmd); c.system {
		pgserver.Unprivileged(cmd)
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	p := &process{dir: dir, cmd: cmd, input: input}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err == nil {
		p.pid, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.args[0], err), p.stop())
	}
	return p, nil
}

// stop ends the process and removes its folder. It waits up to a minute.
func (p *process) stop() error {
	err := p.input.Close()
	done := make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // the exit code is the last command's, which tells nothing
		close(done)
	}()
	select {
	case <-done:
		// The leash may remove what is in the folder, but only we may remove it from ours.
		return errors.Join(err, os.RemoveAll(p.dir))
	case <-time.After(time.Minute):
		return errors.Join(fmt.Errorf("process %d does not stop", p.pid), p.cmd.Process.Kill())
	}
}

// tail is the end of what the process wrote, for an error message.
func (p *process) tail() string {
	log, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	log = bytes.TrimSpace(log)
	return string(log[max(0, len(log)-2000):])
}

// memory is the process's resident memory in bytes, 0 where it cannot be told.
func (p *process) memory() int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	for line := range strings.Lines(string(status)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	return 0
}

// cleanEnviron is our environment without settings of the program.
func cleanEnviron() []string {
	var env []string
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "LOYALTY_") {
			env = append(env, setting)
		}
	}
	return env
}
