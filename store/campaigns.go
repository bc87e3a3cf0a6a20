package store

import (
	"context"
	"strings"

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

// CampaignTotals sums up what each of some campaigns did, in one round trip. The database adds up the slots, because
// a page of campaigns has thousands of them.
func (s claimStore) CampaignTotals(ctx context.Context, campaigns []string) (map[string]loyalty.CampaignTotals, error) {
	all := make(map[string]loyalty.CampaignTotals, len(campaigns))
	if len(campaigns) == 0 {
		return all, nil
	}

	keys := make([]string, len(campaigns))
	for i, c := range campaigns {
		keys[i] = loyalty.TallyCampaign + c
	}

	var row campaignRow
	return all, s.asks(ctx,
		sqlFragment{"SELECT campaign, " + campaignSums + " FROM campaign_figures WHERE campaign IN ? GROUP BY campaign", []any{campaigns}}.reads(func() bool {
			t := all[row.Campaign]
			t.CampaignFigures = figuresOf(&row)
			all[row.Campaign] = t
			return false
		}, &row.Campaign, &row.Runs, &row.Customers, &row.Points, &row.TakenBack, &row.Coupons, &row.Labels, &row.Tiers, &row.Challenge, &row.FirstAt, &row.LastAt),
		tallyTable.rows(tallyTable.where("key IN ?", keys), func(t *loyalty.Tally) bool {
			id := strings.TrimPrefix(t.Key, loyalty.TallyCampaign)
			c := all[id]
			c.Limited = t.Count
			all[id] = c
			return false
		}))
}

// campaignSums are the figures of a campaign over its slots.
var campaignSums = strings.Join([]string{
	sumOf("runs"), sumOf("customers"), sumOf("points"), sumOf("taken_back"), sumOf("coupons"), sumOf("labels"), sumOf("tiers"), sumOf("challenge"),
	"MIN(first_at)", "MAX(last_at)",
}, ", ")
