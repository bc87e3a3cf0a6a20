package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
)

// ListOfferActivities lists the offers that are for the customer.
func (a *displayAPI) ListOfferActivities(ctx context.Context, in display.ListOfferActivitiesRequestObject) (display.ListOfferActivitiesResponseObject, error) {
	l, err := activityPage[display.OfferActivity](ctx, a.customers, activityList{
		customer: in.CustomerID, limit: in.Params.Limit, offset: in.Params.Offset, order: list.Ordered(in.Params.Sort, in.Params.Order),
		kind: offerType, needs: offer.OfferNeeds(a.programme()), all: offerActivities,
	})
	if err != nil {
		return nil, err
	}
	return display.ListOfferActivities200JSONResponse(answerOf(l)), nil
}

// offerActivities lists the offers for all customers and for the segments of this one.
func offerActivities(r *engine.Run, language *tongue) ([]activity, error) {
	mine := map[string]offer.OfferOutlook{}
	theirs := map[string]*offer.Offer{}
	for id, o := range offer.Offers.Of(r.Programme) {
		outlook, err := offer.OutlookOn(r, o)
		if err != nil {
			return nil, err
		}
		if outlook.For {
			mine[id], theirs[id] = outlook, o
		}
	}

	return activitiesOf(theirs, func(o *offer.Offer) (activity, error) {
		return offerEntry(r, language, o, mine[o.ID]), nil
	})
}

func offerEntry(r *engine.Run, language *tongue, o *offer.Offer, outlook offer.OfferOutlook) activity {
	status, name := o.Status(r.At), language.text(o.Name)
	e := display.OfferActivity{
		ID: o.ID, Name: name, Type: common.OfferType(o.Type), Weight: o.Weight, MinTotal: amountOrNil(o.MinTotal),
		RequiredItems: offerItems(o.RequiredItems), EligibleItems: offerItems(o.EligibleItems), Discount: offerDiscount(o), Stores: o.Stores,
		Status: common.DateStatus(status), StartsAt: instantOrNil(o.StartsAt.Time), EndsAt: instantOrNil(o.EndsAt.Time),
		Redeemed: outlook.Redeemed, Left: outlook.Left,
		AdditionalProperties: customAttributes(language, r.Programme, offerType, o.Custom),
	}

	if match := offerMatch(o); match != "" {
		e.RequiredMatch = new(display.OfferActivityRequiredMatch(match))
	}

	if outlook.ClaimedAt != nil {
		e.ClaimedAt = instantOrNil(*outlook.ClaimedAt)
	} else {
		e.UnderscoreActions.Claim = nextStep(r, outlook.Refusal, "activities", "offers", o.ID, "claim")
	}

	return activity{
		entry: e, id: o.ID, title: name, kind: o.Type, weight: o.Weight, stores: o.Stores, dates: o.Dates, status: status, custom: o.Custom,
	}
}
