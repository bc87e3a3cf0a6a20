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
	"server/cmd/loyalty":      {"*"},
	"server/cmd/loyalty/demo": rules("admin", "action"),
	"server/cmd/bench":        {"*"},
	"server": append(rules("admin", "campaign", "challenge", "leaderboard", "programme", "statistics", "user"),
		"gen", "openapi", "signing", "i18n", "server/api", "server/api/…", "server/contract", "server/ratelimit", "server/list"),
	// An API knows what all share, and never another API.
	"server/api": append(rules("admin", "engine", "job", "money", "offer", "programme", "reward"),
		"gen", "openapi", "signing", "i18n", "server/contract", "server/export", "server/list"),
	"server/api/administration": apiRoom("server/export", "server/importer", "server/ratelimit", "job", "money", "statistics", "user", "webhook"),
	"server/api/campaigns":      apiRoom("campaign", "coupon"),
	"server/api/coupon":         apiRoom("coupon", "money"),
	"server/api/customers":      apiRoom("server/export", "points"),
	"server/api/display":        apiRoom("challenge", "engine", "game", "offer", "reward"),
	"server/api/entities":       apiRoom("campaign"),
	"server/api/events":         apiRoom(),
	"server/api/leaderboard":    apiRoom("leaderboard"),
	"server/api/levels":         apiRoom("calendar", "engine", "tier"),
	"server/api/loyaltyread":    apiRoom(),
	"server/api/offers":         apiRoom("engine", "money", "offer"),
	"server/api/rewards":        apiRoom("engine", "reward"),

	"server/egress":   rules("webhook")[1:],
	"server/console":  append(rules("user"), "i18n", "server/ratelimit"),
	"server/observe":  append(rules("engine", "engine/traffic", "job"), "server/api"),
	"server/tracing":  append(rules("engine", "engine/traffic", "webhook"), "server/api"),
	"server/archive":  {"server/loyalty", "store"},
	"server/export":   append(rules("money"), "server/spreadsheet"),
	"server/backup":   {"store"},
	"server/doctor":   append(rules("job"), "store", "server/api/administration", "server/archive", "server/backup", "i18n"),
	"server/importer": append(rules("calendar", "money", "programme", "coupon", "tier"), "server/spreadsheet"),
	"server/portal":   {"openapi"},
	"server/contract": {"openapi", "gen/documents", "server/loyalty", "server/loyalty/money", "server/loyalty/programme", "server/loyalty/admin"},
	"server/list":     {"server/contract", "server/loyalty", "server/loyalty/programme"},

	// The rules, from the bottom up: what a room may not import it cannot change.
	"server/loyalty/points":      {},
	"server/loyalty/money":       {},
	"server/loyalty/condition":   {},
	"server/loyalty/calendar":    {"server/loyalty/points"},
	"server/loyalty":             {"server/loyalty/calendar", "server/loyalty/money", "server/loyalty/points"},
	"server/loyalty/programme":   rules("calendar", "condition", "money", "points"),
	"server/loyalty/engine":      rules("condition", "engine/traffic", "money", "points", "programme"),
	"server/loyalty/purchase":    feature(),
	"server/loyalty/coupon":      feature(),
	"server/loyalty/reward":      feature("coupon"),
	"server/loyalty/offer":       feature("coupon"),
	"server/loyalty/game":        feature("coupon", "reward"),
	"server/loyalty/tier":        feature(),
	"server/loyalty/challenge":   feature("tier"),
	"server/loyalty/campaign":    feature("coupon", "tier", "challenge"),
	"server/loyalty/referral":    feature(),
	"server/loyalty/reminder":    feature("tier", "challenge"),
	"server/loyalty/action":      append(feature("purchase", "coupon", "reward", "offer", "game", "tier", "challenge", "campaign", "referral", "reminder"), "gen/events"),
	"server/loyalty/admin":       rules("calendar", "money", "points", "programme", "coupon", "user"),
	"server/loyalty/user":        rules(),
	"server/loyalty/tail":        rules(),
	"server/loyalty/webhook":     rules("condition", "engine"),
	"server/loyalty/leaderboard": rules("points", "programme", "engine", "tail"),
	"server/loyalty/statistics":  rules("calendar", "money", "points", "programme", "engine", "tail"),
	"server/loyalty/job":         rules("money", "points", "programme", "engine", "admin", "leaderboard", "statistics", "tail", "reminder", "campaign", "coupon", "tier"),
	"server/loyalty/rebuild":     rules("money", "points"),
	"server/loyalty/loyaltytest": {"*"},

	// The engine decides. Its traffic brings that to the database, and knows no rule.
	"server/loyalty/engine/traffic": {"server/loyalty"},

	// The store speaks the vocabulary. It drives the rebuild too, because only it can read
	// a journal of any length row by row.
	"store":             {"server/loyalty", "server/loyalty/points", "server/loyalty/money", "server/loyalty/rebuild", "store/schema", "store/citus"},
	"server/servertest": {"*"},
	"store/storetest":   {"store", "store/pgserver", "store/schema", "server/loyalty", "server/loyalty/points", "server/loyalty/money"},
	"gen":               {"gen/common", "gen/entities", "server/loyalty", "server/loyalty/money"},
}

