package display

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
)

// offers are the offers for all customers and for the segments of the customer.
var offers = &catalogue[*offer.Offer, display.OfferActivity]{
	entities: offer.Offers, render: offerEntry, listNeeds: offer.OfferNeeds,
}

// ListOfferActivities lists the offers that are for the customer.
func (a *API) ListOfferActivities(
	ctx context.Context, in display.ListOfferActivitiesRequestObject,
) (display.ListOfferActivitiesResponseObject, error) {
	l, err := offers.page(ctx, a, listRequest{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order),
	})
	return display.ListOfferActivities200JSONResponse(api.AnswerOf(l)), err
}

func offerEntry(r *engine.Run, language *api.Localizer, o *offer.Offer) (api.Activity, error) {
	outlook, err := offer.OutlookOn(r, o)
	if err != nil || !outlook.For {
		return api.Activity{}, err
	}

	status, name := o.Status(r.At), language.Text(o.Name)
	e := display.OfferActivity{
		ID: o.ID, Name: name, Type: common.OfferType(o.Type), Weight: o.Weight, MinTotal: api.AmountOrNil(o.MinTotal),
		RequiredItems: api.OfferItems(o.RequiredItems), EligibleItems: api.OfferItems(o.EligibleItems),
		Discount: api.OfferDiscount(o), Stores: o.Stores,
		Status: common.DateStatus(status), StartsAt: api.InstantOrNil(o.StartsAt.Time),
		EndsAt:   api.InstantOrNil(o.EndsAt.Time),
		Redeemed: outlook.Redeemed, Left: outlook.Left,
		AdditionalProperties: api.CustomAttributes(language, r.Programme, api.OfferType, o.Custom),
	}

	if match := api.OfferMatch(o); match != "" {
		e.RequiredMatch = new(display.OfferActivityRequiredMatch(match))
	}

	if outlook.ClaimedAt != nil {
		e.ClaimedAt = api.InstantOrNil(*outlook.ClaimedAt)
	} else {
		e.UnderscoreActions.Claim = nextStep(r, outlook.Refusal, "activities", "offers", o.ID, "claim")
	}

	return api.Activity{
		Entry: e, ID: o.ID, Title: name, Kind: o.Type, Weight: o.Weight,
		Stores: o.Stores, Dates: o.Dates, Status: status, Custom: o.Custom,
	}, nil
}
