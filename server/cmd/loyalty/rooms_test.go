package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/action"
)

// The measures of a room. One that is over them is hard to oversee: cut it by what its
// parts are about, never by what they look like.
const (
	mostFiles  = 40 // of a package; the flat ones have one file an operation, a row or an action
	mostCircle = 15 // files that all need each other
	mostSpread = 12 // files that have methods of one type
	flatSpread = 20 // in flat packages, and where one type answers many operations
	mostOfType = 60 // methods of a type of the rules: what only a feature needs is a function of it
)

// flat are the packages with one small file for each of many things of a kind.
var flat = []string{"store", "server/loyalty/action"}

// answering are the packages in which one type has a file for each of many operations or middlewares.
var answering = []string{"server", "server/api/administration", "server/api/display"}

// listedPackage is what go list tells of a package.
type listedPackage struct {
	ImportPath, Dir, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Module                             *struct{ Main bool }
}

// room is the package's path inside the module.
func (p *listedPackage) room() string { return strings.TrimPrefix(p.ImportPath, module) }

// measured is what a package comes to.
type measured struct {
	circle  []string            // the largest set of files that need each other
	spread  map[string][]string // the files of each type's methods
	methods map[string]int      // of each type
	inits   []string            // the files that have an init
}

// TestRooms holds every package against the measures.
func TestRooms(t *testing.T) {
	packages, exports := listPackages(t)
	seen := 0
	for _, p := range packages {
		if strings.HasPrefix(p.room(), "gen/") {
			continue
		}

		seen++
		m := measure(t, p, exports)
		limit := mostSpread
		if slices.Contains(flat, p.room()) || slices.Contains(answering, p.room()) {
			limit = flatSpread
		}
		if !slices.Contains(flat, p.room()) && len(p.GoFiles) > mostFiles {
			t.Errorf("%s has %d files, more than %d", p.room(), len(p.GoFiles), mostFiles)
		}

		if len(m.circle) > mostCircle {
			t.Errorf("%s has a circle of %d files, more than %d: %v", p.room(), len(m.circle), mostCircle, m.circle)
		}

		for name, files := range m.spread {
			if len(files) > limit {
				t.Errorf("%s.%s has methods in %d files, more than %d: %v", p.room(), name, len(files), limit, files)
			}
		}

		if !within(p.room(), "server/loyalty") {
			continue
		}
		if len(m.inits) > 0 {
			t.Errorf("%s has an init in %v: the rules are tables that are passed on", p.room(), m.inits)
		}

		for name, n := range m.methods {
			if n > mostOfType {
				t.Errorf("%s.%s has %d methods, more than %d", p.room(), name, n, mostOfType)
			}
		}
	}

	require.Greater(t, seen, 20, "go list did not see the project")
}

func listPackages(t *testing.T) (mine []*listedPackage, exports map[string]string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,Module", "./...")
	list.Dir, list.Stderr = filepath.Join("..", "..", ".."), os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	exports = map[string]string{}

	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := &listedPackage{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return mine, exports
		} else {
			require.NoError(t, err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			mine = append(mine, p)
		}
	}
}

// measure reads a package with its types: a file needs another one where it uses a name
// of the package, or a method, that the other one declares.
func measure(t *testing.T, p *listedPackage, exports map[string]string) measured {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0)
		require.NoError(t, err)
		files = append(files, f)
	}

	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	checked, err := config.Check(p.ImportPath, set, files, info)
	require.NoError(t, err)

	base := func(pos token.Pos) string { return filepath.Base(set.Position(pos).Filename) }
	m := measured{spread: map[string][]string{}, methods: map[string]int{}}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
			case fn.Recv == nil && fn.Name.Name == "init":
				m.inits = append(m.inits, base(fn.Pos()))
			case fn.Recv != nil:
				name, file := receiver(fn.Recv.List[0].Type), base(fn.Pos())
				m.methods[name]++
				if !slices.Contains(m.spread[name], file) {
					m.spread[name] = append(m.spread[name], file)
				}
			}
		}
	}

	needs := map[string]map[string]bool{}
	for id, o := range info.Uses {
		fn, isFunc := o.(*types.Func)
		method := isFunc && fn.Signature().Recv() != nil
		if o.Pkg() != checked || o.Parent() != checked.Scope() && !method {
			continue
		}
		if from, to := base(id.Pos()), base(o.Pos()); from != to {
			if needs[from] == nil {
				needs[from] = map[string]bool{}
			}
			needs[from][to] = true
		}
	}

	m.circle = largestCircle(p.GoFiles, needs)
	return m
}

