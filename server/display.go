package server

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// displayAPI answers the Display API.
type displayAPI struct {
	admin     *admin.Admin
	reader    loyalty.Reader
	customers customerReader
	journal   journalReader
	coupons   couponReader
	submitter submitter
	programme func() *programme.Programme
	clock     func() time.Time
}

var _ display.StrictServerInterface = (*displayAPI)(nil)

// ClaimOffer records that a customer wants an offer.
func (a *displayAPI) ClaimOffer(ctx context.Context, in display.ClaimOfferRequestObject) (display.ClaimOfferResponseObject, error) {
	return a.submitter.submitFor(ctx, customerAction{
		customer: in.CustomerID, action: "offer_claim", data: map[string]any{"offer": in.OfferID},
		body: func(_ *tongue, o *loyalty.Outcome) any {
			c := o.Value.(offer.OfferClaim)
			return display.OfferClaimAnswer{Data: display.OfferClaim{ID: c.ID, Offer: c.Offer, ClaimedAt: common.Instant(c.ClaimedAt)}}
		},
	})
}

// AnswerQuestion sets a field of a customer's profile.
func (a *displayAPI) AnswerQuestion(ctx context.Context, in display.AnswerQuestionRequestObject) (display.AnswerQuestionResponseObject, error) {
	return a.submitter.submitFor(ctx, customerAction{
		customer: in.CustomerID, action: "profile_answer",
		data: map[string]any{"flow": in.FlowID, "question": in.QuestionID, "answer": in.Body.Answer},
		body: func(_ *tongue, o *loyalty.Outcome) any {
			r := o.Value.(game.QuestionResult)
			return display.QuestionAnswer{Data: display.QuestionResult{
				ID: r.ID, Flow: r.Flow, Question: r.Question, Completed: r.Completed, Points: r.Points,
				Next: textOrNil(r.Next), Spendable: o.Customer.Figures.Spendable(),
			}}
		},
	})
}

// RecordVisualSearch records a search with a picture.
func (a *displayAPI) RecordVisualSearch(ctx context.Context, in display.RecordVisualSearchRequestObject) (display.RecordVisualSearchResponseObject, error) {
	return a.submitter.submitFor(ctx, customerAction{
		customer: in.CustomerID, action: "visual_search", data: in.Body,
		body: func(_ *tongue, o *loyalty.Outcome) any {
			r := o.Value.(game.RecordedSearch)
			return display.VisualSearchAnswer{Data: display.RecordedSearch{ID: r.ID, Bounds: r.Bounds}}
		},
	})
}
