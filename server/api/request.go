// Package api is what the handlers of all APIs share: the request, answers and errors, readers of customers, the views that
// several APIs show, and gates for expensive work. Each API is a package below it.
package api

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/signing"
)

// Request is what the middlewares learn about a request, for later stages. It lives as long as the request and is never
// stored.
type Request struct {
	ID        string
	Began     time.Time
	Source    netip.Addr         // the caller's address, through trusted proxies
	Language  *Localizer         // of the answer
	Tongue    Localizer          // the value that language points to
	Body      []byte             // raw, as signed
	Claim     signing.Claim      // the headers' statement, unproven until the body is checked
	Claimed   *loyalty.AccessKey // nil: unknown key, or not allowed from this address
	Memory    BodyShare          // the memory of the body
	Cut       bool               // the body is longer than its caller may send
	Key       *loyalty.AccessKey // the key that signed; nil until verified
	Caller    *loyalty.Caller    // the user of the console; nil: the caller is a key
	Signature string             // of a verified request
	Signed    string             // names of the headers that it covers, in lower case, with semicolons between
	Nowhere   bool               // the path has an id that is blank or a dash
	Operation *Operation         // nil outside the contract
	Query     []list.Pair        // decoded, in wire order
	Tree      any                // the checked body
	Actions   []string           // of the events in the body, before it was checked
	Err       error              // the answered error
	Version   int64              // of the programme in force at the request
	Unbound   context.Context    // ends only with the caller; for the feed, exports and findings
	Traced    Traced             // if requests are traced
	Decided   bool               // its Idempotency-Key was passed on, or it stores no answer
}

// Fields are the fields to filter the requested list by.
func (r *Request) Fields() map[string]list.Field {
	if r.Operation == nil {
		return nil
	}
	return r.Operation.Fields
}

// PersonalHidden reports whether the caller is a user who may not see personal data.
func (r *Request) PersonalHidden() bool { return r.Caller != nil && !r.Caller.Personal }

// ActorsShown reports whether the caller may see who did something. Users may if they may read the audit trail.
func (r *Request) ActorsShown() bool {
	return r.Caller == nil || r.Caller.Role.Covers(loyalty.RoleOperator)
}

// AsksForPast reports whether a customer's figures are wanted as of an instant: they are computed from everything that
// was ever recorded of the customer.
func (r *Request) AsksForPast() bool {
	return slices.ContainsFunc(r.Query, func(p list.Pair) bool { return p.Name == "as_of" })
}

type RequestKey struct{}

// RequestOf finds the request behind a handler's context, which is gin's own.
func RequestOf(ctx context.Context) *Request {
	if c, ok := ctx.(*gin.Context); ok {
		if r, ok := c.Get(RequestKey{}); ok {
			return r.(*Request)
		}
	}
	return &Request{}
}

// Admits reports whether a key may be used from an address: an empty list allows all.
func Admits(key *loyalty.AccessKey, source netip.Addr) bool {
	return len(key.Addresses) == 0 || listed(key.Addresses, source)
}

// Repeatable reports whether a request with an unknown outcome has only one effect, however often it is sent. Otherwise
// a client that obeys Retry-After by itself would book twice.
func (r *Request) Repeatable(sent *http.Request) bool {
	return r.Operation != nil && r.Operation.Keeps && sent.Header.Get(IdempotencyHeader) != ""
}

func listed(networks []string, source netip.Addr) bool {
	return slices.ContainsFunc(networks, func(text string) bool {
		p, ok := contract.ParseNetwork(text)
		return ok && p.Contains(source)
	})
}
