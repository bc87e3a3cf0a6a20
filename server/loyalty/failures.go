package loyalty

import (
	"context"
	"time"
)

// FailedRequest is a request that was answered with an error. It has nothing of what was sent: no path, no values, no
// name of a customer.
type FailedRequest struct {
	ID        ID
	At        time.Time // when the request came
	RequestID string
	Method    string
	Route     string   // the template in its document; empty: the path is unknown
	API       string   // the document that has the operation; empty: none
	Status    int      // of HTTP
	Code      int64    // of the failure
	KeyID     string   // empty: it was not signed, or the signature was refused
	Fields    []string // the properties at fault, as the documents name them; * stands for other names
	Duration  time.Duration
}

// How long failed requests are kept, and how many of them.
const (
	FailureLife = 7 * 24 * time.Hour
	MaxFailures = 10_000
)

// FailureQuery selects failed requests, newest first. Fields: status, code, api, route, key_id, at.
type FailureQuery struct {
	Conditions []Condition
	Page       Page
}

// RefusedAs is a code with which events are refused, at about an instant.
type RefusedAs struct {
	At   time.Time
	Code int64 // of the failure
}

// FailureStore keeps the last failed requests of all nodes.
type FailureStore interface {
	// AddFailures keeps requests.
	AddFailures(ctx context.Context, all []FailedRequest) error
	// AddRefusals counts refused events, by day and code, for good.
	AddRefusals(ctx context.Context, all map[RefusedAs]int64) error
	// ForgetFailures deletes requests before an instant and, of the rest, all but the newest.
	ForgetFailures(ctx context.Context, before time.Time, keep int) error
	// Failures lists them.
	Failures(ctx context.Context, q FailureQuery) ([]FailedRequest, error)
}
