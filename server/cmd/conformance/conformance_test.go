package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository writes files below a new folder.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

const (
	twoSections = "## One\na.first\tThe first | sentence.\na.second\tThe second.\n## Two\nb\tThe third.\n"
	tagged      = "package x\n\n// TestA checks.\n// spec: a.*\nfunc TestA() {\n\tdo() // no tag\n\t// spec: b, a.first\n}\n"
	story       = `[{"name": "a story", "spec": ["b"], "steps": []}, {"name": "another"}]`
)

func TestPage(t *testing.T) {
	root := repository(t, map[string]string{
		sentencesFile: twoSections, "server/x_test.go": tagged, scenarios + "/visit.json": story,
		"node_modules/y_test.go": "not Go", ".bin/z_test.go": "not Go",
	})

	require.NoError(t, run(root, nil))
	page, err := os.ReadFile(filepath.Join(root, pageFile))
	require.NoError(t, err)
	require.Contains(t, string(page), "3 sentences, 3 with a test, 0 without.")
	require.NotContains(t, string(page), "Without a test")
	require.Contains(t, string(page), "| `a.first` | The first \\| sentence. | [TestA](../server/x_test.go) |\n")
	require.Contains(t, string(page), "| `b` | The third. | [visit: a story](../server/loyalty/action/testdata/visit.json), [TestA](../server/x_test.go) |\n")
	require.NoError(t, run(root, []string{"--check"}))

	require.NoError(t, os.Remove(filepath.Join(root, "server/x_test.go")))
	require.ErrorContains(t, run(root, []string{"--check"}), "stale")
	require.NoError(t, run(root, nil))
	page, err = os.ReadFile(filepath.Join(root, pageFile))
	require.NoError(t, err)
	require.Contains(t, string(page), "3 sentences, 1 with a test, 2 without.\n\n## Without a test\n\n- `a.first`: The first | sentence.\n- `a.second`: The second.\n")
	require.Contains(t, string(page), "| `a.second` | The second. | none |\n")
}

func TestFaults(t *testing.T) {
	for reason, files := range map[string]map[string]string{
		"there twice":         {sentencesFile: "## One\na\tOne.\na\tTwo.\n"},
		"not an id":           {sentencesFile: "## One\na One.\n"},
		"in a section":        {sentencesFile: "a\tOne.\n"},
		`no sentence "c.*"`:   {sentencesFile: twoSections, "x_test.go": "package x\n\n// spec: c.*\nfunc TestA() {}\n"},
		`no sentence "a"`:     {sentencesFile: twoSections, scenarios + "/visit.json": `[{"name": "a story", "spec": ["a"]}]`},
		"belongs to no test":  {sentencesFile: twoSections, "x_test.go": "package x\n\n// spec: b\n\nfunc helper() {}\n"},
		"specification.tsv":   {},
		"visit.json: invalid": {sentencesFile: twoSections, scenarios + "/visit.json": `x`},
	} {
		require.ErrorContains(t, run(repository(t, files), nil), reason)
	}
	require.ErrorContains(t, run(t.TempDir(), []string{"--chek"}), "takes --check")
}
