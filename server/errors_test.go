package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/signing"
)

// ownFaults are the failures of this package.
var ownFaults = []error{
	errReadOnlyKey, loyalty.ErrAPIForbidden, errAddressRefused, errPathNotFound, contract.ErrMalformedBody, errUnknownParameter,
	contract.ErrInvalidParameter, contract.ErrConflictingParameter, errIdempotencyKey, errTargetMalformed,
	errBusy, errBodyTooLarge, errMediaType, errCoding, errRateLimited, errMethod,
}

// TestEveryKindHasAStatus: no kind of failure is without a status and a type.
func TestEveryKindHasAStatus(t *testing.T) {
	want := map[loyalty.Kind]int{
		loyalty.Internal: 500, loyalty.Invalid: 400, loyalty.NotFound: 404, loyalty.Conflict: 409,
		loyalty.Refused: 422, loyalty.Forbidden: 403, loyalty.Unavailable: 503, loyalty.Oversized: 413,
	}

	require.Equal(t, want, statuses)
	for kind := loyalty.Internal; kind <= loyalty.Oversized; kind++ {
		require.NotEmpty(t, types[statuses[kind]], "kind %d", kind)
	}

	for status, name := range types {
		require.True(t, name.Valid(), "%d: %s is not in the contract", status, name)
	}

	for _, err := range ownFaults {
		status, _ := asFault(err)
		require.NotEmpty(t, types[status], err)
	}
}

// TestEveryFaultIsWorded: each failure of this package and each fault of a body
// has a text in every language, and no two failures share a code.
func TestEveryFaultIsWorded(t *testing.T) {
	catalogue, err := i18n.Load()
	require.NoError(t, err)
	var names []string
	codes := map[int]string{}
	for _, err := range ownFaults {
		_, fault := asFault(err)
		names = append(names, fault.Name)
		require.Empty(t, codes[fault.Code], "code %d", fault.Code)
		codes[fault.Code] = fault.Name
	}

	names = append(names, signatureNames[signing.CodeHeader], signatureNames[signing.CodeDate],
		signatureNames[signing.CodeScope], signatureNames[signing.CodeSignature],
		"must_be_type", "must_be_one_of", "bad_format", "bad_pattern", "too_short", "too_long", "too_few", "too_many",
		"too_small", "too_large", "not_multiple", "not_unique", "property_invalid", "property_unknown", "case_mismatch",
		"number_out_of_range", "property_empty")

	for _, reason := range []string{
		"brackets", "depth", "encoding", "incomplete", "instant", "nul", "pattern_budget", "surrogate", "repeated", "repeated_name", "schema", "syntax",
		"too_many", "trailing",
	} {
		names = append(names, "reason."+reason)
	}

	for _, language := range catalogue.Languages() {
		for _, name := range names {
			require.NotEqual(t, name, catalogue.Message(language, name, nil), "%s has no text for %s", language, name)
		}
	}
}

// TestUnknownErrorsAreHidden: an error without a name is a plain 500, and one that a database or a departed caller
// caused may be repeated.
func TestUnknownErrorsAreHidden(t *testing.T) {
	catalogue, err := i18n.Load()
	require.NoError(t, err)
	status, body := errorBody(inLanguage(catalogue, "en"), errors.New("secret: connection string"))
	require.Equal(t, http.StatusInternalServerError, status)
	require.NotContains(t, string(body), "secret")
	require.Contains(t, string(body), `"code":190001`)

	for _, cause := range []error{
		loyalty.ErrDatabaseAway, loyalty.ErrOutcomeUnknown, context.Canceled, context.DeadlineExceeded,
		loyalty.ErrUnavailable.Because(errors.New("secret")),
	} {
		status, body = errorBody(inLanguage(catalogue, "en"), fmt.Errorf("reading: %w", cause))
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.NotContains(t, string(body), "secret")
		code := `"code":190002` // nothing happened
		if errors.Is(cause, loyalty.ErrOutcomeUnknown) {
			code = `"code":190420`
		}
		require.Contains(t, string(body), code)
	}
}

func TestReasonsSpeakTheLanguage(t *testing.T) {
	catalogue, err := i18n.Load()
	require.NoError(t, err)
	_, en := envelope(inLanguage(catalogue, "en"), contract.MalformedBody("syntax"))
	_, hu := envelope(inLanguage(catalogue, "hu"), contract.MalformedBody("syntax"))
	require.NotEqual(t, en.Message, hu.Message)
	require.Contains(t, en.Message, catalogue.Message("en", "reason.syntax", nil))
	require.Contains(t, hu.Message, catalogue.Message("hu", "reason.syntax", nil))
}

// inLanguage is a caller who wants one language.
func inLanguage(catalogue *i18n.Catalogue, language string) *tongue {
	return &tongue{catalogue: catalogue, wanted: []string{language}, messages: language}
}

// TestCallersWhoLeave: who leaves ends what is under way, which is no fault of the server's and
// no line for its operators, whatever the end was called on the way.
func TestCallersWhoLeave(t *testing.T) {
	for _, err := range []error{context.Canceled, loyalty.ErrInternal.Because(context.Canceled), loyalty.ErrInternal.Because(fmt.Errorf("read: %w", context.Canceled))} {
		status, fault := asFault(err)
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Equal(t, loyalty.ErrUnavailable.Code, fault.Code)
		require.ErrorIs(t, fault, context.Canceled)
	}
	status, fault := asFault(loyalty.ErrInternal.Because(errors.New("a fault")))
	require.Equal(t, http.StatusInternalServerError, status)
	require.Equal(t, loyalty.ErrInternal.Code, fault.Code)
	status, fault = asFault(loyalty.ErrInternal.Because(errors.Join(loyalty.ErrOutcomeUnknown, context.Canceled)))
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, loyalty.ErrUnconfirmed.Code, fault.Code, "it may have happened")
}

// TestRetryAfterOfAnUnknownOutcome: a client repeats by itself what Retry-After tells it to. Where it is not known whether a
// write was recorded it is told so only if the repetition finds out, because it has an Idempotency-Key that is kept.
func TestRetryAfterOfAnUnknownOutcome(t *testing.T) {
	catalogue, err := i18n.Load()
	require.NoError(t, err)
	ginOnce()

	for _, c := range []struct {
		cause error
		key   string
		keeps bool
		want  string
	}{
		{loyalty.ErrOutcomeUnknown, "", true, ""}, {loyalty.ErrOutcomeUnknown, "k", true, "1"}, {loyalty.ErrOutcomeUnknown, "k", false, ""},
		{loyalty.ErrUnconfirmed, "", true, ""}, {loyalty.ErrUnconfirmed, "k", true, "1"},
		{loyalty.ErrDatabaseAway, "", true, "1"}, {loyalty.ErrDatabaseAway, "k", true, "1"}, {errBusy, "", true, "1"}, {errBodyTooLarge, "k", true, ""},
	} {
		w := httptest.NewRecorder()
		g, _ := gin.CreateTestContext(w)
		g.Request = httptest.NewRequest(http.MethodPost, "/events", nil)
		if c.key != "" {
			g.Request.Header.Set(idempotencyHeader, c.key)
		}
		r := &request{operation: &operation{keeps: c.keeps}}
		r.tongue = *inLanguage(catalogue, "en")
		r.language = &r.tongue
		g.Set(requestKey{}, r)
		(&Server{}).fail(g, c.cause)
		require.Equal(t, c.want, w.Header().Get("Retry-After"), "%v, key %q, kept: %t", c.cause, c.key, c.keeps)
	}
}
