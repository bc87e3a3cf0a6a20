package engine

import (
	"cmp"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// giftKey names the figures of a campaign for a customer.
type giftKey struct {
	customer loyalty.ID
	campaign string
}

// noteGifts adds what an event tells of campaigns to the batch.
func (b *batch) noteGifts(e *loyalty.Event) {
	if e.Effects == nil {
		return
	}
	for _, x := range e.Effects.Campaigns {
		if b.gifts == nil {
			b.gifts = map[giftKey]*loyalty.CampaignFigures{}
		}
		key := giftKey{e.Customer, x.Campaign}
		if b.gifts[key] == nil {
			b.gifts[key] = &loyalty.CampaignFigures{}
		}
		b.gifts[key].Add(loyalty.FiguresOf(e, x))
	}
}

// writeGifts adds what campaigns did to the batch's writes.
func (b *batch) writeGifts() {
	for key, figures := range b.gifts {
		b.writes.CampaignGifts = append(b.writes.CampaignGifts, loyalty.CampaignGift{Customer: key.customer, Campaign: key.campaign, CampaignFigures: *figures})
	}
	slices.SortFunc(b.writes.CampaignGifts, func(x, y loyalty.CampaignGift) int {
		return cmp.Or(cmp.Compare(x.Campaign, y.Campaign), loyalty.CompareID(x.Customer, y.Customer))
	})
}
