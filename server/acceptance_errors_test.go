package server_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// failing is a request that is refused, and with what.
type failing struct {
	name    string // translation key
	status  int
	code    int
	message string // in English
	field   string // at fault; empty: none
	before  [][2]string
	ask     func(h *house, language string) answer
}

// kinds is the type in the envelope by status, as the contract has it.
var kinds = map[int]string{
	400: "BadRequestException", 401: "UnauthorizedException", 403: "ForbiddenException", 404: "NotFoundException",
	405: "MethodNotAllowedException", 409: "ConflictException", 413: "PayloadTooLargeException",
	415: "UnsupportedMediaTypeException", 422: "RuleException", 429: "TooManyRequestsException",
}

// elsewhere names the place of the test that reaches a failure which needs a house
// of its own: a file, and what stands in it.
var elsewhere = map[string][2]string{
	"internal":                 {"middleware_test.go", "func TestPanicIsAPlain500("},
	"unavailable":              {"middleware_test.go", "func TestFaultsOfOurs("},
	"rules_too_heavy":          {"loyalty/effort_test.go", "ErrRulesTooHeavy"},
	"busy":                     {"body_memory_test.go", "func TestBodiesShareMemory("},
	"rights_exceeded":          {"loyalty/admin_rights_test.go", "func TestKeysGiveWhatTheyHave("},
	"idempotency_key_unsigned": {"signature_test.go", "func TestKeyMustBeSigned("},
	"request_replayed":         {"signature_test.go", "func TestReplayGuard("},
	"rate_limited":             {"middleware_test.go", "func TestRateLimit("},
	"job_running":              {"loyalty/jobs_test.go", "ErrJobRunning"},
	"claim_coupon_redeemed":    {"loyalty/action/testdata/reward_redeem.json", `"name": "claim_coupon_redeemed", "code": 190220`},
	"leaderboard_unbuilt":      {"leaderboard_test.go", "190270"},
	"outcome_unknown":          {"loyalty/timekeeper_test.go", "ErrUnconfirmed"},
	"clock_off":                {"loyalty/timekeeper_test.go", "ErrClockOff"},
	"database_damaged":         {"../store/sqlite_damage_test.go", "ErrDamaged"},
	"guest_action":             {"loyalty/action/testdata/checkout_claim.json", `"name": "guest_action", "code": 190162`}, // the contract refuses it first
	"pattern_exhausted":        {"loyalty/coupon_pool_test.go", "ErrPatternSpent"},                                        // a pattern has a million codes at least
	"tier_not_found":           {"loyalty/action/testdata/tier_change.json", `"name": "tier_not_found", "code": 190122`},
	"tier_structure_not_found": {"loyalty/action/testdata/tier_recalculation.json", `"name": "tier_structure_not_found", "code": 190123`},
	"signature_date":           {"signature_test.go", "101022, func("},
	"signature_scope":          {"signature_test.go", "101023, func("},
}

// TestEveryError reaches every failure that the server can answer with: the
// source's list is the measure, so that a new one needs a row here.
func TestEveryError(t *testing.T) {
	t.Run("list", everyErrorIsListed)
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.prepareErrors()
		languages := []string{"es", "fr", "hu"}
		if contentsOf(t, url).file == "" {
			languages = nil // words do not depend on the database
		}
		for _, f := range failings {
			t.Run(f.name, func(t *testing.T) {
				h.t = t
				for _, piece := range f.before {
					done(h, piece[0], piece[1])
				}
				f.reach(h, languages)
			})
		}
		h.t = t
	})
}

// placeholder is what no message may have left.
var placeholder = regexp.MustCompile(`\{\w*\}|<no value>|reason\.|%!`)

func (f failing) reach(h *house, languages []string) {
	t := h.t
	t.Helper()
	a := f.ask(h, "en")
	require.Equal(t, f.status, a.status, a.body)
	got := a.fault(t)
	require.Equal(t, kinds[f.status], got.Type)
	require.Equal(t, f.code, got.Code, a.body)
	require.Equal(t, f.message, got.Message)
	if f.field == "" {
		require.Empty(t, got.Details, a.body)
	} else {
		require.Equal(t, []string{f.field}, got.fields(), a.body)
	}
	for _, language := range languages {
		other := f.ask(h, language)
		require.Equal(t, f.status, other.status, other.body)
		require.Equal(t, language, other.header.Get("Content-Language"))
		said := other.fault(t)
		require.Equal(t, []any{got.Type, got.Code, got.fields()}, []any{said.Type, said.Code, said.fields()})
		require.NotRegexp(t, placeholder, other.body)
		if f.name == "ERR_TX_ALREADY_EXISTS" {
			require.Equal(t, got.Message, said.Message, "the specification's own word")
		} else {
			require.NotEqual(t, got.Message, said.Message, language)
		}
	}
	require.NotRegexp(t, placeholder, a.body)
}

