package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tag names the sentence that a test checks by its id, or, with a * at the end, all sentences whose ids begin with it.
type tag struct {
	names string
	test  test
}

// mark begins the comment with the ids.
const mark = "spec:"

// findTags reads all tests and scenarios below the root, in the order of their files.
func findTags(root string) (tags []tag, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}

		file := filepath.ToSlash(name)
		var found []tag
		switch {
		case d.IsDir() && (d.Name() == "node_modules" || file != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir():
		case strings.HasSuffix(file, "_test.go"):
			found, err = tagsOfTests(path, file)
		case strings.HasPrefix(file, scenarios+"/") && strings.HasSuffix(file, ".json"):
			found, err = tagsOfScenarios(path, file)
		}

		tags = append(tags, found...)
		return err
	})

	return tags, err
}

// tagsOfTests finds the comments inside and above test functions.
func tagsOfTests(path, file string) (tags []tag, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // part of the repository
	if err != nil || !bytes.Contains(text, []byte("// "+mark)) {
		return nil, err
	}

	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}

	var errs []error
	for _, group := range parsed.Comments {
		for _, c := range group.List {
			ids, ok := strings.CutPrefix(c.Text, "// "+mark)
			if !ok {
				continue
			}
			of := testAt(parsed, c.Pos())
			if of == "" {
				errs = append(errs, fmt.Errorf("%s:%d: the tag belongs to no test", file, positions.Position(c.Pos()).Line))
				continue
			}
			for id := range strings.SplitSeq(ids, ",") {
				tags = append(tags, tag{strings.TrimSpace(id), test{of, file}})
			}
		}
	}

	return tags, errors.Join(errs...)
}

// testAt is the test function around a position, in its body or its comment.
func testAt(file *ast.File, at token.Pos) string {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		begin := f.Pos()
		if f.Doc != nil {
			begin = f.Doc.Pos()
		}
		if begin <= at && at < f.End() {
			return f.Name.Name
		}
	}

	return ""
}

// tagsOfScenarios reads the property spec of every scenario.
func tagsOfScenarios(path, file string) (tags []tag, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // part of the repository
	if err != nil {
		return nil, err
	}

	var stories []struct {
		Name string
		Spec []string
	}

	if err := json.Unmarshal(text, &stories); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}

	action := strings.TrimSuffix(filepath.Base(file), ".json")
	for _, s := range stories {
		for _, id := range s.Spec {
			tags = append(tags, tag{id, test{action + ": " + s.Name, file}})
		}
	}

	return tags, nil
}
