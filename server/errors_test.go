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
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/signing"
)

// ownFaults are the failures of this package.
var ownFaults = []error{
	api.ErrReadOnlyKey, loyalty.ErrAPIForbidden, api.ErrAddressRefused, api.ErrPathNotFound, contract.ErrMalformedBody, api.ErrUnknownParameter,
	contract.ErrInvalidParameter, contract.ErrConflictingParameter, api.ErrIdempotencyKey, api.ErrTargetMalformed,
	api.ErrBusy, api.ErrBodyTooLarge, api.ErrMediaType, api.ErrCoding, api.ErrRateLimited, api.ErrMethod,
}

// TestEveryKindHasAStatus: no kind of failure is without a status and a type.
func TestEveryKindHasAStatus(t *testing.T) {
	want := map[loyalty.Kind]int{
		loyalty.Internal: 500, loyalty.Invalid: 400, loyalty.NotFound: 404, loyalty.Conflict: 409,
		loyalty.Refused: 422, loyalty.Forbidden: 403, loyalty.Unavailable: 503, loyalty.Oversized: 413,
	}

	require.Equal(t, want, api.Statuses)
	for kind := loyalty.Internal; kind <= loyalty.Oversized; kind++ {
		require.NotEmpty(t, api.Types[api.Statuses[kind]], "kind %d", kind)
	}

	for status, name := range api.Types {
		require.True(t, name.Valid(), "%d: %s is not in the contract", status, name)
	}

	for _, err := range ownFaults {
		status, _ := api.AsFault(err)
		require.NotEmpty(t, api.Types[status], err)
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
		_, fault := api.AsFault(err)
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
	status, body := api.ErrorBody(inLanguage(catalogue, "en"), errors.New("secret: connection string"))
	require.Equal(t, http.StatusInternalServerError, status)
	require.NotContains(t, string(body), "secret")
	require.Contains(t, string(body), `"code":190001`)

	for _, cause := range []error{
		loyalty.ErrDatabaseAway, loyalty.ErrOutcomeUnknown, context.Canceled, context.DeadlineExceeded,
		loyalty.ErrUnavailable.Because(errors.New("secret")),
	} {
		status, body = api.ErrorBody(inLanguage(catalogue, "en"), fmt.Errorf("reading: %w", cause))
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
	_, en := api.Envelope(inLanguage(catalogue, "en"), contract.MalformedBody("syntax"))
	_, hu := api.Envelope(inLanguage(catalogue, "hu"), contract.MalformedBody("syntax"))
	require.NotEqual(t, en.Message, hu.Message)
	require.Contains(t, en.Message, catalogue.Message("en", "reason.syntax", nil))
	require.Contains(t, hu.Message, catalogue.Message("hu", "reason.syntax", nil))
}

// inLanguage is a caller who wants one language.
func inLanguage(catalogue *i18n.Catalogue, language string) *api.Localizer {
	return &api.Localizer{Catalogue: catalogue, Wanted: []string{language}, Messages: language}
}

// TestCallersWhoLeave: who leaves ends what is under way, which is no fault of the server's and
// no line for its operators, whatever the end was called on the way.
func TestCallersWhoLeave(t *testing.T) {
	for _, err := range []error{context.Canceled, loyalty.ErrInternal.Because(context.Canceled), loyalty.ErrInternal.Because(fmt.Errorf("read: %w", context.Canceled))} {
		status, fault := api.AsFault(err)
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Equal(t, loyalty.ErrUnavailable.Code, fault.Code)
		require.ErrorIs(t, fault, context.Canceled)
	}
	status, fault := api.AsFault(loyalty.ErrInternal.Because(errors.New("a fault")))
	require.Equal(t, http.StatusInternalServerError, status)
	require.Equal(t, loyalty.ErrInternal.Code, fault.Code)
	status, fault = api.AsFault(loyalty.ErrInternal.Because(errors.Join(loyalty.ErrOutcomeUnknown, context.Canceled)))
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
		{loyalty.ErrDatabaseAway, "", true, "1"}, {loyalty.ErrDatabaseAway, "k", true, "1"}, {api.ErrBusy, "", true, "1"}, {api.ErrBodyTooLarge, "k", true, ""},
	} {
		w := httptest.NewRecorder()
		g, _ := gin.CreateTestContext(w)
		g.Request = httptest.NewRequest(http.MethodPost, "/events", nil)
		if c.key != "" {
			g.Request.Header.Set(api.IdempotencyHeader, c.key)
		}
		r := &api.Request{Operation: &api.Operation{Keeps: c.keeps}}
		r.Tongue = *inLanguage(catalogue, "en")
		r.Language = &r.Tongue
		g.Set(api.RequestKey{}, r)
		(&Server{}).fail(g, c.cause)
		require.Equal(t, c.want, w.Header().Get("Retry-After"), "%v, key %q, kept: %t", c.cause, c.key, c.keeps)
	}
}
