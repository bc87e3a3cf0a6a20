package console

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// refusal is an error of the console itself; errors of the API pass through unchanged.
type refusal struct {
	status int
	kind   string
	code   int
	name   string // of its text
}

func (r refusal) Error() string { return r.name }

// The refusals of the console.
var (
	errSession        = refusal{http.StatusUnauthorized, "UnauthorizedException", 190660, "console_session"}
	errSignIn         = refusal{http.StatusUnauthorized, "UnauthorizedException", 190661, "console_sign_in"}
	errCodeNeeded     = refusal{http.StatusUnauthorized, "UnauthorizedException", 190662, "console_code_needed"}
	errSlow           = refusal{http.StatusTooManyRequests, "TooManyRequestsException", 190663, "console_slow"}
	errLink           = refusal{http.StatusUnauthorized, "UnauthorizedException", 190664, "console_link"}
	errCrossSite      = refusal{http.StatusForbidden, "ForbiddenException", 190665, "console_cross_site"}
	errInsecure       = refusal{http.StatusForbidden, "ForbiddenException", 190666, "console_insecure"}
	errBusy           = refusal{http.StatusServiceUnavailable, "InternalException", 190667, "console_busy"}
	errPasskey        = refusal{http.StatusUnauthorized, "UnauthorizedException", 190668, "console_passkey"}
	errPasskeyPlace   = refusal{http.StatusUnprocessableEntity, "RuleException", 190669, "console_passkey_place"}
	errOutsideState   = refusal{http.StatusBadRequest, "BadRequestException", 190670, "console_outside_state"}
	errOutsideRefused = refusal{http.StatusForbidden, "ForbiddenException", 190671, "console_outside_refused"}
	errOutsideAway    = refusal{http.StatusServiceUnavailable, "InternalException", 190672, "console_outside_away"}
	errOutsideToken   = refusal{http.StatusUnauthorized, "UnauthorizedException", 190673, "console_outside_token"}
	errOutsideRole    = refusal{http.StatusForbidden, "ForbiddenException", 190674, "console_outside_role"}
	errMediaType      = refusal{http.StatusUnsupportedMediaType, "UnsupportedMediaTypeException",
		190675, "console_media_type"}
	errSignedIn = refusal{http.StatusConflict, "ConflictException", 190860, "console_signed_in"}
	errBody     = refusal{http.StatusBadRequest, "BadRequestException", 190068, "malformed_body"}
	errInternal = refusal{http.StatusInternalServerError, "InternalException", 190001, "internal"}
	errAway     = refusal{http.StatusServiceUnavailable, "InternalException", 190002, "unavailable"}
)

// signedIn is the error for a link that is opened in a browser with a signed-in user.
type signedIn struct{ login string }

func (s signedIn) Error() string { return "a user is signed in" }

// kinds maps failures of the rules to answers.
var kinds = map[loyalty.Kind]refusal{
	loyalty.Invalid:   {http.StatusBadRequest, "BadRequestException", 0, ""},
	loyalty.Refused:   {http.StatusUnprocessableEntity, "RuleException", 0, ""},
	loyalty.Forbidden: {http.StatusForbidden, "ForbiddenException", 0, ""},
	loyalty.NotFound:  {http.StatusNotFound, "NotFoundException", 0, ""},
}

type envelope struct {
	Error struct {
		Type    string   `json:"type"`
		Code    int      `json:"code"`
		Message string   `json:"message"`
		Details []detail `json:"details,omitempty"`
	} `json:"error"`
}

type detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// fail answers an error in the envelope of the API, in the caller's language.
func (c *console) fail(w http.ResponseWriter, r *http.Request, err error) {
	said, args, fields := c.refusalOf(err)
	lang := c.language(r)
	e := envelope{}
	e.Error.Type, e.Error.Code, e.Error.Message = said.kind, said.code, c.Catalogue.Message(lang, said.name, args)
	for _, f := range fields {
		e.Error.Details = append(e.Error.Details, detail{f, e.Error.Message})
	}
	h := w.Header()
	h.Set("Content-Language", lang)
	if (said.status == http.StatusTooManyRequests || said == errBusy) && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "5")
	}
	answer(w, said.status, e)
}

func (c *console) refusalOf(err error) (said refusal, args map[string]any, fields []string) {
	var other elsewhere
	if errors.As(err, &other) {
		return errPasskeyPlace, map[string]any{"host": other.host}, nil
	}

	var already signedIn
	if errors.As(err, &already) {
		return errSignedIn, map[string]any{"login": already.login}, nil
	}
	if errors.As(failed(err), &said) {
		return said, map[string]any{"reason": reasonOf(err)}, nil
	}

	var fault *loyalty.Error
	if errors.As(err, &fault) && kinds[fault.Kind].status != 0 {
		said = kinds[fault.Kind]
		said.code, said.name = fault.Code, fault.Name
		for _, d := range fault.Details {
			fields = append(fields, d.Field)
		}
		return said, fault.Args, fields
	}

	if errors.Is(err, loyalty.ErrDatabaseAway) {
		return errAway, nil, nil
	}

	c.Logger.Error("console", "error", err)
	return errInternal, nil, nil
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller may be gone: not our failure
}

func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// maxBody bounds a body of the console's own endpoints, in bytes.
const maxBody = 16 << 10

func read(w http.ResponseWriter, r *http.Request, into any) error {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into); err != nil {
		return errBody
	}
	return nil
}
