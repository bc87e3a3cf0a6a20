package server

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

// rawResponse is an answer with a finished body. Operations that may be repeated use it, so that the first answer and
// every repetition are the same bytes. It replaces the generated answers.
type rawResponse struct {
	status   int
	body     []byte
	replayed bool // the body is the stored one of an earlier request
}

// replay is the stored answer of an earlier request, in its languages.
func replay(in *tongue, a *loyalty.Answer) rawResponse {
	in.forget()
	in.repeat(a)
	return rawResponse{a.Status, a.Body, true}
}

// withCustomer puts the customer before the rest of an answer. Both are stored separately, so that the first answer and
// every repetition can decide whether to show the customer.
func withCustomer(block, body []byte) []byte {
	if len(block) == 0 {
		return body
	}
	own := append(make([]byte, 0, len(block)+len(body)+13), `{"customer":`...)
	return joinObjects(append(append(own, block...), '}'), body)
}

// joinObjects joins two JSON objects, the properties of the first before those of the second; no name may be in both.
// It may change first.
func joinObjects(first, second []byte) []byte {
	second = bytes.TrimSpace(second)
	if len(second) <= len("{}") {
		return first
	}
	first[len(first)-1] = ','
	return append(first, second[1:]...)
}

// withoutCustomer removes the customer from an answer that was stored as a whole.
func withoutCustomer(body []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil || all["customer"] == nil {
		return body
	}
	delete(all, "customer")
	return marshal(all)
}

func (w rawResponse) write(to http.ResponseWriter) error {
	if w.replayed {
		to.Header().Set("Idempotency-Replayed", "true")
	}
	writeJSON(to, w.status, w.body)
	return nil
}

// The answers of operations that may be repeated, or whose content is written as it is stored.

func (w rawResponse) VisitSubmitEventResponse(to http.ResponseWriter) error       { return w.write(to) }
func (w rawResponse) VisitSubmitEventsResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w rawResponse) VisitPreviewEventResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w rawResponse) VisitFollowEventsResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w rawResponse) VisitCreateKeyResponse(to http.ResponseWriter) error         { return w.write(to) }
func (w rawResponse) VisitUpdateKeyResponse(to http.ResponseWriter) error         { return w.write(to) }
func (w rawResponse) VisitRotateKeyResponse(to http.ResponseWriter) error         { return w.write(to) }
func (w rawResponse) VisitRevokeKeyResponse(to http.ResponseWriter) error         { return w.write(to) }
func (w rawResponse) VisitCreateUserResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w rawResponse) VisitUpdateUserResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w rawResponse) VisitDisableUserResponse(to http.ResponseWriter) error       { return w.write(to) }
func (w rawResponse) VisitInviteUserResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w rawResponse) VisitResetSecondFactorResponse(to http.ResponseWriter) error { return w.write(to) }
func (w rawResponse) VisitEndSessionResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w rawResponse) VisitConfigureModuleResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitUpdateSettingsResponse(to http.ResponseWriter) error    { return w.write(to) }
func (w rawResponse) VisitGetConfigurationResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w rawResponse) VisitApplyConfigurationResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w rawResponse) VisitListEntitiesResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitGetEntityResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w rawResponse) VisitCreateEntityResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitUpdateEntityResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitArchiveEntityResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w rawResponse) VisitChangeEntitiesResponse(to http.ResponseWriter) error { return w.write(to) }
func (w rawResponse) VisitMergeCustomerResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w rawResponse) VisitClaimRewardForManyResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w rawResponse) VisitGetBulkClaimStatusResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w rawResponse) VisitListBulkClaimErrorsResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w rawResponse) VisitAddToCustomerListResponse(to http.ResponseWriter) error { return w.write(to) }
func (w rawResponse) VisitRemoveFromCustomerListResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w rawResponse) VisitGetCustomerListStatusResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w rawResponse) VisitListCustomerListErrorsResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w rawResponse) VisitVerifyCustomerResponse(to http.ResponseWriter) error    { return w.write(to) }
func (w rawResponse) VisitListCouponPoolsResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitGetCouponPoolResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w rawResponse) VisitCreateCouponPoolResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w rawResponse) VisitUpdateCouponPoolResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w rawResponse) VisitAddCodesResponse(to http.ResponseWriter) error          { return w.write(to) }
func (w rawResponse) VisitGetPoolFillStatusResponse(to http.ResponseWriter) error { return w.write(to) }
func (w rawResponse) VisitListPoolFillErrorsResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w rawResponse) VisitEnterContestResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w rawResponse) VisitClaimOfferResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w rawResponse) VisitAnswerQuestionResponse(to http.ResponseWriter) error    { return w.write(to) }
func (w rawResponse) VisitAnswerQuizResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w rawResponse) VisitClaimRewardResponse(to http.ResponseWriter) error       { return w.write(to) }
func (w rawResponse) VisitListActivitiesResponse(to http.ResponseWriter) error    { return w.write(to) }
func (w rawResponse) VisitClaimRewardForResponse(to http.ResponseWriter) error    { return w.write(to) }
func (w rawResponse) VisitRedeemRewardClaimResponse(to http.ResponseWriter) error { return w.write(to) }
func (w rawResponse) VisitRevokeRewardResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w rawResponse) VisitStartBacktestResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w rawResponse) VisitGetBacktestResponse(to http.ResponseWriter) error       { return w.write(to) }
func (w rawResponse) VisitRecordVisualSearchResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w rawResponse) VisitGiveLevelResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w rawResponse) VisitSpinPrizeWheelResponse(to http.ResponseWriter) error { return w.write(to) }

