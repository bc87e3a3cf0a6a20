// Command torture runs the test plan row by row and prints the result of each row beside the expected one. A row whose
// tests could not be run has failed.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type options struct {
	scale, execs int
	rows         []string
	timeout      time.Duration
	log          io.Writer
}

func main() {
	o := options{}
	rows := flag.String("rows", "", "rows of the plan, separated by commas; empty: all")
	flag.IntVar(&o.scale, "scale", 500, "length: 500 is all of it, any other number that part")
	flag.IntVar(&o.execs, "execs", 0, "executions for each fuzz target; 0: 20,000 times the scale")
	flag.DurationVar(&o.timeout, "timeout", 3*time.Hour, "for the tests of one target")
	logPath := flag.String("log", "", "file for everything the tests say; empty: a temporary one, named first")
	flag.Parse()
	if *rows != "" {
		o.rows = strings.Split(*rows, ",")
	}
	if o.execs == 0 {
		o.execs = 20_000 * o.scale
	}

	file, err := openLog(*logPath)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	o.log = file
	fmt.Fprintln(os.Stderr, "what is under way: tail -f", file.Name())
	if !o.all(os.Stdout) {
		os.Exit(1)
	}
}

func openLog(path string) (*os.File, error) {
	if path == "" {
		return os.CreateTemp("", "torture")
	}
	return os.Create(path)
}

// all runs the chosen rows and prints a line of a table for each.
func (o options) all(out io.Writer) bool {
	good := true
	fmt.Fprintln(out, "| row | what | outcome | figures | time |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- |")
	for _, r := range plan {
		if len(o.rows) > 0 && !slices.Contains(o.rows, r.id) {
			continue
		}
		began := time.Now()
		outcome, figures := o.row(r)
		good = good && outcome != failed
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", r.id, r.what, outcome, strings.Join(figures, "; "),
			time.Since(began).Round(time.Second))
	}
	return good
}

// The outcomes of a row.
const (
	held   = "held"
	failed = "**FAILED**"
	notRun = "not run"
)

func (o options) row(r row) (outcome string, figures []string) {
	if r.missing != "" {
		return notRun, []string{r.missing}
	}

	outcome = held
	for _, t := range r.targets {
		var err error
		var said []string
		if t.fuzz {
			said, err = o.fuzz(t)
		} else {
			said, err = o.test(t)
		}
		figures = append(figures, said...)
		if err != nil {
			outcome = failed
			figures = append(figures, err.Error())
		}
	}

	return outcome, figures
}

var (
	figureLine = regexp.MustCompile(`(?m)^\s+[a-z_]+_test\.go:\d+: figures: (.*)$`)
	failLine   = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	passLine   = regexp.MustCompile(`(?m)^--- PASS: `)
	skipLine   = regexp.MustCompile(`(?m)^\s*--- SKIP: (\S+)`)
)

// test runs a target at the chosen length. It fails if no test ran: a renamed test must not drop out of the plan
// unnoticed.
func (o options) test(t target) ([]string, error) {
	args := []string{"test", t.pkg, "-run", t.run, "-v", "-count", "1", "-timeout", o.timeout.String()}
	env := []string{"LOYALTY_TORTURE=" + strconv.Itoa(o.scale)}
	if t.race {
		args, env = append(args, "-race"), append(env, "CGO_ENABLED=1")
	}

	said, err := o.run("go", env, "", args...)
	figures := []string{}
	for _, f := range figureLine.FindAllSubmatch(said, -1) {
		figures = append(figures, string(f[1]))
	}

	passed := len(passLine.FindAll(said, -1))
	figures = append(figures, fmt.Sprintf("%s: %d tests", t.pkg, passed))
	for _, s := range skipLine.FindAllSubmatch(said, -1) {
		figures = append(figures, "skipped "+string(s[1]))
	}

	switch {
	case err != nil:
		names := []string{}
		for _, f := range failLine.FindAllSubmatch(said, -1) {
			names = append(names, string(f[1]))
		}
		return figures, fmt.Errorf("%s: %w: %s", t.pkg, err, strings.Join(names, " "))
	case passed == 0:
		return figures, fmt.Errorf("%s: %q ran no test", t.pkg, t.run)
	}

	return figures, nil
}

// unguided is how many executions without coverage there are for one with it. Measuring coverage makes an execution
// many times slower; the inputs that it finds are kept for the other executions to mutate.
const unguided = 1000

// fuzz runs every fuzz target that a target names, one after the other.
func (o options) fuzz(t target) (figures []string, err error) {
	packages, err := o.run("go", nil, "", "list", "-f", "{{.ImportPath}}\t{{.Dir}}", t.pkg)
	if err != nil {
		return nil, err
	}

	built, err := os.MkdirTemp("", "torture-fuzz")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(built)) }()

	for line := range strings.Lines(string(packages)) {
		pkg, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		names, listErr := o.run("go", nil, "", "test", "-list", t.run, pkg)
		err = errors.Join(err, listErr)
		for name := range strings.FieldsSeq(string(names)) {
			if !strings.HasPrefix(name, "Fuzz") {
				continue
			}
			began := time.Now()
			failure := o.fuzzOne(pkg, dir, name, filepath.Join(built, "test"))
			figures = append(figures, fmt.Sprintf("%s %d in %s", name, o.execs, time.Since(began).Round(time.Second)))
			if failure != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", name, failure))
			}
		}
	}

	if len(figures) == 0 {
		err = errors.Join(err, fmt.Errorf("%s: no fuzz target", t.pkg))
	}

	return figures, err
}

// fuzzOne runs a fuzz target: one in unguided executions looks for inputs that reach new code and stores them in the
// build cache, the others mutate these. The package's tests are built into binary for the latter.
func (o options) fuzzOne(pkg, dir, name, binary string) error {
	guided := max(o.execs/unguided, 1)
	_, err := o.run("go", nil, "", "test", pkg, "-run", "xxx", "-fuzz", "^"+name+"$",
		"-fuzztime", strconv.Itoa(guided)+"x", "-fuzzminimizetime", "10x", "-timeout", o.timeout.String())
	if err != nil || o.execs == guided {
		return err
	}

	cache, err := o.run("go", nil, "", "env", "GOCACHE")
	if err != nil {
		return err
	}
	if _, err := o.run("go", nil, "", "test", "-c", "-o", binary, pkg); err != nil {
		return err
	}

	_, err = o.run(binary, nil, dir, "-test.run", "xxx", "-test.fuzz", "^"+name+"$",
		"-test.fuzztime", strconv.Itoa(o.execs-guided)+"x", "-test.fuzzminimizetime", "10x",
		"-test.timeout", o.timeout.String(),
		"-test.fuzzcachedir", filepath.Join(strings.TrimSpace(string(cache)), "fuzz", filepath.FromSlash(pkg)))
	return err
}

// run runs a program, in a folder if one is named, and returns its standard output; all of its output goes to the log.
func (o options) run(program string, env []string, dir string, args ...string) ([]byte, error) {
	var said bytes.Buffer
	c := exec.Command(program, args...)
	c.Env, c.Dir = append(os.Environ(), env...), dir
	c.Stdout, c.Stderr = io.MultiWriter(&said, o.log), o.log
	err := c.Run()
	return said.Bytes(), err
}
