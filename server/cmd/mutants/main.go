// Command mutants breaks the rules, the store and the signatures in one place at a time and runs the tests that should
// detect it. Nothing is changed on the disk: the compiler reads other texts for some files (go test -overlay). A mutant
// that no test detects is a hole in the suite, unless the table says why it makes no difference.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	var o options
	only := flag.String("only", "", "a pattern of the mutants to try, by file or by what is broken; empty: all")
	flag.DurationVar(&o.timeout, "timeout", 3*time.Minute,
		"for the tests of one mutant: one that waits for ever is seen too")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err == nil {
		var chosen []*mutant
		for _, m := range all() {
			if pattern.MatchString(m.file) || pattern.MatchString(m.about) {
				chosen = append(chosen, m)
			}
		}
		err = o.run(chosen)
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// all are the mutants of the table, in its order.
func all() []*mutant {
	var list []*mutant
	for _, part := range [][]mutant{points, rules, features, games, storage, signatures, answers} {
		for i := range part {
			part[i].number = len(list) + 1
			list = append(list, &part[i])
		}
	}
	return list
}

// options are how mutants are tried; folder is where their programs are built.
type options struct {
	timeout time.Duration
	folder  string
}

// run tries the mutants and prints a line of a table for each. It fails if an unexpected one survived, and before
// running anything if a text is missing in its file.
func (o options) run(list []*mutant) (err error) {
	var faults []string
	var packages []string
	of := map[string][]*mutant{}
	for _, m := range list {
		if _, err := m.source(); err != nil {
			faults = append(faults, err.Error())
		}
		if of[m.pkg] == nil {
			packages = append(packages, m.pkg)
		}
		of[m.pkg] = append(of[m.pkg], m)
	}

	if len(faults) > 0 {
		return fmt.Errorf("the table does not fit the code:\n%s", strings.Join(faults, "\n"))
	}
	if o.folder, err = os.MkdirTemp("", "mutants"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.folder)) }()

	files, alone, err := weave(list) // one set for all programs, so that shared packages are compiled once
	if err != nil {
		return err
	}

	fmt.Println("| file | broken | seen by | seconds |")
	fmt.Println("| --- | --- | --- | --- |")
	began, killed, equivalent := time.Now(), 0, 0
	for _, pkg := range packages {
		if err := o.program(pkg, of[pkg], files, alone, func(m *mutant, out outcome, took time.Duration) {
			fmt.Printf("| %s | %s | %s | %.1f |\n", m.file, m.about, out.told(m), took.Seconds())
			switch {
			case out.err != nil:
				faults = append(faults, fmt.Sprintf("%s: %s: %v", m.file, m.about, out.err))
			case out.seenBy != "":
				killed++
			case m.same != "":
				equivalent++
			default:
				faults = append(faults, fmt.Sprintf("%s: %s: survived %s of %s", m.file, m.about, m.run, m.pkg))
			}
		}); err != nil {
			return err
		}
	}

	fmt.Printf("\n%d of %d killed, %d without a difference, %d survived or were not tried, in %s\n",
		killed, len(list), equivalent, len(faults), time.Since(began).Round(time.Second))
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "\n"))
	}

	return nil
}

// program tries the mutants that the tests of one package should detect. First the tests must pass without any mutant,
// or the results would mean nothing.
func (o options) program(
	pkg string, list []*mutant, files map[string][]byte, alone map[*mutant]bool,
	tell func(*mutant, outcome, time.Duration),
) error {
	binary, err := o.build(pkg, files)
	if err != nil {
		return err
	}

	tried := map[string]bool{}
	for _, m := range list {
		if !tried[m.run] {
			tried[m.run] = true
			if said, err := o.test(pkg, binary, m.run, 0); verdict(said, err) != (outcome{}) {
				return fmt.Errorf("%s %s does not pass without a mutant: %w\n%s", pkg, m.run, err, said)
			}
		}

		began, own, number := time.Now(), binary, m.number
		if alone[m] {
			broken, err := m.source()
			if err != nil {
				return err
			}
			if own, err = o.build(pkg, map[string][]byte{m.file: broken}); err != nil {
				return err
			}
			number = 0
		}

		tell(m, verdict(o.test(pkg, own, m.run, number)), time.Since(began))
	}

	return nil
}

// build builds a test program with other texts for some files.
func (o options) build(pkg string, files map[string][]byte) (string, error) {
	own, err := os.MkdirTemp(o.folder, "")
	if err != nil {
		return "", err
	}

	replace := map[string]string{}
	for path, text := range files {
		original, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		replace[original] = filepath.Join(own, fmt.Sprint(len(replace), "_", filepath.Base(path)))
		if err := os.WriteFile(replace[original], text, 0o600); err != nil {
			return "", err
		}
	}

	list, binary := filepath.Join(own, "overlay.json"), filepath.Join(own, "program.test")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return "", err
	}

	cmd := exec.CommandContext(context.Background(), "go", "test", "-c", "-ldflags=-s -w",
		"-overlay", list, "-o", binary, "./"+pkg)
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not compile with its mutants:\n%s", pkg, said)
	}

	return binary, nil
}

// test runs tests of a program with the seed of make test and one active mutant; 0: none.
func (o options) test(pkg, binary, run string, number int) (string, error) {
	cmd := exec.CommandContext(context.Background(), binary, "-test.v", "-test.failfast",
		"-test.timeout", o.timeout.String(), "-test.run", run)
	cmd.Dir, cmd.Env = pkg, append(os.Environ(), "RAPID_SEED=1", fmt.Sprint(alive, "=", number))
	said, err := cmd.CombinedOutput()
	return string(said), err
}
