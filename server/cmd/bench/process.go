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

// leash starts a program and prints its process id. When the other end of its input is closed, even by a crash, it
// stops the program and removes its folder, so that no run leaves anything behind.
const leash = `log=$1 signal=$2 dir=$3; shift 3
"$@" >>"$log" 2>&1 </dev/null &
echo $!
read -r _
kill -"$signal" $! 2>/dev/null
wait
rm -rf "$dir"`

// command describes a process to start.
type command struct {
	args   []string
	env    []string // in addition to ours
	signal string   // the signal that stops it: QUIT, TERM
	system bool     // run as the unprivileged system user if we are root
}

// process is a program that runs on a leash, in a folder of its own.
type process struct {
	dir   string
	pid   int
	cmd   *exec.Cmd
	input io.Closer
}

// newDir makes the folder of a process, which start takes over; with system it belongs to the system user.
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

// start runs the command in dir, which is removed when the process is stopped or cannot be started.
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
		_ = p.cmd.Wait() // the exit code is that of the last command and means nothing
		close(done)
	}()
	select {
	case <-done:
		// The leash may remove the content of the folder, but only we may remove the folder itself.
		return errors.Join(err, os.RemoveAll(p.dir))
	case <-time.After(time.Minute):
		return errors.Join(fmt.Errorf("process %d does not stop", p.pid), p.cmd.Process.Kill())
	}
}

// tail is the end of the process's output, for an error message.
func (p *process) tail() string {
	log, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	log = bytes.TrimSpace(log)
	return string(log[max(0, len(log)-2000):])
}

// memory is the process's resident memory in bytes, 0 if unknown.
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
