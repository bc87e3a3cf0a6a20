package main

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMutantsFitTheCode: every text of the table is in its file exactly once, and all of them together are Go. Code that
// moves takes its mutants along.
func TestMutantsFitTheCode(t *testing.T) {
	t.Chdir("../../..")
	seen := map[string]bool{}
	for _, m := range all() {
		require.False(t, seen[m.about], "%q is there twice", m.about)
		seen[m.about] = true
		_, err := m.source()
		require.NoError(t, err)
		require.NotEqual(t, m.old, m.new)
	}

	require.GreaterOrEqual(t, len(seen), 60)
	files, alone, err := weave(all())
	require.NoError(t, err)
	require.Less(t, len(alone), len(seen)/2)
	for path, text := range files {
		_, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		require.NoError(t, err, "%s\n%s", path, text)
	}
}

func TestWeave(t *testing.T) {
	text := "package p\n\nfunc (r *T) f(_ int, more ...string) error {\n\tif r.n > 1 {\n\t\treturn nil\n\t}\n\treturn r.g(more...)\n}\n\nvar q = `a > b`\n\nconst k = `c < d`\n"
	w, err := readFile("p.go", []byte(text))
	require.NoError(t, err)
	require.True(t, w.add(&mutant{old: "r.n > 1", new: "r.n >= 1", number: 7}))
	require.True(t, w.add(&mutant{old: "return nil", new: "_ = r", number: 8}))
	require.True(t, w.add(&mutant{old: "a > b", new: "a >= b", number: 9}))
	require.False(t, w.add(&mutant{old: "c < d", new: "c <= d", number: 10}), "a constant asks nothing")
	require.Equal(t, "package p\n\nfunc (r *T) f(mutated0_0 int, more ...string) error {\nswitch mutantAlive {\n"+
		"case \"7\": return r.fMutant7(mutated0_0, more...)\ncase \"8\": return r.fMutant8(mutated0_0, more...)\n}\n"+
		"\n\tif r.n > 1 {\n\t\treturn nil\n\t}\n\treturn r.g(more...)\n}\n\nvar q = ``+mutantText(\"9\", `a > b`, `a >= b`)+``\n\nconst k = `c < d`\n"+
		"\nfunc (r *T) fMutant7(_ int, more ...string) error {\n\tif r.n >= 1 {\n\t\treturn nil\n\t}\n\treturn r.g(more...)\n}\n"+
		"\nfunc (r *T) fMutant8(_ int, more ...string) error {\n\tif r.n > 1 {\n\t\t_ = r\n\t}\n\treturn r.g(more...)\n}\n", string(w.source()))
}

func TestTheTestBelowIsNamed(t *testing.T) {
	said := "--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/x (0.1s)\n        --- FAIL: TestA/x/sqlite (0.1s)\n--- FAIL: TestB (0s)\n"
	require.Equal(t, "TestA/x/sqlite", deepest(said))
	require.Empty(t, deepest("ok\n"))
}
