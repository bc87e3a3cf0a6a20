package store

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// campaignRow is a slot of a campaign's figures.
type campaignRow struct {
	Campaign                                                              string `gorm:"primaryKey"`
	Slot                                                                  int64  `gorm:"primaryKey;autoIncrement:false"`
	Runs, Customers, Points, TakenBack, Coupons, Labels, Tiers, Challenge int64
	FirstAt, LastAt                                                       Millis
}

func (campaignRow) TableName() string { return "campaign_figures" }

func figuresOf(r *campaignRow) loyalty.CampaignFigures {
	return loyalty.CampaignFigures{
		CampaignGifts: loyalty.CampaignGifts{
			Runs: r.Runs, Points: r.Points, TakenBack: r.TakenBack, Coupons: r.Coupons, Labels: r.Labels, Tiers: r.Tiers, Challenge: r.Challenge,
		},
		Customers: r.Customers, First: r.FirstAt.Time(), Last: r.LastAt.Time(),
	}
}

// CampaignFigures sums up what a campaign did, and says how much of its limit over
// all customers is used.
func (s claimStore) CampaignFigures(ctx context.Context, campaign string) (f loyalty.CampaignFigures, limited int64, err error) {
	campaign = cleanText(campaign)
	var slots []campaignRow
	var t *loyalty.Tally
	err = s.asks(ctx, modelled(s.read.Where("campaign = ?", campaign), &slots),
		tallyTable.only(tallyTable.where("key = ?", loyalty.TallyCampaign+campaign), &t))
	for i := range slots {
		f.Add(figuresOf(&slots[i]))
	}
	if t != nil {
		limited = t.Count
	}
	return f, limited, err
}
