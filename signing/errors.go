package signing

import (
	"fmt"
	"net/http"
	"time"
)

// The codes of refused requests. All are answered with 401 and WWW-Authenticate.
const (
	// CodeHeader: the Authorization, Date or Host header, or a signed header, is malformed, missing or repeated.
	CodeHeader = 101021
	// CodeDate: the date lies outside the window.
	CodeDate = 101022
	// CodeScope: the scope, its day included, or the algorithm is not the server's.
	CodeScope = 101023
	// CodeSignature: the signature is refused: unknown key, revoked key, wrong secret or changed request alike.
	CodeSignature = 101024
)

// Error is a refused signature. Up to and including CodeScope it depends on the request and the configuration only,
// never on whether a key exists; with CodeSignature every field is the same for every cause.
type Error struct {
	// Code is one of CodeHeader, CodeDate, CodeScope, CodeSignature.
	Code int
	// Reason says in English what is wrong and names the header.
	Reason string
	// ServerTime, RequestTime (UTC, whole seconds) and Window are set with CodeDate only.
	ServerTime, RequestTime time.Time
	Window                  time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("signature: %s (%d)", e.Reason, e.Code) }

// Status is the HTTP status of the answer, 401.
func (e *Error) Status() int { return http.StatusUnauthorized }

// RequestError is a request that cannot be judged at all, whatever its signature.
type RequestError struct {
	// Field is what is at fault: method, target, path, query, headers, or the name of the header that carries the
	// signature.
	Field string
	// Reason says in English what is wrong.
	Reason string
}

func (e *RequestError) Error() string { return e.Field + ": " + e.Reason }

// Status is the HTTP status of the answer, 400.
func (e *RequestError) Status() int { return http.StatusBadRequest }

func malformed(format string, args ...any) error {
	return &Error{Code: CodeHeader, Reason: fmt.Sprintf(format, args...)}
}

func refused() error { return &Error{Code: CodeSignature, Reason: "the signature is refused"} }
