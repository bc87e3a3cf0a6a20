package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// mutant is one broken place, and the tests that should detect it.
type mutant struct {
	about    string // what is broken, as a sentence about the behaviour
	file     string // from the root of the module
	old, new string // the exact text, which occurs once, and its replacement
	pkg, run string // the tests, for go test -run
	same     string // why no test can tell the difference; empty: one must

	number int // in the table
}

// text is the original file. It fails unless the text to break occurs exactly once.
func (m *mutant) text() ([]byte, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return nil, fmt.Errorf("%s: %s: the text is there %d times, not once:\n%s", m.file, m.about, n, m.old)
	}
	return text, nil
}

// source is the file with the broken place.
func (m *mutant) source() ([]byte, error) {
	text, err := m.text()
	return []byte(strings.Replace(string(text), m.old, m.new, 1)), err
}

// outcome is the result of the tests for a mutant.
type outcome struct {
	seenBy string // the first test that failed; empty: the mutant survived
	err    error  // it was not tried
}

func (o outcome) told(m *mutant) string {
	switch {
	case o.err != nil:
		return "**NOT TRIED**"
	case o.seenBy != "":
		return o.seenBy
	case m.same != "":
		return "nothing: " + m.same
	}
	return "**SURVIVED**"
}

var (
	failLine = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	passLine = regexp.MustCompile(`(?m)^--- PASS: `)
	// A test that never ends, or crashes the process, counts as detecting.
	fatalLine = regexp.MustCompile(`(?m)^(?:panic: test timed out|panic: .*|fatal error: .*)`)
)

// verdict reads the output of a test program. err is how it ended.
func verdict(said string, err error) outcome {
	switch name := deepest(said); {
	case err == nil && !passLine.MatchString(said):
		return outcome{err: fmt.Errorf("no test ran")}
	case err == nil:
		return outcome{}
	case name != "":
		return outcome{seenBy: name}
	}
	if line := fatalLine.FindString(said); line != "" {
		return outcome{seenBy: line}
	}
	return outcome{err: fmt.Errorf("the tests ended without a verdict: %w\n%s", err, said)}
}

// deepest is the first failed test with no failed test below it.
func deepest(said string) string {
	names := failLine.FindAllStringSubmatch(said, -1)
	for i, n := range names {
		if i+1 == len(names) || !strings.HasPrefix(names[i+1][1], n[1]+"/") {
			return n[1]
		}
	}
	return ""
}
