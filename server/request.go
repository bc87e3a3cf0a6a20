package server

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

// request is what the middlewares learn about a request, for later stages. It lives as long as the request and is never
// stored.
type request struct {
	id        string
	began     time.Time
	source    netip.Addr         // the caller's address, through trusted proxies
	language  *tongue            // of the answer
	tongue    tongue             // the value that language points to
	body      []byte             // raw, as signed
	claim     signing.Claim      // the headers' statement, unproven until the body is checked
	claimed   *loyalty.AccessKey // nil: unknown key, or not allowed from this address
	memory    bodyShare          // the memory of the body
	cut       bool               // the body is longer than its caller may send
	key       *loyalty.AccessKey // the key that signed; nil until verified
	caller    *loyalty.Caller    // the user of the console; nil: the caller is a key
	signature string             // of a verified request
	signed    string             // names of the headers that it covers, in lower case, with semicolons between
	nowhere   bool               // the path has an id that is blank or a dash
	operation *operation         // nil outside the contract
	query     []list.Pair        // decoded, in wire order
	tree      any                // the checked body
	actions   []string           // of the events in the body, before it was checked
	err       error              // the answered error
	version   int64              // of the programme in force at the request
	unbound   context.Context    // ends only with the caller; for the feed, exports and findings
	traced    Traced             // if requests are traced
	decided   bool               // its Idempotency-Key was passed on, or it stores no answer
}

// fields are the fields to filter the requested list by.
func (r *request) fields() map[string]list.Field {
	if r.operation == nil {
		return nil
	}
	return r.operation.fields
}

// sightless reports whether the caller is a user who may not see personal data.
func (r *request) sightless() bool { return r.caller != nil && !r.caller.Personal }

// actorsShown reports whether the caller may see who did something. Users may if they may read the audit trail.
func (r *request) actorsShown() bool {
	return r.caller == nil || r.caller.Role.Covers(loyalty.RoleOperator)
}

// asksForPast reports whether a customer's figures are wanted as of an instant: they are computed from everything that
// was ever recorded of the customer.
func (r *request) asksForPast() bool {
	return slices.ContainsFunc(r.query, func(p list.Pair) bool { return p.Name == "as_of" })
}

type requestKey struct{}

// requestOf finds the request behind a handler's context, which is gin's own.
func requestOf(ctx context.Context) *request {
	if c, ok := ctx.(*gin.Context); ok {
		if r, ok := c.Get(requestKey{}); ok {
			return r.(*request)
		}
	}
	return &request{}
}

// admits reports whether a key may be used from an address: an empty list allows all.
func admits(key *loyalty.AccessKey, source netip.Addr) bool {
	return len(key.Addresses) == 0 || listed(key.Addresses, source)
}

// repeatable reports whether a request with an unknown outcome has only one effect, however often it is sent. Otherwise
// a client that obeys Retry-After by itself would book twice.
func (r *request) repeatable(sent *http.Request) bool {
	return r.operation != nil && r.operation.keeps && sent.Header.Get(idempotencyHeader) != ""
}

func listed(networks []string, source netip.Addr) bool {
	return slices.ContainsFunc(networks, func(text string) bool {
		p, ok := contract.ParseNetwork(text)
		return ok && p.Contains(source)
	})
}
