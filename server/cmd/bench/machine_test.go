package main

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseProcessors(t *testing.T) {
	for line, want := range map[string][3]time.Duration{
		// user nice system idle iowait irq softirq steal guest guest_nice
		"cpu  1 2 4 8 16 32 64 128 1 2": {(1 + 2 + 4 + 32 + 64) * tick, (8 + 16) * tick, 128 * tick},
		"cpu  1 2 4 8 16 32 64 128":     {(1 + 2 + 4 + 32 + 64) * tick, (8 + 16) * tick, 128 * tick},
		"cpu0 1 2 4 8 16 32 64 128 1 2": {},
		"cpu  1 2 4 8 16 32 64":         {},
		"cpu  1 2 x 8 16 32 64 128":     {},
		"":                              {},
	} {
		busy, idle, steal := parseProcessors(line)
		require.Equal(t, want, [3]time.Duration{busy, idle, steal}, line)
	}
}

func TestParseProcess(t *testing.T) {
	const rest = " S 17 1 1 0 -1 4194560 100 200 0 0 3 4 50 60 20 0 1 0 100 1000 10"
	for _, name := range []string{"postgres", "postgres: a b", "a) S 1 (b", ""} {
		parent, own, ended, ok := parseProcess("42 (" + name + ")" + rest)
		require.True(t, ok)
		require.Equal(t, 17, parent)
		require.Equal(t, 7*tick, own)
		require.Equal(t, 110*tick, ended)
	}
	for _, stat := range []string{"", "42", "42 (x)", "42 (x) S 17 1", "42 (x) S p 1 1 0 -1 4194560 100 200 0 0 3 4 50 60 20", "42 (x) S 17 1 1 0 -1 4194560 100 200 0 0 3 ? 50 60 20"} {
		_, _, _, ok := parseProcess(stat)
		require.False(t, ok, stat)
	}
}

func TestUsage(t *testing.T) {
	before := usage{1, 2, 3, 4, 5, 6, 7}
	after := usage{101, 202, 303, 404, 505, 606, 707}
	require.Equal(t, usage{100, 200, 300, 400, 500, 600, 700}, after.sub(before))
	require.EqualValues(t, 606, after.all())
	require.EqualValues(t, 40, usage{busy: 100, programs: 10, database: 20, client: 30, server: 10}.others(), "the server is one of the programs")
	require.Zero(t, usage{busy: 10, client: 30}.others(), "the clocks are not read at one instant")
}

// A child's work is its parent's, while it lives and when it has ended.
func TestWatchKnowsWhoWorks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system has no /proc")
	}

	m := &machine{database: &process{pid: os.Getpid()}, programs: []*process{{pid: os.Getpid()}}}
	spin := func() *exec.Cmd {
		return exec.CommandContext(t.Context(), "/bin/sh", "-c", "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; exec sleep 60")
	}
	w := m.watch(m.programs...)
	child := spin()
	require.NoError(t, child.Start())
	require.Eventually(t, func() bool { return readTimesOfTrees()[child.Process.Pid] >= 10*tick }, time.Minute, 10*time.Millisecond)
	w.stop()
	require.GreaterOrEqual(t, w.used.server, 10*tick)
	require.GreaterOrEqual(t, w.used.database, 10*tick)
	require.GreaterOrEqual(t, w.used.busy, 5*tick, "the machine's clock, which is read by ticks")
	require.Less(t, w.used.client, w.used.server, "what was not waited for")
	require.NoError(t, child.Process.Kill())
	_ = child.Wait() // it was killed

	w = (*machine)(nil).watch()
	w.stop()
	require.Zero(t, w.used.server)
}

// TestRest: a measurement waits until neither our programs nor the database do anything.
func TestRest(t *testing.T) {
	require.True(t, usage{busy: 30 * tick, client: 20 * tick}.atRest(), "others, and what we do ourselves")
	require.True(t, usage{programs: mostAtRest}.atRest())
	require.False(t, usage{programs: mostAtRest, database: tick}.atRest())
	require.False(t, usage{database: 10 * tick}.atRest())
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("this system has no /proc")
	}

	idle := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, idle.Start())
	began := time.Now()
	(&machine{database: &process{pid: idle.Process.Pid}}).rest(t.Context(), time.Second)
	require.GreaterOrEqual(t, time.Since(began), restLook)
	require.NoError(t, idle.Process.Kill())
	_ = idle.Wait() // it was killed
	(*machine)(nil).rest(t.Context(), time.Second)
}

func TestQuiet(t *testing.T) {
	calm := quiet{processors: 2, load: 0.4, steal: 0.01, others: 0.05}
	require.Empty(t, calm.disturbances())
	require.Contains(t, calm.heading(), "The machine was quiet")
	for reason, change := range map[string]func(*quiet){
		"a load of 0.60 before the start, more than 0.50":         func(q *quiet) { q.load = 0.6 },
		"the host took 3.0 % of the processors, more than 2 %":    func(q *quiet) { q.steal = 0.03 },
		"others used 25 % of the processors, more than 10 %":      func(q *quiet) { q.others = 0.25 },
		"this system does not tell how busy it is":                func(q *quiet) { q.load = -1 },
		"NOT A RESULT: the machine was not quiet (a load of 9.00": func(q *quiet) { q.load = 9 },
	} {
		q := calm
		change(&q)
		require.Contains(t, q.heading(), reason)
	}

	q := quiet{processors: 2}
	q.add(results{"a": {{steal: 0.1, others: 0.3, judged: true}, {steal: 0.3, others: 0.1, judged: true}}, "b": {{steal: 1, others: 1}}})
	require.InDelta(t, 0.2, q.steal, 1e-9)
	require.InDelta(t, 0.2, q.others, 1e-9)
	require.InDelta(t, 0.25, parseLoad("0.25 0.75 0.50 1/200 1234\n"), 1e-9)
	require.Negative(t, parseLoad(""))
}
