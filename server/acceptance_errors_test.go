package server_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
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

// elsewhere are the failures that need a house of their own, and the tests of this
// package in which they come. That they do is held at the end of a whole run
// (TestMain).
var elsewhere = map[string]string{
	"internal":                 "TestPanicIsAPlain500",
	"unavailable":              "TestFaultsOfOurs",
	"busy":                     "TestBodiesShareMemory",
	"idempotency_key_unsigned": "TestKeyMustBeSigned",
	"request_replayed":         "TestReplayGuard",
	"rate_limited":             "TestRateLimit",
	"signature_date":           "TestSignatureRefusals",
	"signature_scope":          "TestSignatureRefusals",
}

// ofUsers are the failures of the console's users, and the tests in which they come.
var ofUsers = map[string]string{
	"role_needed": "TestRoleMatrix", "confirmation_needed": "TestConfirmAgain", "reason_needed": "TestCorrectionsNeedAReason",
	"personal_needed": "TestPersonalDataIsMasked", "console_cross_site": "TestConsoleIsNobodyElses", "console_session": "TestConsoleIsNobodyElses",
	"console_sign_in": "TestLinksAndPasswords", "console_code_needed": "TestLinksAndPasswords", "console_slow": "TestLinksAndPasswords",
	"console_link": "TestLinksAndPasswords", "console_insecure": "TestConsoleIsNobodyElses", "console_busy": "TestSignInsAtOnce", "console_media_type": "TestConsoleIsNobodyElses", "console_signed_in": "TestLinksKeepTheSession",
	"console_outside_state": "TestOutsideIsDistrusted", "console_outside_refused": "TestOutsideIsDistrusted", "console_outside_away": "TestOutsideIsDistrusted",
	"console_outside_token": "TestOutsideIsDistrusted", "console_outside_role": "TestOutside", "outside_taken": "TestOutside", "password_outside": "TestOutside",
	"console_passkey": "TestPasskeys", "console_passkey_place": "TestPasskeysNeedAName", "passkey_wrong": "TestPasskeys", "passkey_unknown": "TestPasskeys", "passkey_many": "TestPasskeys",
	"passkey_outside": "TestPasskeysOfOthers", "user_not_found": "TestDocumentedRefusals",
	"login_taken": "TestDocumentedRefusals", "last_owner": "TestDocumentedRefusals", "user_disabled": "TestDocumentedRefusals", "session_not_found": "TestDocumentedRefusals",
	"password_weak": "TestLinksAndPasswords", "password_too_long": "TestLinksAndPasswords", "second_factor_wrong": "TestLinksAndPasswords",
}

// unasked are the failures that no request brings about here, because the rules of
// their own packages' tests, another moment or another clock does. How they are
// told is seen with a database that answers with them.
var unasked = map[string]struct {
	err     error
	status  int
	message string // in English
}{
	"rules_too_heavy":       {loyalty.ErrRulesTooHeavy.With("action", "checkout"), 422, "The rules of the programme take too long for this checkout; nothing was recorded"},
	"rights_exceeded":       {loyalty.ErrRightsExceeded.With("property", "apis"), 403, "A key cannot give more rights than it has itself: apis"},
	"job_running":           {loyalty.ErrJobRunning.With("job", "expiry"), 409, "The job expiry is running at the moment"},
	"claim_coupon_redeemed": {loyalty.ErrClaimCouponUsed.With("code", "C-1"), 422, "Coupon C-1 of this reward is already redeemed"},
	"leaderboard_unbuilt":   {loyalty.ErrBoardsUnbuilt, 503, "The leaderboard is being counted; please try again shortly"},
	"outcome_unknown":       {loyalty.ErrUnconfirmed, 503, "It is not known whether this was recorded; please repeat the request with the same Idempotency-Key"},
	"clock_off":             {loyalty.ErrClockOff, 503, "This node's clock differs from the database's by more than a minute; set it right, because no jobs run until then"},
	"database_damaged":      {loyalty.ErrDamaged, 503, "The database is damaged and is served read-only until it is restored"},
	"guest_action":          {loyalty.ErrGuestAction.With("action", "visit").At("guest"), 400, "Only a checkout can be for a guest, not the action visit"},
	"pattern_exhausted":     {loyalty.ErrPatternSpent.With("pool", "spring"), 422, "The pattern of the coupon pool spring has too few codes left"},
	"condition_currency": {loyalty.ErrConditionCurrency.With("currency", "EUR"), 422,
		"This condition compares an amount regardless of its currency; use transaction.total_in_base, which is in EUR, or check the currency as well"},
	"tier_not_found":           {loyalty.ErrTierNotFound.With("tier", "gold"), 404, "There is no tier gold"},
	"self_referral":            {loyalty.ErrSelfReferral, 422, "The referrer has the same e-mail address: the customer was enrolled without a referrer"}, // it only warns
	"tier_structure_not_found": {loyalty.ErrStructureNotFound.With("structure", "status"), 404, "There is no tier structure status"},
}