func (w rawResponse) VisitCreateWebhookResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitUpdateWebhookResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitTestWebhookResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w rawResponse) VisitRotateWebhookResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitPauseWebhookResponse(to http.ResponseWriter) error    { return w.write(to) }
func (w rawResponse) VisitRemoveWebhookResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitResumeWebhookResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitReplayWebhookResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitRetryDeliveriesResponse(to http.ResponseWriter) error { return w.write(to) }
func (w rawResponse) VisitRetryDeliveryResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitGetDeliveryResponse(to http.ResponseWriter) error     { return w.write(to) }

func (w rawResponse) VisitCreateImportResponse(to http.ResponseWriter) error    { return w.write(to) }
func (w rawResponse) VisitAddImportFileResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w rawResponse) VisitCheckImportResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w rawResponse) VisitApplyImportResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w rawResponse) VisitReconcileImportResponse(to http.ResponseWriter) error { return w.write(to) }

// plain returns the request's own context: gin reuses its contexts, and the engine's work may
// outlive the handler.
func plain(ctx context.Context) context.Context {
	if c, ok := ctx.(*gin.Context); ok {
		return c.Request.Context()
	}
	return ctx
}

// httpRequest is the request behind a handler's context.
func httpRequest(ctx context.Context) *http.Request {
	if c, ok := ctx.(*gin.Context); ok {
		return c.Request
	}
	return &http.Request{}
}

// instantOrNil leaves a time out that is not set.
func instantOrNil(t time.Time) *common.Instant {
	if t.IsZero() {
		return nil
	}
	i := common.Instant(t)
	return &i
}

// textOrNil leaves an empty text out.
func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// htmlEscapes are encoding/json's escapes of characters that need none.
var htmlEscapes = map[string]byte{"0026": '&', "003c": '<', "003e": '>'}

// withoutHTML resolves the escapes of JSON that only HTML needs. A backslash that is itself escaped begins none.
func withoutHTML(text []byte) []byte {
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
	ndjsonType = "application/x-ndjson"
	sseType    = "text/event-stream"
)

// writeTimeout bounds the time for an answer, so that a slow caller cannot hold a connection forever. A bulk may need most
// of it for its work.
const writeTimeout = 120 * time.Second

// waitTime bounds how long a request waits, so that a database that does not answer cannot hold callers.
const waitTime = 10 * time.Second
