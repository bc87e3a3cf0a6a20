package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/automationcampaigns"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/coupon"
	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/gen/entities"
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/gen/leaderboard"
	"github.com/loyalty-platform/loyalty/gen/levels"
	"github.com/loyalty-platform/loyalty/gen/loyaltyread"
	"github.com/loyalty-platform/loyalty/gen/offers"
	"github.com/loyalty-platform/loyalty/gen/rewards"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// RawResponse is an answer with a finished body. Operations that may be repeated use it, so that the first answer and
// every repetition are the same bytes. It replaces the generated answers.
type RawResponse struct {
	anyOperation
	Status   int
	Body     []byte
	Replayed bool // the body is the stored one of an earlier request
}

// anyOperation makes a type an answer of every operation.
type anyOperation struct {
	administration.AnyAdministration
	automationcampaigns.AnyAutomationcampaigns
	coupon.AnyCoupon
	customers.AnyCustomers
	display.AnyDisplay
	entities.AnyEntities
	events.AnyEvents
	leaderboard.AnyLeaderboard
	levels.AnyLevels
	loyaltyread.AnyLoyaltyread
	offers.AnyOffers
	rewards.AnyRewards
}

// Replay is the stored answer of an earlier request, in its languages.
func Replay(in *Localizer, a *loyalty.Answer) RawResponse {
	in.Forget()
	in.Repeat(a)
	return RawResponse{Status: a.Status, Body: a.Body, Replayed: true}
}

// WithCustomer puts the customer before the rest of an answer. Both are stored separately, so that the first answer and
// every repetition can decide whether to show the customer.
func WithCustomer(block, body []byte) []byte {
	if len(block) == 0 {
		return body
	}
	own := append(make([]byte, 0, len(block)+len(body)+13), `{"customer":`...)
	return JoinObjects(append(append(own, block...), '}'), body)
}

// JoinObjects joins two JSON objects, the properties of the first before those of the second; no name may be in both.
// It may change first.
func JoinObjects(first, second []byte) []byte {
	second = bytes.TrimSpace(second)
	if len(second) <= len("{}") {
		return first
	}
	first[len(first)-1] = ','
	return append(first, second[1:]...)
}

// WithoutCustomer removes the customer from an answer that was stored as a whole.
func WithoutCustomer(body []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil || all["customer"] == nil {
		return body
	}
	delete(all, "customer")
	return Marshal(all)
}

// Write writes the answer.
func (w RawResponse) Write(to http.ResponseWriter) error {
	if w.Replayed {
		to.Header().Set("Idempotency-Replayed", "true")
	}
	common.WriteBody(to, w.Status, w.Body)
	return nil
}

// Plain returns the request's own context: gin reuses its contexts, and the engine's work may
// outlive the handler.
func Plain(ctx context.Context) context.Context {
	if c, ok := ctx.(*gin.Context); ok {
		return c.Request.Context()
	}
	return ctx
}

// HTTPRequest is the request behind a handler's context.
func HTTPRequest(ctx context.Context) *http.Request {
	if c, ok := ctx.(*gin.Context); ok {
		return c.Request
	}
	return &http.Request{}
}

// InstantOrNil leaves a time out that is not set.
func InstantOrNil(t time.Time) *common.Instant {
	if t.IsZero() {
		return nil
	}
	i := common.Instant(t)
	return &i
}

// TextOrNil leaves an empty text out.
func TextOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// htmlEscapes are encoding/json's escapes of characters that need none.
var htmlEscapes = map[string]byte{"0026": '&', "003c": '<', "003e": '>'}

// WithoutHTML resolves the escapes of JSON that only HTML needs. A backslash that is itself escaped begins none.
func WithoutHTML(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\u00`)) {
		return text
	}

	out := make([]byte, 0, len(text))
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			return append(out, text...)
		}
		out, text = append(out, text[:at]...), text[at:]
		if len(text) >= 6 && text[1] == 'u' {
			if c, ok := htmlEscapes[string(text[2:6])]; ok {
				out, text = append(out, c), text[6:]
				continue
			}
		}
		out, text = append(out, text[:2]...), text[2:]
	}
}

// The formats of the feed.
const (
	NDJSONType = "application/x-ndjson"
	SSEType    = "text/event-stream"
)

// WriteTimeout bounds the time for an answer, so that a slow caller cannot hold a connection forever. A bulk may need most
// of it for its work.
const WriteTimeout = 120 * time.Second

// WaitTime bounds how long a request waits, so that a database that does not answer cannot hold callers.
const WaitTime = 10 * time.Second
