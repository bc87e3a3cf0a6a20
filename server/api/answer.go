package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// RawResponse is an answer with a finished body. Operations that may be repeated use it, so that the first answer and
// every repetition are the same bytes. It replaces the generated answers.
type RawResponse struct {
	Status   int
	Body     []byte
	Replayed bool // the body is the stored one of an earlier request
}

// Replay is the stored answer of an earlier request, in its languages.
func Replay(in *Localizer, a *loyalty.Answer) RawResponse {
	in.Forget()
	in.Repeat(a)
	return RawResponse{a.Status, a.Body, true}
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

func (w RawResponse) Write(to http.ResponseWriter) error {
	if w.Replayed {
		to.Header().Set("Idempotency-Replayed", "true")
	}
	WriteJSON(to, w.Status, w.Body)
	return nil
}

// The answers of operations that may be repeated, or whose content is written as it is stored.

func (w RawResponse) VisitSubmitEventResponse(to http.ResponseWriter) error       { return w.Write(to) }
func (w RawResponse) VisitSubmitEventsResponse(to http.ResponseWriter) error      { return w.Write(to) }
func (w RawResponse) VisitPreviewEventResponse(to http.ResponseWriter) error      { return w.Write(to) }
func (w RawResponse) VisitFollowEventsResponse(to http.ResponseWriter) error      { return w.Write(to) }
func (w RawResponse) VisitCreateKeyResponse(to http.ResponseWriter) error         { return w.Write(to) }
func (w RawResponse) VisitUpdateKeyResponse(to http.ResponseWriter) error         { return w.Write(to) }
func (w RawResponse) VisitRotateKeyResponse(to http.ResponseWriter) error         { return w.Write(to) }
func (w RawResponse) VisitRevokeKeyResponse(to http.ResponseWriter) error         { return w.Write(to) }
func (w RawResponse) VisitCreateUserResponse(to http.ResponseWriter) error        { return w.Write(to) }
func (w RawResponse) VisitUpdateUserResponse(to http.ResponseWriter) error        { return w.Write(to) }
func (w RawResponse) VisitDisableUserResponse(to http.ResponseWriter) error       { return w.Write(to) }
func (w RawResponse) VisitInviteUserResponse(to http.ResponseWriter) error        { return w.Write(to) }
func (w RawResponse) VisitResetSecondFactorResponse(to http.ResponseWriter) error { return w.Write(to) }
func (w RawResponse) VisitEndSessionResponse(to http.ResponseWriter) error        { return w.Write(to) }
func (w RawResponse) VisitConfigureModuleResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitUpdateSettingsResponse(to http.ResponseWriter) error    { return w.Write(to) }
func (w RawResponse) VisitGetConfigurationResponse(to http.ResponseWriter) error  { return w.Write(to) }
func (w RawResponse) VisitApplyConfigurationResponse(to http.ResponseWriter) error {
	return w.Write(to)
}
func (w RawResponse) VisitListEntitiesResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitGetEntityResponse(to http.ResponseWriter) error      { return w.Write(to) }
func (w RawResponse) VisitCreateEntityResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitUpdateEntityResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitArchiveEntityResponse(to http.ResponseWriter) error  { return w.Write(to) }
func (w RawResponse) VisitChangeEntitiesResponse(to http.ResponseWriter) error { return w.Write(to) }
func (w RawResponse) VisitMergeCustomerResponse(to http.ResponseWriter) error  { return w.Write(to) }
func (w RawResponse) VisitClaimRewardForManyResponse(to http.ResponseWriter) error {
	return w.Write(to)
}
func (w RawResponse) VisitGetBulkClaimStatusResponse(to http.ResponseWriter) error {
	return w.Write(to)
}
func (w RawResponse) VisitListBulkClaimErrorsResponse(to http.ResponseWriter) error {
	return w.Write(to)
}
func (w RawResponse) VisitAddToCustomerListResponse(to http.ResponseWriter) error { return w.Write(to) }
func (w RawResponse) VisitRemoveFromCustomerListResponse(to http.ResponseWriter) error {
	return w.Write(to)
}
func (w RawResponse) VisitGetCustomerListStatusResponse(to http.ResponseWriter) error {
	return w.Write(to)
}
func (w RawResponse) VisitListCustomerListErrorsResponse(to http.ResponseWriter) error {
	return w.Write(to)
}
func (w RawResponse) VisitVerifyCustomerResponse(to http.ResponseWriter) error    { return w.Write(to) }
func (w RawResponse) VisitListCouponPoolsResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitGetCouponPoolResponse(to http.ResponseWriter) error     { return w.Write(to) }
func (w RawResponse) VisitCreateCouponPoolResponse(to http.ResponseWriter) error  { return w.Write(to) }
func (w RawResponse) VisitUpdateCouponPoolResponse(to http.ResponseWriter) error  { return w.Write(to) }
func (w RawResponse) VisitAddCodesResponse(to http.ResponseWriter) error          { return w.Write(to) }
func (w RawResponse) VisitGetPoolFillStatusResponse(to http.ResponseWriter) error { return w.Write(to) }
func (w RawResponse) VisitListPoolFillErrorsResponse(to http.ResponseWriter) error {
	return w.Write(to)
}
func (w RawResponse) VisitEnterContestResponse(to http.ResponseWriter) error      { return w.Write(to) }
func (w RawResponse) VisitClaimOfferResponse(to http.ResponseWriter) error        { return w.Write(to) }
func (w RawResponse) VisitAnswerQuestionResponse(to http.ResponseWriter) error    { return w.Write(to) }
func (w RawResponse) VisitAnswerQuizResponse(to http.ResponseWriter) error        { return w.Write(to) }
func (w RawResponse) VisitClaimRewardResponse(to http.ResponseWriter) error       { return w.Write(to) }
func (w RawResponse) VisitListActivitiesResponse(to http.ResponseWriter) error    { return w.Write(to) }
func (w RawResponse) VisitClaimRewardForResponse(to http.ResponseWriter) error    { return w.Write(to) }
func (w RawResponse) VisitRedeemRewardClaimResponse(to http.ResponseWriter) error { return w.Write(to) }
func (w RawResponse) VisitRevokeRewardResponse(to http.ResponseWriter) error      { return w.Write(to) }
func (w RawResponse) VisitStartBacktestResponse(to http.ResponseWriter) error     { return w.Write(to) }
func (w RawResponse) VisitGetBacktestResponse(to http.ResponseWriter) error       { return w.Write(to) }
func (w RawResponse) VisitRecordVisualSearchResponse(to http.ResponseWriter) error {
	return w.Write(to)
}
func (w RawResponse) VisitGiveLevelResponse(to http.ResponseWriter) error      { return w.Write(to) }
func (w RawResponse) VisitSpinPrizeWheelResponse(to http.ResponseWriter) error { return w.Write(to) }

func (w RawResponse) VisitCreateWebhookResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitUpdateWebhookResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitTestWebhookResponse(to http.ResponseWriter) error     { return w.Write(to) }
func (w RawResponse) VisitRotateWebhookResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitPauseWebhookResponse(to http.ResponseWriter) error    { return w.Write(to) }
func (w RawResponse) VisitRemoveWebhookResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitResumeWebhookResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitReplayWebhookResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitRetryDeliveriesResponse(to http.ResponseWriter) error { return w.Write(to) }
func (w RawResponse) VisitRetryDeliveryResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitGetDeliveryResponse(to http.ResponseWriter) error     { return w.Write(to) }

func (w RawResponse) VisitCreateImportResponse(to http.ResponseWriter) error    { return w.Write(to) }
func (w RawResponse) VisitAddImportFileResponse(to http.ResponseWriter) error   { return w.Write(to) }
func (w RawResponse) VisitCheckImportResponse(to http.ResponseWriter) error     { return w.Write(to) }
func (w RawResponse) VisitApplyImportResponse(to http.ResponseWriter) error     { return w.Write(to) }
func (w RawResponse) VisitReconcileImportResponse(to http.ResponseWriter) error { return w.Write(to) }

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
