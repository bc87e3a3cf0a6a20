package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Building a test program takes much longer than running a few tests, so all mutants of a program are built into one.
// Each is a broken copy of its function, and the function itself begins by asking which mutant is active. For SQL, the
// text asks. A mutant elsewhere is built alone.

// alive is the environment variable with the active mutant; test programs pass it on.
const alive = "LOYALTY_MUTANT"

// asks is the code that each package with mutants gets in addition.
const asks = `package %s

import "os"

var mutantAlive = os.Getenv(%q)

func mutantText(number, whole, broken string) string {
	if mutantAlive == number {
		return broken
	}
	return whole
}
`

// edit replaces a part of a file with text.
type edit struct {
	from, to int
	text     string
}

// woven is a file with all of its mutants in it.
type woven struct {
	path, pkg string
	text      []byte
	file      *ast.File
	edits     []edit
	copies    strings.Builder
	asked     map[*ast.FuncDecl][]string // the cases of each function that has mutants
}

func readFile(path string, text []byte) (*woven, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &woven{path: path, pkg: f.Name.Name, text: text, file: f, asked: map[*ast.FuncDecl][]string{}}, nil
}

// offset is the place of a position in the text: the file is the only one of its set.
func (w *woven) offset(p token.Pos) int { return int(p - w.file.FileStart) }

// function is the function with a part of the text in its body; nil if there is none.
func (w *woven) function(from, to int) *ast.FuncDecl {
	for _, d := range w.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Body != nil && f.Name.Name != "init" && w.offset(f.Body.Lbrace) < from && to <= w.offset(f.Body.Rbrace) {
			return f
		}
	}
	return nil
}

// add weaves a mutant in; false if it is neither inside a function nor in the text of a variable.
func (w *woven) add(m *mutant) bool {
	from := strings.Index(string(w.text), m.old)
	to := from + len(m.old)
	f := w.function(from, to)
	if f == nil && w.literal(from, to) && !strings.Contains(m.new, "`") {
		w.edits = append(w.edits, edit{from, to, fmt.Sprintf("`+mutantText(\"%d\", `%s`, `%s`)+`", m.number, m.old, m.new)})
		return true
	}

	if f == nil {
		return false
	}

	copied := fmt.Sprintf("%sMutant%d", f.Name.Name, m.number)
	start, end, name := w.offset(f.Pos()), w.offset(f.End()), w.offset(f.Name.Pos())
	broken := string(w.text[start:from]) + m.new + string(w.text[from+len(m.old):end])
	fmt.Fprintf(&w.copies, "\n%s%s%s\n", broken[:name-start], copied, broken[name-start+len(f.Name.Name):])
	if w.asked[f] == nil {
		w.nameAll(f)
	}

	call := w.call(f, copied)
	if f.Type.Results != nil {
		call = "return " + call
	} else {
		call += "; return"
	}

	w.asked[f] = append(w.asked[f], fmt.Sprintf("case \"%d\": %s", m.number, call))
	return true
}

// literal says whether a part of the text is within a raw string of a variable, as SQL is: it is put together when the
// program starts, and by then it is known which mutant is alive.
func (w *woven) literal(from, to int) (found bool) {
	for _, d := range w.file.Decls {
		if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.VAR {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			found = found || ok && l.Value[0] == '`' && w.offset(l.Pos()) < from && to < w.offset(l.End())
			return !found
		})
	}
	return found
}

// nameAll names the unnamed parameters of a function, because the call of its copies passes them.
func (w *woven) nameAll(f *ast.FuncDecl) {
	fields := slices.Clone(f.Type.Params.List)
	if f.Recv != nil {
		fields = append(fields, f.Recv.List...)
	}

	for i, p := range fields {
		if len(p.Names) == 0 {
			at := w.offset(p.Type.Pos())
			w.edits = append(w.edits, edit{at, at, fmt.Sprintf("mutated%d ", i)})
			p.Names = []*ast.Ident{{Name: fmt.Sprintf("mutated%d", i), NamePos: p.Type.Pos()}}
			continue
		}
		for k, n := range p.Names {
			if n.Name == "_" {
				n.Name = fmt.Sprintf("mutated%d_%d", i, k)
				w.edits = append(w.edits, edit{w.offset(n.Pos()), w.offset(n.Pos()) + 1, n.Name})
			}
		}
	}
}

// call is the code by which a function calls its copy.
func (w *woven) call(f *ast.FuncDecl, copied string) string {
	var args, types []string
	for _, p := range f.Type.Params.List {
		for _, n := range p.Names {
			arg := n.Name
			if _, many := p.Type.(*ast.Ellipsis); many {
				arg += "..."
			}
			args = append(args, arg)
		}
	}

	if f.Recv != nil {
		copied = f.Recv.List[0].Names[0].Name + "." + copied
	} else if f.Type.TypeParams != nil {
		for _, p := range f.Type.TypeParams.List {
			for _, n := range p.Names {
				types = append(types, n.Name)
			}
		}
		copied += "[" + strings.Join(types, ", ") + "]"
	}

	return copied + "(" + strings.Join(args, ", ") + ")"
}

// source is the file with its mutants.
func (w *woven) source() []byte {
	for f, cases := range w.asked {
		at := w.offset(f.Body.Lbrace) + 1
		w.edits = append(w.edits, edit{at, at, "\nswitch mutantAlive {\n" + strings.Join(cases, "\n") + "\n}\n"})
	}
	sort.Slice(w.edits, func(i, j int) bool { return w.edits[i].from > w.edits[j].from })
	text := string(w.text)
	for _, e := range w.edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return []byte(text + w.copies.String())
}

// weave returns the files with all mutants that can be woven in, and the mutants that cannot.
func weave(list []*mutant) (files map[string][]byte, alone map[*mutant]bool, err error) {
	alone = map[*mutant]bool{}
	byPath := map[string]*woven{}
	for _, m := range list {
		w := byPath[m.file]
		if w == nil {
			text, err := m.text()
			if err != nil {
				return nil, nil, err
			}
			if w, err = readFile(m.file, text); err != nil {
				return nil, nil, err
			}
			byPath[m.file] = w
		}

		if !w.add(m) {
			alone[m] = true
		}
	}

	files = map[string][]byte{}
	for path, w := range byPath {
		files[path] = w.source()
		files[filepath.Join(filepath.Dir(path), "mutant_alive.go")] = []byte(fmt.Sprintf(asks, w.pkg, alive))
	}

	return files, alone, nil
}