// TestUnaskedErrors: what only the rules know of is told over HTTP in every language,
// with the status of its kind, its code and all that its sentence names.
func TestUnaskedErrors(t *testing.T) {
	said := &saidByDatabase{}
	h := open(t, func(o *server.Options) {
		said.Reader = o.Reader
		o.Reader = said
	})

	declared := loyalty.DeclaredErrors()
	for name, u := range unasked {
		t.Run(name, func(t *testing.T) {
			h.t, said.err = t, u.err
			words := map[string]bool{}
			for _, language := range []string{"en", "es", "fr", "hu"} {
				a := h.unchecked(http.MethodGet, "/customers/ada", "Accept-Language", language)
				require.Equal(t, u.status, a.status, a.body)
				require.Equal(t, language, a.header.Get("Content-Language"))
				got := a.fault(t)
				require.Equal(t, declared[name].Code, got.Code)
				require.NotRegexp(t, placeholder, a.body)
				if language == "en" {
					require.Equal(t, u.message, got.Message)
				}
				words[got.Message] = true
			}

			require.Len(t, words, 4, "a sentence of its own in each language")
		})
	}

	h.t = t
}

// saidByDatabase fails every look at a customer with an error.
type saidByDatabase struct {
	loyalty.Reader
	err error
}

func (s *saidByDatabase) Customer(context.Context, string) (loyalty.Customer, error) {
	return loyalty.Customer{}, s.err
}

// TestEveryError reaches every failure that the server can answer with: what the
// program declares is the measure, so that a new one needs a row here.
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

// everyErrorIsListed compares the rows with the failures that are declared and with
// openapi/errors.yaml.
func everyErrorIsListed(t *testing.T) {
	known := map[string]int{"signature_malformed": 101021, "signature_date": 101022, "signature_scope": 101023, "signature_refused": 101024}
	for name, failure := range loyalty.DeclaredErrors() {
		known[name] = failure.Code
	}

	all, err := openapi.Errors()
	require.NoError(t, err)
	for _, e := range all {
		if strings.HasPrefix(e.Name, "console_") { // its own test holds it against the row
			known[e.Name] = e.Code
		}
	}

	require.Greater(t, len(known), 100)
	rows, statuses := map[string]int{}, map[string]int{}
	for _, f := range failings {
		require.NotContains(t, rows, f.name, "two rows")
		rows[f.name], statuses[f.name] = f.code, f.status
	}

	for name := range elsewhere {
		require.NotContains(t, rows, name, "here and elsewhere")
		rows[name] = known[name]
		expected.Store(known[name], name)
	}

	for name := range ofUsers {
		require.NotContains(t, rows, name, "here and among those of users")
		rows[name] = known[name]
	}

	for name := range unasked {
		require.NotContains(t, rows, name, "here and unasked")
		rows[name] = known[name]
	}

	require.Equal(t, known, rows, "every failure has a row")
	told := map[string]int{}
	for _, e := range all {
		told[e.Name] = e.Code
		if status, here := statuses[e.Name]; here {
			require.Equal(t, status, e.Status, "openapi/errors.yaml: %s", e.Name)
		}
	}

	require.Equal(t, known, told, "openapi/errors.yaml has every failure")
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