func receiver(t ast.Expr) string {
	switch x := t.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return fmt.Sprintf("%T", t)
}

// largestCircle finds the largest set of files of which each reaches each: a file and
// all that it reaches and that reach it.
func largestCircle(files []string, needs map[string]map[string]bool) (largest []string) {
	reached := map[string]map[string]bool{}
	for _, f := range files {
		seen, open := map[string]bool{}, []string{f}
		for len(open) > 0 {
			next := open[len(open)-1]
			open = open[:len(open)-1]
			for to := range needs[next] {
				if !seen[to] {
					seen[to], open = true, append(open, to)
				}
			}
		}
		reached[f] = seen
	}

	for _, f := range files {
		circle := []string{}
		for _, o := range files {
			if reached[f][o] && reached[o][f] {
				circle = append(circle, o)
			}
		}
		if len(circle) > len(largest) {
			largest = circle
		}
	}

	return largest
}

func TestLargestCircle(t *testing.T) {
	all := []string{"a", "b", "c", "d"}
	edges := func(list ...string) map[string]map[string]bool {
		m := map[string]map[string]bool{}
		for _, e := range list {
			if m[e[:1]] == nil {
				m[e[:1]] = map[string]bool{}
			}
			m[e[:1]][e[1:]] = true
		}
		return m
	}
	require.Empty(t, largestCircle(all, edges("ab", "bc", "cd")))
	require.Equal(t, []string{"a", "b", "c"}, largestCircle(all, edges("ab", "bc", "ca", "cd")))
}

// TestNothingIsExportedForNobody: an exported function, variable or group of constants of
// the rules or of an API has a user outside of its package, tests counted.
func TestNothingIsExportedForNobody(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	declared := map[string]map[string]string{} // room, names declared together, file
	used := map[string]map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			if err == nil && d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
				return filepath.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		noteNames(t, path, filepath.ToSlash(filepath.Dir(rel)), declared, used)
		return nil
	}))

	require.Greater(t, len(declared), 10, "the walk did not see the rules")
	for room, names := range declared {
		for group, file := range names {
			if !slices.ContainsFunc(strings.Fields(group), func(name string) bool { return used[room][name] }) {
				t.Errorf("%s exports %s (%s), which nothing outside uses", room, group, file)
			}
		}
	}
}

// noteNames notes what a file of the rules or of an API exports, and what any file uses of them.
func noteNames(t *testing.T, path, room string, declared map[string]map[string]string, used map[string]map[string]bool) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	if (within(room, "server/loyalty") || within(room, "server/api")) && !strings.HasSuffix(path, "_test.go") {
		if declared[room] == nil {
			declared[room] = map[string]string{}
		}

		for _, d := range f.Decls {
			var group []string
			for _, id := range namesOf(d) {
				if id.IsExported() {
					group = append(group, id.Name)
				}
			}
			if len(group) > 0 {
				declared[room][strings.Join(group, " ")] = filepath.Base(path)
			}
		}
	}

	rooms := map[string]string{}
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		own, ours := strings.CutPrefix(imported, module)
		if !ours {
			continue
		}
		name := filepath.Base(own)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		rooms[name] = own
	}

	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && rooms[x.Name] != "" {
				if used[rooms[x.Name]] == nil {
					used[rooms[x.Name]] = map[string]bool{}
				}
				used[rooms[x.Name]][s.Sel.Name] = true
			}
		}
		return true
	})
}

// namesOf are the functions, variables and constants of a declaration. Types are not
// among them: what a function gives is used without being named.
func namesOf(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if s, ok := s.(*ast.ValueSpec); ok {
				names = append(names, s.Names...)
			}
		}
	}
	return names
}

// TestTypesOfEntitiesAreNamedOnce: an entity type's name is a literal in one package of
// what ships, so that it can be renamed or found.
func TestTypesOfEntitiesAreNamedOnce(t *testing.T) {
	root, rooms := filepath.Join("..", "..", ".."), map[string]map[string]bool{}
	names := entityTypes(t)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "gen" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}

		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}

		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}

		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil && slices.Contains(names, text) {
					if rooms[text] == nil {
						rooms[text] = map[string]bool{}
					}
					rooms[text][filepath.ToSlash(filepath.Dir(rel))] = true
				}
			}
			return true
		})

		return nil
	}))

	for name, where := range rooms {
		if len(where) > 1 {
			t.Errorf("%s is written in %v", name, where)
		}
	}
}

func entityTypes(t *testing.T) []string {
	t.Helper()
	names := action.Registry().EntityTypes()
	require.NotEmpty(t, names)
	return names
}
