package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// binary is the program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	if off := os.Getenv(clockOff); off != "" {
		os.Exit(skewed(off))
	}
	if os.Getenv(isLater) != "" {
		os.Exit(laterProgram())
	}
	if at := os.Getenv(diesAt); at != "" {
		os.Exit(dying(at))
	}
	if path := os.Getenv(tellsSize); path != "" {
		os.Exit(telling(path))
	}
	if os.Getenv("LOYALTY_TORTURE") != "" {
		patience = 10 * time.Minute
	}

	sideBySide()
	dir, err := os.MkdirTemp("", "loyalty-program-")
	if err != nil {
		panic(err)
	}

	binary = filepath.Join(dir, "loyalty")
	build := append([]string{"build", "-ldflags=-s -w", "-o", binary}, raceFlags()...)
	if slices.Contains(build, "-race") {
		patience = 10 * time.Minute
		if err := os.Setenv("GORACE", "halt_on_error=1"); err != nil { // a program with a race ends, which no test takes for well
			panic(err)
		}
	}

	if out, err := exec.Command("go", append(build, ".")...).CombinedOutput(); err != nil {
		panic(string(out))
	}

	code := storetest.RunTests(m)
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}

	os.Exit(code)
}

// raceFlags build the program as these tests were built, so that the race detector watches what they kill, stop
// and cut off too, and not the tests alone.
func raceFlags() (flags []string) {
	info, _ := debug.ReadBuildInfo()
	if info == nil || !slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return nil
	}
	flags = []string{"-race"}
	for _, s := range info.Settings {
		if s.Key == "-gcflags" {
			flags = append(flags, "-gcflags="+s.Value)
		}
	}
	return flags
}

// sideBySide runs twice as many tests at once as there are processors, unless the command says how many: most of them
// wait, for a lease to end or a server to notice something.
func sideBySide() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // it is a flag of every test program
	}
}

// patience bounds every wait: a loaded machine is slow, a broken program is not
// waited for until the test's own limit. A torture run has more to wait for.
var patience = 4 * time.Minute

// clean is an environment without settings.
func clean(extra ...string) []string {
	env := []string{"LOYALTY_MANAGE=off"} // tests run side by side
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LOYALTY_") {
			env = append(env, v)
		}
	}
	return append(env, extra...)
}

// result is how a command ended.
type result struct {
	code        int
	out, errors string
}

// command runs the program in a folder until it ends.
func command(t *testing.T, dir string, env []string, args ...string) result {
	t.Helper()
	return commandOf(t, binary, dir, env, args...)
}

// commandOf does so with a program of the test's own.
func commandOf(t *testing.T, program, dir string, env []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, clean(env...), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// serving is a running server.
type serving struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	ready   chan<- string
	ended   chan error

	mu   sync.Mutex
	out  strings.Builder
	errs bytes.Buffer
}

// serve starts a server on a free port and waits until it says where it is.
func serve(t *testing.T, dir string, env []string, args ...string) *serving {
	t.Helper()
	return serveProgram(t, exec.Command(binary, args...), dir, env)
}

// serveProgram does so with a program of the test's own.
func serveProgram(t *testing.T, program *exec.Cmd, dir string, env []string) *serving {
	t.Helper()
	ready := make(chan string, 1)
	s := &serving{t: t, cmd: program, ready: ready, ended: make(chan error, 1)}
	s.cmd.Args = append([]string{s.cmd.Args[0], "serve", "--listen", "127.0.0.1:0"}, s.cmd.Args[1:]...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = dir, clean(env...), &locked{s}
	stdout, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			s.mu.Lock()
			s.out.WriteString(lines.Text() + "\n")
			s.mu.Unlock()
			s.seek(lines.Bytes())
		}
		s.ended <- s.cmd.Wait()
	}()

	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	select {
	case s.address = <-ready:
	case err := <-s.ended:
		t.Fatalf("the server ended: %v\n%s", err, s.log())
	case <-time.After(patience):
		t.Fatalf("the server does not start\n%s", s.log())
	}

	return s
}

// locked collects the log while others read it.
type locked struct{ s *serving }

func (l *locked) Write(p []byte) (int, error) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.seek(p) // a log in JSON has the address too
	return l.s.errs.Write(p)
}

var servingOn = regexp.MustCompile(`Serving on (http://\S+)`)

// seek finds where the server is in what it says.
func (s *serving) seek(line []byte) {
	if address := servingOn.FindSubmatch(line); address != nil {
		select {
		case s.ready <- string(address[1]):
		default: // it was found
		}
	}
}

func (s *serving) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errs.String()
}

func (s *serving) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// stop sends a signal and gives the exit code.
func (s *serving) stop(signal os.Signal) int {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(signal))
	return s.wait()
}

func (s *serving) wait() int {
	s.t.Helper()
	select {
	case err := <-s.ended:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		require.NoError(s.t, err)
		return 0

	case <-time.After(patience):
		_ = s.cmd.Process.Signal(syscall.SIGQUIT) // says what every goroutine waits for, and ends
		select {
		case <-s.ended:
		case <-time.After(10 * time.Second):
		}
		s.t.Fatalf("the server does not stop\n%s", s.log())
		return -1
	}
}

// signed makes a signed request to the server.
func (s *serving) signed(key signing.Credential, method, path, body string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequest(method, s.address+path, strings.NewReader(body))
	require.NoError(s.t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	require.NoError(s.t, signing.Default("local").Sign(r, []byte(body), key))
	return r
}

// status sends a signed request and gives the status of the answer.
func (s *serving) status(key signing.Credential, method, path, body string) int {
	s.t.Helper()
	answer, err := http.DefaultClient.Do(s.signed(key, method, path, body))
	require.NoError(s.t, err)
	require.NoError(s.t, answer.Body.Close())
	return answer.StatusCode
}

var interrupt, terminate os.Signal = os.Interrupt, syscall.SIGTERM
