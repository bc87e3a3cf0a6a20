// Package display answers the Display API, from which front ends build what a customer has and may do.
package display

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// API answers the Display API.
type API struct {
	Admin     *admin.Admin
	Reader    loyalty.Reader
	Customers api.CustomerReader
	Journal   api.JournalReader
	Coupons   api.CouponReader
	Submitter api.Submitter
	Programme func() *programme.Programme
	Clock     func() time.Time
}

var _ display.StrictServerInterface = (*API)(nil)

// ClaimOffer records that a customer wants an offer.
func (a *API) ClaimOffer(
	ctx context.Context, in display.ClaimOfferRequestObject,
) (display.ClaimOfferResponseObject, error) {
	return a.Submitter.SubmitFor(ctx, api.CustomerAction{
		Customer: in.CustomerID, Action: "offer_claim", Data: map[string]any{"offer": in.OfferID},
		Body: func(_ *api.Localizer, o *loyalty.Outcome) any {
			c := o.Value.(offer.OfferClaim)
			return display.OfferClaimAnswer{Data: display.OfferClaim{ID: c.ID,
				Offer: c.Offer, ClaimedAt: common.Instant(c.ClaimedAt)}}
		},
	})
}

// AnswerQuestion sets a field of a customer's profile.
func (a *API) AnswerQuestion(
	ctx context.Context, in display.AnswerQuestionRequestObject,
) (display.AnswerQuestionResponseObject, error) {
	return a.Submitter.SubmitFor(ctx, api.CustomerAction{
		Customer: in.CustomerID, Action: "profile_answer",
		Data: map[string]any{"flow": in.FlowID, "question": in.QuestionID, "answer": in.Body.Answer},
		Body: func(_ *api.Localizer, o *loyalty.Outcome) any {
			r := o.Value.(game.QuestionResult)
			return display.QuestionAnswer{Data: display.QuestionResult{
				ID: r.ID, Flow: r.Flow, Question: r.Question, Completed: r.Completed, Points: r.Points,
				Next: api.TextOrNil(r.Next), Spendable: o.Customer.Figures.Spendable(),
			}}
		},
	})
}

// RecordVisualSearch records a search with a picture.
func (a *API) RecordVisualSearch(
	ctx context.Context, in display.RecordVisualSearchRequestObject,
) (display.RecordVisualSearchResponseObject, error) {
	return a.Submitter.SubmitFor(ctx, api.CustomerAction{
		Customer: in.CustomerID, Action: "visual_search", Data: in.Body,
		Body: func(_ *api.Localizer, o *loyalty.Outcome) any {
			r := o.Value.(game.RecordedSearch)
			return display.VisualSearchAnswer{Data: display.RecordedSearch{ID: r.ID, Bounds: r.Bounds}}
		},
	})
}
