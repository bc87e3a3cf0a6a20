// Package offers answers the Offers API: incentives before a purchase, and quotes for a cart.
package offers

import (
	"context"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/offers"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// API answers the Offers API.
type API struct {
	Reader    loyalty.Reader
	Customers api.CustomerReader
	Programme func() *programme.Programme
	Clock     func() time.Time
}

var _ offers.StrictServerInterface = (*API)(nil)

// ListOffers lists the offers of the programme.
func (a *API) ListOffers(
	ctx context.Context, in offers.ListOffersRequestObject,
) (offers.ListOffersResponseObject, error) {
	page, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	p, now, language := a.Programme(), a.Clock(), api.RequestOf(ctx).Language
	all, err := api.ActivitiesOf(offer.Offers.Of(p), func(o *offer.Offer) (api.Activity, error) {
		e := offerRecord(p, language, o, now)
		return api.Activity{
			Entry: e, ID: o.ID, Title: e.Name, Kind: o.Type, Weight: o.Weight,
			Stores: o.Stores, Dates: o.Dates, Status: o.Status(now), Custom: o.Custom,
		}, nil
	})
	if err != nil {
		return nil, err
	}

	l := api.ChosenActivities[offers.Offer](page, p, api.OfferType,
		all, list.Ordered(in.Params.Sort, in.Params.Order), now)
	return offers.ListOffers200JSONResponse(api.AnswerOf(l)), nil
}

// GetOffer reads one offer.
func (a *API) GetOffer(ctx context.Context, in offers.GetOfferRequestObject) (offers.GetOfferResponseObject, error) {
	p := a.Programme()
	o, err := api.Lookup(offer.Offers.Of(p), api.OfferType, in.OfferID)
	if err != nil {
		return nil, err
	}
	return offers.GetOffer200JSONResponse{Data: offerRecord(p, api.RequestOf(ctx).Language, o, a.Clock())}, nil
}

// offerRecord renders an offer of the programme.
func offerRecord(p *programme.Programme, language *api.Localizer, o *offer.Offer, now time.Time) offers.Offer {
	e := offers.Offer{
		ID: o.ID, Name: language.Text(o.Name), Type: common.OfferType(o.Type),
		Weight: o.Weight, MinTotal: api.AmountOrNil(o.MinTotal),
		RequiredItems: api.OfferItems(o.RequiredItems),
		EligibleItems: api.OfferItems(o.EligibleItems), Discount: api.OfferDiscount(o),
		Stores: o.Stores, Segments: o.Segments, MaxRedemptions: o.MaxRedemptions, MaxPerCustomer: o.PerCustomer,
		Status:   common.DateStatus(o.Status(now)),
		StartsAt: api.InstantOrNil(o.StartsAt.Time), EndsAt: api.InstantOrNil(o.EndsAt.Time),
		AdditionalProperties: api.CustomAttributes(language, p, api.OfferType, o.Custom),
	}
	if match := api.OfferMatch(o); match != "" {
		e.RequiredMatch = new(offers.OfferRequiredMatch(match))
	}
	return e
}

// QuoteOffers shows what the offers in force do for a cart.
func (a *API) QuoteOffers(
	ctx context.Context, in offers.QuoteOffersRequestObject,
) (offers.QuoteOffersResponseObject, error) {
	p, now, language := a.Programme(), a.Clock(), api.RequestOf(ctx).Language
	quotes, err := a.quotes(ctx, p, in.Body, now)
	if err != nil {
		return nil, err
	}
	out := offers.QuoteOffers200JSONResponse{Data: []offers.QuotedOffer{}}
	for _, q := range quotes {
		if q.Reason == "" || in.Body.EligibleOnly != nil && !*in.Body.EligibleOnly {
			out.Data = append(out.Data, quoted(offerRecord(p, language, q.Offer, now), q))
		}
	}
	return out, nil
}

func (a *API) quotes(
	ctx context.Context, p *programme.Programme, body *offers.OfferQuery, now time.Time,
) (quotes []offer.OfferQuote, err error) {
	cart := cartOf(body)
	if body.Customer == nil {
		used, err := a.Reader.Tallies(api.Plain(ctx), offer.OfferTallies(p))
		return offer.Quote(p, cart, now, used), err
	}
	err = a.Customers.View(ctx, *body.Customer, offer.OfferNeeds(p), func(r *engine.Run) (err error) {
		quotes, err = offer.QuoteFor(r, cart)
		return err
	})
	if errors.Is(err, loyalty.ErrCustomerNotFound) {
		err = loyalty.ErrCustomerNotFound.At("customer")
	}
	return quotes, err
}

// cartOf reads a cart; missing amounts are zero.
func cartOf(body *offers.OfferQuery) offer.Cart {
	sent := &body.Cart
	cart := offer.Cart{Total: sent.Total, Discount: amount(sent.Discount), Shipping: amount(sent.Shipping)}
	if body.Store != nil {
		cart.Store = *body.Store
	}
	if sent.Currency != nil {
		cart.Currency = *sent.Currency
	}

	for _, i := range sent.Items {
		item := offer.CartItem{
			ProductID: i.ProductID, Quantity: i.Quantity, Price: amount(i.Price),
			Discount: amount(i.Discount), Subtotal: i.Subtotal,
		}
		if i.ProductCategory != nil {
			item.Category = *i.ProductCategory
		}
		cart.Items = append(cart.Items, item)
	}

	return cart
}

func amount(a *money.Amount) money.Amount {
	if a == nil {
		return 0
	}
	return *a
}

// quoted adds to an offer its effect on a cart.
func quoted(o offers.Offer, q offer.OfferQuote) offers.QuotedOffer {
	out := offers.QuotedOffer{
		ID: o.ID, Name: o.Name, Type: o.Type, Weight: o.Weight, MinTotal: o.MinTotal,
		RequiredItems: o.RequiredItems, EligibleItems: o.EligibleItems,
		Discount: o.Discount, Stores: o.Stores, Segments: o.Segments,
		MaxRedemptions: o.MaxRedemptions, MaxPerCustomer: o.MaxPerCustomer, Status: o.Status,
		StartsAt: o.StartsAt, EndsAt: o.EndsAt, AdditionalProperties: o.AdditionalProperties,
		IsEligible: q.Reason == "", Amount: q.Amount,
	}

	if o.RequiredMatch != nil {
		out.RequiredMatch = new(offers.QuotedOfferRequiredMatch(*o.RequiredMatch))
	}
	if q.Reason != "" {
		out.Reason = new(offers.QuotedOfferReason(q.Reason))
	}

	return out
}