// rules are rooms of the rules above the vocabulary.
func rules(rooms ...string) []string {
	all := []string{"server/loyalty"}
	for _, r := range rooms {
		all = append(all, "server/loyalty/"+r)
	}
	return all
}

// apiRoom is what the package of an API stands on, with the rooms of the rules (or of server/) that it names.
func apiRoom(others ...string) []string {
	all := append(rules("admin", "programme"), "gen", "server/api", "server/contract", "server/list")
	for _, room := range others {
		if !strings.HasPrefix(room, "server/") {
			room = "server/loyalty/" + room
		}
		all = append(all, room)
	}
	return all
}

// feature is what a feature stands on, and the features that it names.
func feature(others ...string) []string {
	return append(rules("calendar", "condition", "money", "points", "programme", "engine"), rules(others...)[1:]...)
}

// onlyIn names libraries that belong to one room.
var onlyIn = map[string][]string{
	"github.com/gin-gonic/gin":  {"server", "server/api/…", "gen/…", "server/cmd/bench"},
	"github.com/prometheus":     {"server/observe"},
	"net/http/pprof":            {"server/observe"},
	"go.opentelemetry.io":       {"server/tracing"},
	"github.com/yuin/goldmark":  {"server/portal"},
	"code.dny.dev/ssrf":         {"server/egress"},
	"github.com/coreos/go-oidc": {"server/console"},
	"golang.org/x/oauth2":       {"server/console"},
	"gorm.io":                   {"store", "server/cmd/bench"},
	"github.com/jackc/pgx":      {"store", "store/…", "server/cmd/bench"},
}

// standardOnly are the rooms that use the standard library, and these.
var standardOnly = map[string][]string{
	"signing":                  nil,
	"i18n":                     {"golang.org/x/text"},
	"server/loyalty/points":    nil,
	"store/pgserver":           nil,
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
				require.True(t, slices.ContainsFunc(rooms, func(r string) bool {
					above, below := strings.CutSuffix(r, "/…")
					return r == room || below && within(room, above)
				}),
					"%s imports %s, which belongs to %v", rel, imported, rooms)
			}
		}

		if libraries, strict := standardOnly[room]; strict && strings.Contains(strings.Split(imported, "/")[0], ".") {
			require.True(t, anyWithin(imported, libraries), "%s imports %s: this room uses the standard library", rel, imported)
		}
	}
}

func allowed(room, own string) bool {
	// what tests stand on is in no program
	if strings.HasSuffix(own, "test") && !strings.HasSuffix(room, "test") {
		return false
	}

	rooms, known := mayImport[room]
	if !known {
		rooms = mayImport[strings.Split(room, "/")[0]]
	}

	for _, r := range rooms {
		// A room of the rules or of an API is never meant with another one's name.
		one := within(own, "server/loyalty") || within(own, "server/api")
		if r == "*" || own == r || !one && within(own, r) || one && within(own, strings.TrimSuffix(r, "/…")) && strings.HasSuffix(r, "/…") {
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
