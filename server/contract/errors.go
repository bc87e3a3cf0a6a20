package contract

import "github.com/loyalty-platform/loyalty/server/loyalty"

// The errors of a body or a parameter before any schema is applied. Schemas refuse with the platform's own errors:
// loyalty.ErrPropertyEmpty, ErrPropertyUnknown, ErrPropertyInvalid and ErrTooLarge.
var (
	// ErrMalformedBody is a body that cannot be read as JSON or as a form.
	ErrMalformedBody = loyalty.NewError(loyalty.Invalid, 190068, "malformed_body", "reason")
	// ErrInvalidParameter is a parameter that does not fit its declaration.
	ErrInvalidParameter = loyalty.NewError(loyalty.Invalid, 190070, "invalid_parameter", "parameter", "reason")
	// ErrConflictingParameter is a name of a form that has both a value and children.
	ErrConflictingParameter = loyalty.NewError(loyalty.Invalid, 190071, "conflicting_parameter", "parameter")
)
