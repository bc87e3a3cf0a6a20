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

// ListOfferActivities lists the offers that are for the customer.
func (a *API) ListOfferActivities(ctx context.Context, in display.ListOfferActivitiesRequestObject) (display.ListOfferActivitiesResponseObject, error) {
	l, err := api.ActivityPage[display.OfferActivity](ctx, a.Customers, api.ActivityList{
		Customer: in.CustomerID, Limit: in.Params.Limit, Offset: in.Params.Offset, Order: list.Ordered(in.Params.Sort, in.Params.Order),
		Kind: api.OfferType, Needs: offer.OfferNeeds(a.Programme()), All: offerActivities,
	})
	if err != nil {
		return nil, err
	}
	return display.ListOfferActivities200JSONResponse(api.AnswerOf(l)), nil
}

// offerActivities lists the offers for all customers and for the segments of this one.
func offerActivities(r *engine.Run, language *api.Localizer) ([]api.Activity, error) {
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

	return api.ActivitiesOf(theirs, func(o *offer.Offer) (api.Activity, error) {
		return offerEntry(r, language, o, mine[o.ID]), nil
	})
}

func offerEntry(r *engine.Run, language *api.Localizer, o *offer.Offer, outlook offer.OfferOutlook) api.Activity {
	status, name := o.Status(r.At), language.Text(o.Name)
	e := display.OfferActivity{
		ID: o.ID, Name: name, Type: common.OfferType(o.Type), Weight: o.Weight, MinTotal: api.AmountOrNil(o.MinTotal),
		RequiredItems: api.OfferItems(o.RequiredItems), EligibleItems: api.OfferItems(o.EligibleItems), Discount: api.OfferDiscount(o), Stores: o.Stores,
		Status: common.DateStatus(status), StartsAt: api.InstantOrNil(o.StartsAt.Time), EndsAt: api.InstantOrNil(o.EndsAt.Time),
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
		Entry: e, ID: o.ID, Title: name, Kind: o.Type, Weight: o.Weight, Stores: o.Stores, Dates: o.Dates, Status: status, Custom: o.Custom,
	}
}
