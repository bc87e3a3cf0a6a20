package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Statuses is the one table from the kinds of failure to HTTP statuses.
var Statuses = map[loyalty.Kind]int{
	loyalty.Internal:    http.StatusInternalServerError,
	loyalty.Invalid:     http.StatusBadRequest,
	loyalty.NotFound:    http.StatusNotFound,
	loyalty.Conflict:    http.StatusConflict,
	loyalty.Refused:     http.StatusUnprocessableEntity,
	loyalty.Forbidden:   http.StatusForbidden,
	loyalty.Unavailable: http.StatusServiceUnavailable,
	loyalty.Oversized:   http.StatusRequestEntityTooLarge,
}

// Types is the one table from statuses to the type in the envelope.
var Types = map[int]common.ErrorType{
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

// The failures of HTTP itself, which no rule can have. Those of type HTTPError have a status that no kind has.
var (
	ErrReadOnlyKey    = loyalty.NewError(loyalty.Forbidden, 190060, "read_only_key")
	ErrAddressRefused = loyalty.NewError(loyalty.Forbidden, 190065, "address_refused")
	ErrPathNotFound   = loyalty.NewError(loyalty.NotFound, 190066, "path_not_found")

	ErrUnknownParameter = loyalty.NewError(loyalty.Invalid, 190069, "unknown_parameter", "parameter")
	ErrIdempotencyKey   = loyalty.NewError(loyalty.Invalid, 190072, "idempotency_key_invalid")
	ErrTargetMalformed  = loyalty.NewError(loyalty.Invalid, 190073, "target_malformed")

	ErrBusy        = loyalty.NewError(loyalty.Unavailable, 190440, "busy")
	ErrKeyUnsigned = loyalty.NewError(loyalty.Invalid, 190321, "idempotency_key_unsigned")

	ErrBodyTooLarge = HTTPError{http.StatusRequestEntityTooLarge,
		loyalty.NewError(loyalty.Invalid, 190061, "body_too_large", "limit")}
	ErrMediaType = HTTPError{http.StatusUnsupportedMediaType,
		loyalty.NewError(loyalty.Invalid, 190062, "unsupported_media_type", "media_type")}
	ErrCoding = HTTPError{http.StatusUnsupportedMediaType,
		loyalty.NewError(loyalty.Invalid, 190840, "unsupported_coding", "coding")}
	ErrRateLimited = HTTPError{http.StatusTooManyRequests,
		loyalty.NewError(loyalty.Refused, 190063, "rate_limited", "retry_after")}
	ErrMethod = HTTPError{http.StatusMethodNotAllowed,
		loyalty.NewError(loyalty.Invalid, 190067, "method_not_allowed", "method")}
)

// HTTPError is a failure with a status of its own.
type HTTPError struct {
	Status int
	Fault  *loyalty.Error
}

func (e HTTPError) Error() string { return e.Fault.Error() }

// Unwrap returns the failure without its status.
func (e HTTPError) Unwrap() error { return e.Fault }

// With returns a copy that carries a value for the message.
func (e HTTPError) With(key string, value any) HTTPError {
	return HTTPError{e.Status, e.Fault.With(key, value)}
}

// AsFault finds the failure inside an error and its status. An error without a name is an internal fault, except when
// the caller or the database went away: then the request may be repeated.
func AsFault(err error) (int, *loyalty.Error) {
	var own HTTPError
	if errors.As(err, &own) {
		return own.Status, own.Fault
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

	return Statuses[fault.Kind], fault
}

// Envelope renders an error: its status and the object under "error".
func Envelope(lang *Localizer, err error) (int, common.Error) {
	status, fault := AsFault(err)
	e := common.Error{
		Type: Types[status], Code: fault.Code, Message: Message(lang, fault.Name, fault.Args),
	}
	for _, d := range fault.Details {
		e.Details = append(e.Details, common.ErrorDetail{Field: d.Field, Message: Message(lang, d.Name, d.Args)})
	}
	return status, e
}

// Message renders a failure. A reason, and what a pattern wants, are names as well: if the catalogue knows them, they
// are rendered in the language of the sentence.
func Message(lang *Localizer, name string, args map[string]any) string {
	for arg, group := range wordedArgs {
		word, ok := args[arg].(string)
		if !ok {
			continue
		}
		key := group + word
		if text := lang.Message(key, nil); text != key {
			args = maps.Clone(args)
			args[arg] = text
		}
	}
	return lang.Message(name, args)
}

// wordedArgs are the arguments of messages that are themselves names in the catalogue, each with the prefix of its
// names.
var wordedArgs = map[string]string{"reason": "reason.", "wanted": "pattern."}

// ErrorBody is the status and the body of the answer to an error.
func ErrorBody(lang *Localizer, err error) (status int, body []byte) {
	status, e := Envelope(lang, err)
	return status, Marshal(common.ErrorEnvelope{Error: e})
}

// Marshal writes our own answer types, which always marshal.
func Marshal(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}