// everyErrorIsListed compares the rows with the failures of the source and with
// the list of codes in openapi/DECISIONS.md.
func everyErrorIsListed(t *testing.T) {
	known := map[string]int{"signature_malformed": 101021, "signature_date": 101022, "signature_scope": 101023, "signature_refused": 101024}
	for _, pattern := range []string{"loyalty/errors.go", "errors.go", "contract/errors.go", "list/errors.go"} {
		maps.Copy(known, failuresIn(t, pattern))
	}
	require.Greater(t, len(known), 100)
	rows, statuses := map[string]int{}, map[int]int{}
	for _, f := range failings {
		require.NotContains(t, rows, f.name, "two rows")
		rows[f.name], statuses[f.code] = f.code, f.status
	}
	for name, place := range elsewhere {
		require.NotContains(t, rows, name, "here and elsewhere")
		rows[name] = known[name]
		source, err := os.ReadFile(place[0])
		require.NoError(t, err)
		require.Contains(t, string(source), place[1], "the test of %s", name)
	}
	require.Equal(t, known, rows, "every failure has a row")
	decided := decidedCodes(t)
	for code, d := range decided {
		require.Contains(t, slices.Collect(maps.Values(rows)), code, "the code %d of DECISIONS.md", code)
		if d.name != "" {
			require.Equal(t, code, known[d.name], "DECISIONS.md names %d %s", code, d.name)
			if status, here := statuses[code]; here {
				require.Equal(t, status, d.status, "DECISIONS.md: %d", code)
			}
		}
	}
	for name, code := range known {
		require.Contains(t, decided, code, "DECISIONS.md lacks %s", name)
	}
}

// failuresIn reads the failures that a file declares: their names and codes.
func failuresIn(t *testing.T, path string) map[string]int {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	found := map[string]int{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 3 {
			return true
		}
		code, numbered := call.Args[1].(*ast.BasicLit)
		name, named := call.Args[2].(*ast.BasicLit)
		if numbered && named && code.Kind == token.INT {
			text, err := strconv.Unquote(name.Value)
			require.NoError(t, err)
			found[text], err = strconv.Atoi(code.Value)
			require.NoError(t, err)
		}
		return true
	})
	require.NotEmpty(t, found)
	return found
}

// decided is what DECISIONS.md says of a code.
type decided struct {
	status int
	name   string
}

var (
	codeRow   = regexp.MustCompile(`(?m)^\| (\d+) \| (\d+) \| (\w+) \|`)
	codeWords = regexp.MustCompile(`(?s)Codes of the specification: (.*?) Everything else`)
	codeRange = regexp.MustCompile(`(\d+)(?:-(\d+))?`)
)

// decidedCodes reads the section "Error codes".
func decidedCodes(t *testing.T) map[int]decided {
	t.Helper()
	page, err := os.ReadFile("../openapi/DECISIONS.md")
	require.NoError(t, err)
	all := map[int]decided{}
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		return n
	}
	words := codeWords.FindStringSubmatch(string(page))
	require.NotNil(t, words)
	for _, found := range codeRange.FindAllStringSubmatch(words[1], -1) {
		last := found[1]
		if found[2] != "" {
			last = found[2]
		}
		for n := number(found[1]); n <= number(last); n++ {
			all[n] = decided{}
		}
	}
	for _, row := range codeRow.FindAllStringSubmatch(string(page), -1) {
		all[number(row[1])] = decided{number(row[2]), row[3]}
	}
	require.Greater(t, len(all), 50)
	return all
}

// sends posts a body, as the row says in every language.
func sends(target, body string, headers ...string) func(*house, string) answer {
	return func(h *house, language string) answer {
		return h.post(target, body, append([]string{"Accept-language", language}, headers...)...)
	}
}

// says sends an event.
func says(customer, action, data string) func(*house, string) answer {
	return sends("/events", fmt.Sprintf(`{"customer":%q,"action":%q,"data":%s}`, customer, action, data))
}

func reads(target string) func(*house, string) answer {
	return func(h *house, language string) answer { return h.get(target, "Accept-language", language) }
}

func event(customer, action, data string) [2]string {
	return [2]string{"/events", fmt.Sprintf(`{"customer":%q,"action":%q,"data":%s}`, customer, action, data)}
}

// prepareErrors makes the customers and the programme that the rows need.
func (h *house) prepareErrors() {
	h.t.Helper()
	h.everyModule()
	for _, piece := range errorPieces {
		done(h, piece[0], piece[1])
	}
	require.Equal(h.t, http.StatusOK, h.get("/customers/ada").status)
}
