package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// statuses is the one table from the kinds of failure to HTTP statuses.
var statuses = map[loyalty.Kind]int{
	loyalty.Internal:    http.StatusInternalServerError,
	loyalty.Invalid:     http.StatusBadRequest,
	loyalty.NotFound:    http.StatusNotFound,
	loyalty.Conflict:    http.StatusConflict,
	loyalty.Refused:     http.StatusUnprocessableEntity,
	loyalty.Forbidden:   http.StatusForbidden,
	loyalty.Unavailable: http.StatusServiceUnavailable,
	loyalty.Oversized:   http.StatusRequestEntityTooLarge,
}

// types is the one table from statuses to the type in the envelope.
var types = map[int]common.ErrorType{
	http.StatusBadRequest:            "BadRequestException",
	http.StatusUnauthorized:          "UnauthorizedException",
	http.StatusForbidden:             "ForbiddenException",
	http.StatusNotFound:              "NotFoundException",
	http.StatusMethodNotAllowed:      "MethodNotAllowedException",
	http.StatusConflict:              "ConflictException",
	http.StatusRequestEntityTooLarge: "PayloadTooLargeException",
	http.StatusUnsupportedMediaType:  "UnsupportedMediaTypeException",
	http.StatusUnprocessableEntity:   "RuleException",
	http.StatusTooManyRequests:       "TooManyRequestsException",
	http.StatusInternalServerError:   "InternalException",
	http.StatusServiceUnavailable:    "InternalException",
}

// The failures of HTTP itself, which no rule can have. Those of type httpError have a status that no kind has.
var (
	errReadOnlyKey    = loyalty.NewError(loyalty.Forbidden, 190060, "read_only_key")
	errAddressRefused = loyalty.NewError(loyalty.Forbidden, 190065, "address_refused")
	errPathNotFound   = loyalty.NewError(loyalty.NotFound, 190066, "path_not_found")

	errUnknownParameter = loyalty.NewError(loyalty.Invalid, 190069, "unknown_parameter", "parameter")
	errIdempotencyKey   = loyalty.NewError(loyalty.Invalid, 190072, "idempotency_key_invalid")
	errTargetMalformed  = loyalty.NewError(loyalty.Invalid, 190073, "target_malformed")

	errBusy        = loyalty.NewError(loyalty.Unavailable, 190440, "busy")
	errKeyUnsigned = loyalty.NewError(loyalty.Invalid, 190321, "idempotency_key_unsigned")

	errBodyTooLarge = httpError{http.StatusRequestEntityTooLarge, loyalty.NewError(loyalty.Invalid, 190061, "body_too_large", "limit")}
	errMediaType    = httpError{http.StatusUnsupportedMediaType, loyalty.NewError(loyalty.Invalid, 190062, "unsupported_media_type", "media_type")}
	errCoding       = httpError{http.StatusUnsupportedMediaType, loyalty.NewError(loyalty.Invalid, 190840, "unsupported_coding", "coding")}
	errRateLimited  = httpError{http.StatusTooManyRequests, loyalty.NewError(loyalty.Refused, 190063, "rate_limited", "retry_after")}
	errMethod       = httpError{http.StatusMethodNotAllowed, loyalty.NewError(loyalty.Invalid, 190067, "method_not_allowed", "method")}
)

// httpError is a failure with a status of its own.
type httpError struct {
	status int
	fault  *loyalty.Error
}

func (e httpError) Error() string { return e.fault.Error() }

// Unwrap returns the failure without its status.
func (e httpError) Unwrap() error { return e.fault }

// with returns a copy that carries a value for the message.
func (e httpError) with(key string, value any) httpError {
	return httpError{e.status, e.fault.With(key, value)}
}

// asFault finds the failure inside an error and its status. An error without a name is an internal fault, except when
// the caller or the database went away: then the request may be repeated.
func asFault(err error) (int, *loyalty.Error) {
	var own httpError
	if errors.As(err, &own) {
		return own.status, own.fault
	}

	left := errors.Is(err, context.Canceled) // work under way may report it as a fault of its own
	var fault *loyalty.Error
	switch {
	case errors.As(err, &fault) && (fault.Kind != loyalty.Internal || !left):
	case errors.Is(err, loyalty.ErrOutcomeUnknown):
		fault = loyalty.ErrUnconfirmed.Because(err)
	case left, errors.Is(err, context.DeadlineExceeded), errors.Is(err, loyalty.ErrDatabaseAway):
		fault = loyalty.ErrUnavailable.Because(err)
	default:
		fault = loyalty.ErrInternal.Because(err)
	}

	return statuses[fault.Kind], fault
}

// envelope renders an error: its status and the object under "error".
func envelope(lang *tongue, err error) (int, common.Error) {
	status, fault := asFault(err)
	e := common.Error{
		Type: types[status], Code: fault.Code, Message: message(lang, fault.Name, fault.Args),
	}
	for _, d := range fault.Details {
		e.Details = append(e.Details, common.ErrorDetail{Field: d.Field, Message: message(lang, d.Name, d.Args)})
	}
	return status, e
}

// message renders a failure. A reason, and what a pattern wants, are names as well: if the catalogue knows them, they
// are rendered in the language of the sentence.
func message(lang *tongue, name string, args map[string]any) string {
	for arg, group := range wordedArgs {
		word, ok := args[arg].(string)
		if !ok {
			continue
		}
		key := group + word
		if text := lang.message(key, nil); text != key {
			args = maps.Clone(args)
			args[arg] = text
		}
	}
	return lang.message(name, args)
}

// wordedArgs are the arguments of messages that are themselves names in the catalogue, each with the prefix of its
// names.
var wordedArgs = map[string]string{"reason": "reason.", "wanted": "pattern."}

// errorBody is the status and the body of the answer to an error.
func errorBody(lang *tongue, err error) (status int, body []byte) {
	status, e := envelope(lang, err)
	return status, marshal(common.ErrorEnvelope{Error: e})
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller may be gone: not our failure
}

var jsonType = []string{"application/json; charset=utf-8"}

// marshal writes our own answer types, which always marshal.
func marshal(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}
