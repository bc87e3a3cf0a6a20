package api

import (
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
)

var OfferType = offer.Offers.Type

// OfferMatch returns how many of its required items an offer wants; empty if it has none.
func OfferMatch(o *offer.Offer) string {
	switch {
	case len(o.RequiredItems) == 0:
		return ""
	case o.RequiredMatch == "":
		return "all"
	}
	return o.RequiredMatch
}

// OfferItems renders the products of an offer; nil if there are none.
func OfferItems(items []offer.OfferItem) (list []common.OfferItem) {
	for _, i := range items {
		list = append(list,
			common.OfferItem{Type: common.OfferItemType(i.Type), ID: i.ID, MinQuantity: max(1, i.MinQuantity)})
	}
	return list
}

// OfferDiscount is the discount of an offer as the documents have it.
func OfferDiscount(o *offer.Offer) common.OfferDiscount {
	return common.OfferDiscount{Type: common.OfferDiscountType(o.Discount.Type), Value: o.Discount.Value}
}

// AmountOrNil leaves out an amount of zero.
func AmountOrNil(a money.Amount) *money.Amount {
	if a == 0 {
		return nil
	}
	return &a
}
