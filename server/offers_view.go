package server

import (
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
)

var offerType = offer.Offers.Type

// offerMatch returns how many of its required items an offer wants; empty if it has none.
func offerMatch(o *offer.Offer) string {
	switch {
	case len(o.RequiredItems) == 0:
		return ""
	case o.RequiredMatch == "":
		return "all"
	}
	return o.RequiredMatch
}

// offerItems renders the products of an offer; nil if there are none.
func offerItems(items []offer.OfferItem) (list []common.OfferItem) {
	for _, i := range items {
		list = append(list, common.OfferItem{Type: common.OfferItemType(i.Type), ID: i.ID, MinQuantity: max(1, i.MinQuantity)})
	}
	return list
}

func offerDiscount(o *offer.Offer) common.OfferDiscount {
	return common.OfferDiscount{Type: common.OfferDiscountType(o.Discount.Type), Value: o.Discount.Value}
}

// amountOrNil leaves out an amount of zero.
func amountOrNil(a money.Amount) *money.Amount {
	if a == 0 {
		return nil
	}
	return &a
}
