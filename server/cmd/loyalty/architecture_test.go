package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/loyalty-platform/loyalty/"

// mayImport is the import rule of the house: which of our own rooms a room may
// import. A room that is not listed may import none.
var mayImport = map[string][]string{
	"server/cmd/loyalty":    {"*"},
	"server/cmd/bench":      {"*"},
	"server":                {"gen", "openapi", "server/contract", "server/list", "server/limit", "server/loyalty", "signing", "i18n"},
	"server/contract":       {"openapi", "server/loyalty"},
	"server/list":           {"server/contract", "server/loyalty"},
	"server/loyalty/action": {"gen/events", "server/loyalty"},
	"server/loyalty":        {"server/loyalty/points", "server/loyalty/money", "server/loyalty/condition"},
	"store":                 {"server/loyalty", "store/migrations"},
	"store/storetest":       {"store", "server/loyalty"},
	"gen":                   {"gen/common", "gen/entities", "server/loyalty/money"},
}

// onlyIn names libraries that belong to one room.
var onlyIn = map[string][]string{
	"github.com/gin-gonic/gin": {"server", "gen/…", "server/cmd/bench"},
	"gorm.io":                  {"store", "server/cmd/bench"},
	"github.com/jackc/pgx":     {"store", "store/…", "server/cmd/bench"},
}

// standardOnly are the rooms that use the standard library, and these.
var standardOnly = map[string][]string{
	"signing":                  nil,
	"i18n":                     {"golang.org/x/text"},
	"server/loyalty/points":    nil,
	"server/loyalty/money":     {"github.com/shopspring/decimal"},
	"server/loyalty/condition": {"github.com/expr-lang/expr"},
}

// TestImportRule reads every file that ships and holds its imports against the
// rule of the house. Tests may build whatever they need.
func TestImportRule(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "node_modules" || (strings.HasPrefix(name, ".") && len(name) > 2) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		require.NoError(t, err)
		if filepath.Dir(rel) == "." {
			return nil // tools.go
		}
		files++
		checkFile(t, path, filepath.ToSlash(rel))
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, files, 50, "the walk did not see the project")
}

func checkFile(t *testing.T, path, rel string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	require.NoError(t, err)
	room := filepath.ToSlash(filepath.Dir(rel))
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if own, ours := strings.CutPrefix(imported, module); ours {
			require.True(t, allowed(room, own), "%s imports %s: the house does not allow it", rel, own)
			continue
		}
		for library, rooms := range onlyIn {
			if within(imported, library) {
				require.True(t, slices.Contains(rooms, room) || slices.Contains(rooms, strings.Split(room, "/")[0]+"/…"),
					"%s imports %s, which belongs to %v", rel, imported, rooms)
			}
		}
		if libraries, strict := standardOnly[room]; strict && strings.Contains(strings.Split(imported, "/")[0], ".") {
			require.True(t, anyWithin(imported, libraries), "%s imports %s: this room uses the standard library", rel, imported)
		}
	}
}

func allowed(room, own string) bool {
	rooms := mayImport[room]
	if rooms == nil {
		rooms = mayImport[strings.Split(room, "/")[0]]
	}
	for _, r := range rooms {
		// "server/loyalty" covers its leaves, never the actions.
		if r == "*" || own == r || (within(own, r) && own != "server/loyalty/action") {
			return true
		}
	}
	return false
}

func within(path, room string) bool { return path == room || strings.HasPrefix(path, room+"/") }

func anyWithin(path string, rooms []string) bool {
	for _, r := range rooms {
		if within(path, r) {
			return true
		}
	}
	return false
}
