package server

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/signing"
)

// request is what the middlewares find out about a request, for those that come
// after them. It lives as long as the request and is never kept.
type request struct {
	id        string
	began     time.Time
	source    netip.Addr         // the caller's, through trusted proxies
	language  *tongue            // of the answer
	tongue    tongue             // which it is
	body      []byte             // raw, as it was signed
	claim     signing.Claim      // what the headers say, until the body proves it
	claimed   *loyalty.AccessKey // nil: no key of ours, or not from here
	memory    bodyShare          // what the body takes
	cut       bool               // there is more of the body than its caller is worth
	key       *loyalty.AccessKey // that signed; nil until then
	caller    *loyalty.Caller    // the user of the console who asks; nil: a key does
	signature string             // of a verified request
	signed    string             // names of the headers that it covers, in lower case, with semicolons between
	nowhere   bool               // the path has an id that is no more than blanks, or a dash among them
	operation *operation         // nil outside the contract
	query     []list.Pair        // decoded, in wire order
	tree      any                // the checked body
	actions   []string           // of the events in the body, before it was checked
	err       error              // what was answered as an error
	version   int64              // of the programme that the request met
	unbound   context.Context    // ends with the caller alone; of the feed, of exports and of findings
	traced    Traced             // where requests are followed
	decided   bool               // its Idempotency-Key was handed on, or it keeps no answer
}

// fields are what the requested list can be filtered by.
func (r *request) fields() map[string]list.Field {
	if r.operation == nil {
		return nil
	}
	return r.operation.fields
}

// sightless reports whether the caller is a user who may not see personal data.
func (r *request) sightless() bool { return r.caller != nil && !r.caller.Personal }

// actorsShown reports whether the caller is shown who did something: users are who may read the
// audit trail.
func (r *request) actorsShown() bool {
	return r.caller == nil || r.caller.Role.Covers(loyalty.RoleOperator)
}

// asksForPast reports whether a customer's figures are wanted as of an instant: they are folded
// from everything that was ever recorded of the customer.
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
