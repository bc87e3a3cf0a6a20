package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// written is an answer that is ready as it goes out. Operations that may be
// repeated answer with it, so that the first answer and every repetition are the
// same bytes. It takes the place of the generated answers.
type written struct {
	status   int
	body     []byte
	replayed bool // it is a stored one
}

// replay is the stored answer of an earlier request.
func replay(a *loyalty.Answer) written { return written{a.Status, a.Body, true} }

// withCustomer puts the customer in front of what an answer says besides. The two are
// kept apart, so that the first answer and every repetition decide for themselves
// whether the customer may be shown.
func withCustomer(block, body []byte) []byte {
	if len(block) == 0 {
		return body
	}
	out := append(make([]byte, 0, len(block)+len(body)+12), `{"customer":`...)
	return append(append(append(out, block...), ','), body[1:]...)
}

// withoutCustomer takes the customer out of an answer that was kept whole, as all
// were before the customer was kept apart.
func withoutCustomer(body []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil || all["customer"] == nil {
		return body
	}
	delete(all, "customer")
	return marshal(all)
}

func (w written) write(to http.ResponseWriter) error {
	if w.replayed {
		to.Header().Set("Idempotency-Replayed", "true")
	}
	writeJSON(to, w.status, w.body)
	return nil
}

// The answers of the operations that may be repeated, or whose content is written as it is stored.

func (w written) VisitSubmitEventResponse(to http.ResponseWriter) error         { return w.write(to) }
func (w written) VisitSubmitEventsResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w written) VisitPreviewEventResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w written) VisitCreateKeyResponse(to http.ResponseWriter) error           { return w.write(to) }
func (w written) VisitUpdateKeyResponse(to http.ResponseWriter) error           { return w.write(to) }
func (w written) VisitRotateKeyResponse(to http.ResponseWriter) error           { return w.write(to) }
func (w written) VisitRevokeKeyResponse(to http.ResponseWriter) error           { return w.write(to) }
func (w written) VisitConfigureModuleResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w written) VisitUpdateSettingsResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w written) VisitGetConfigurationResponse(to http.ResponseWriter) error    { return w.write(to) }
func (w written) VisitApplyConfigurationResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w written) VisitListEntitiesResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w written) VisitGetEntityResponse(to http.ResponseWriter) error           { return w.write(to) }
func (w written) VisitCreateEntityResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w written) VisitUpdateEntityResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w written) VisitArchiveEntityResponse(to http.ResponseWriter) error       { return w.write(to) }
func (w written) VisitChangeEntitiesResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w written) VisitMergeCustomerResponse(to http.ResponseWriter) error       { return w.write(to) }
func (w written) VisitClaimRewardForManyResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w written) VisitGetBulkClaimStatusResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w written) VisitListBulkClaimErrorsResponse(to http.ResponseWriter) error { return w.write(to) }
func (w written) VisitAddToCustomerListResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w written) VisitRemoveFromCustomerListResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w written) VisitGetCustomerListStatusResponse(to http.ResponseWriter) error { return w.write(to) }
func (w written) VisitListCustomerListErrorsResponse(to http.ResponseWriter) error {
	return w.write(to)
}
func (w written) VisitVerifyCustomerResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w written) VisitListCouponPoolsResponse(to http.ResponseWriter) error    { return w.write(to) }
func (w written) VisitGetCouponPoolResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w written) VisitCreateCouponPoolResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w written) VisitUpdateCouponPoolResponse(to http.ResponseWriter) error   { return w.write(to) }
func (w written) VisitAddCodesResponse(to http.ResponseWriter) error           { return w.write(to) }
func (w written) VisitGetPoolFillStatusResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w written) VisitListPoolFillErrorsResponse(to http.ResponseWriter) error { return w.write(to) }
func (w written) VisitEnterContestResponse(to http.ResponseWriter) error       { return w.write(to) }
func (w written) VisitClaimOfferResponse(to http.ResponseWriter) error         { return w.write(to) }
func (w written) VisitAnswerQuestionResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w written) VisitAnswerQuizResponse(to http.ResponseWriter) error         { return w.write(to) }
func (w written) VisitClaimRewardResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w written) VisitListActivitiesResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w written) VisitClaimRewardForResponse(to http.ResponseWriter) error     { return w.write(to) }
func (w written) VisitRedeemRewardClaimResponse(to http.ResponseWriter) error  { return w.write(to) }
func (w written) VisitRevokeRewardResponse(to http.ResponseWriter) error       { return w.write(to) }
func (w written) VisitStartBacktestResponse(to http.ResponseWriter) error      { return w.write(to) }
func (w written) VisitGetBacktestResponse(to http.ResponseWriter) error        { return w.write(to) }
func (w written) VisitRecordVisualSearchResponse(to http.ResponseWriter) error { return w.write(to) }
func (w written) VisitGiveLevelResponse(to http.ResponseWriter) error          { return w.write(to) }
func (w written) VisitSpinPrizeWheelResponse(to http.ResponseWriter) error     { return w.write(to) }

// plain gives the request's own context: gin uses its contexts again, and what
// the engine does may outlive the handler.
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
