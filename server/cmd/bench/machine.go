package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which /proc counts processor time.
const tick = 10 * time.Millisecond

// machine tells which programs use the processors. Values that the system does not tell are zero.
type machine struct {
	database *process   // the cluster; nil: none
	programs []*process // every server that this run has started
}

// usage is processor time since the machine, or the process, was started.
type usage struct {
	busy, idle, steal time.Duration // of all processors; idle includes waiting for disks
	// of the measured ones; client is this program and those that it runs, such as pgbench
	server, database, client time.Duration
	programs                 time.Duration // of every server, including the measured ones
}

// sub is the usage between two instants.
func (u usage) sub(before usage) usage {
	return usage{
		u.busy - before.busy, u.idle - before.idle, u.steal - before.steal,
		u.server - before.server, u.database - before.database, u.client - before.client, u.programs - before.programs,
	}
}

// all is the time of all processors, including what the host took away.
func (u usage) all() time.Duration { return u.busy + u.idle + u.steal }

// others is the time of other programs. It includes interrupts and threads of the kernel, even those that work for us.
func (u usage) others() time.Duration {
	return max(0, u.busy-u.programs-u.database-u.client)
}

// usage reads the clocks of the machine and of the measured servers.
func (m *machine) usage(measured []*process) usage {
	var u usage
	stat, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(stat), "\n")
	u.busy, u.idle, u.steal = parseProcessors(line)
	u.client = ownTime()
	if m == nil {
		return u
	}

	times := readTimesOfTrees()
	if m.database != nil {
		u.database = times[m.database.pid]
	}

	for _, p := range m.programs {
		u.programs += times[p.pid]
	}

	for _, p := range measured {
		u.server += times[p.pid]
	}

	return u
}

// parseProcessors reads the "cpu" line of /proc/stat: user nice system idle iowait
// irq softirq steal.
func parseProcessors(line string) (busy, idle, steal time.Duration) {
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, 0, 0
	}
	var ticks [8]time.Duration
	for i := range ticks {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return 0, 0, 0
		}
		ticks[i] = time.Duration(n) * tick
	}
	return ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], ticks[3] + ticks[4], ticks[7]
}

// readTimesOfTrees returns the time of each process and its children: of those that have ended, which the system adds
// to their parent, and of those that live.
func readTimesOfTrees() map[int]time.Duration {
	entries, _ := os.ReadDir("/proc")
	times := make(map[int]time.Duration, len(entries))
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		if parent, own, ended, ok := parseProcess(string(stat)); ok {
			times[pid] += own + ended
			times[parent] += own + ended
		}
	}

	return times
}

// parseProcess reads /proc/<pid>/stat: the parent of a process, its own time, and the time of its ended children. A
// program's name may contain anything, so fields are counted from the last parenthesis.
func parseProcess(stat string) (parent int, own, ended time.Duration, ok bool) {
	i := strings.LastIndexByte(stat, ')')
	if i < 0 {
		return 0, 0, 0, false
	}

	fields := strings.Fields(stat[i+1:]) // from the third on: state ppid …
	if len(fields) < 15 {
		return 0, 0, 0, false
	}

	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0, 0, 0, false
	}

	var ticks [4]time.Duration // user, system, and both for the children
	for i := range ticks {
		n, err := strconv.ParseInt(fields[11+i], 10, 64)
		if err != nil {
			return 0, 0, 0, false
		}
		ticks[i] = time.Duration(n) * tick
	}

	return parent, ticks[0] + ticks[1], ticks[2] + ticks[3], true
}

// How long rest waits for our own programs, and when they count as idle: the jobs of the previously measured server,
// such as boards and tiers, must not run into the next measurement.
const (
	restWindows = 5 // of the measurement's windows, at most
	restLook    = 15 * tick
	mostAtRest  = tick // of the processors, in one look
)

func (u usage) atRest() bool { return u.programs+u.database <= mostAtRest }

// rest waits until our programs and the database are idle, for a bounded number of windows.
func (m *machine) rest(ctx context.Context, window time.Duration) {
	if m == nil {
		return
	}

	deadline := time.Now().Add(restWindows * window)
	for before := m.usage(nil); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(restLook):
		}
		now := m.usage(nil)
		if now.sub(before).atRest() {
			return
		}
		before = now
	}
}

// stopwatch times a measurement and the work of the machine meanwhile.
type stopwatch struct {
	began    time.Time
	took     time.Duration
	used     usage // after stop
	machine  *machine
	measured []*process
}

// watch starts a stopwatch over the measured servers.
func (m *machine) watch(measured ...*process) stopwatch {
	w := stopwatch{machine: m, measured: measured, used: m.usage(measured)}
	w.began = time.Now()
	return w
}

func (w *stopwatch) stop() {
	w.took = time.Since(w.began)
	w.used = w.machine.usage(w.measured).sub(w.used)
}
