package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var testName = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// TestPlanNamesTests: every pattern of the plan finds a test, so that a renamed one
// does not drop out of the plan unseen.
func TestPlanNamesTests(t *testing.T) {
	for _, r := range plan {
		require.NotEqual(t, len(r.targets) == 0, r.missing == "", "row %s has tests, or says why not", r.id)
		for _, target := range r.targets {
			if target.fuzz {
				continue // finds them by itself, and fails without any
			}

			pattern := regexp.MustCompile(target.run)
			files, err := filepath.Glob(filepath.Join("../../..", target.pkg, "*_test.go"))
			require.NoError(t, err)
			found := false
			for _, path := range files {
				source, err := os.ReadFile(path)
				require.NoError(t, err)
				for _, m := range testName.FindAllSubmatch(source, -1) {
					found = found || pattern.Match(m[1])
				}
			}

			require.True(t, found, "row %s: %s %q", r.id, target.pkg, target.run)
		}
	}
}

func TestFiguresAreFound(t *testing.T) {
	said := "=== RUN   TestX\n    fault_kill_test.go:40: figures: R1: 3 kills, 0 lost\n--- PASS: TestX (0.10s)\n    --- SKIP: TestX/postgres (0.00s)\nok\n"
	require.Equal(t, "R1: 3 kills, 0 lost", figureLine.FindStringSubmatch(said)[1])
	require.Len(t, passLine.FindAllString(said, -1), 1)
	require.Equal(t, "TestX/postgres", skipLine.FindStringSubmatch(said)[1])
}
