package campaign

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// PurchasePreview is how many points a purchase would earn, and from which campaigns.
type PurchasePreview struct {
	Base      int64 // of the purchase itself
	Burned    int64
	Campaigns []CampaignBonus // that would give something, in the order in which they run
}

// CampaignBonus is what one campaign would add: 0 points if it only gives other things.
type CampaignBonus struct {
	ID, Name string
	Points   int64
}

// Previewer decides a purchase without recording it, under a programme in which no purchase waits
// for acceptance. The engine implements it.
type Previewer interface {
	PreviewAccepted(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, *programme.Programme, error)
}

// PreviewPurchase returns what a checkout would bring and records nothing. A purchase that would wait for its
// acceptance is decided as if it were accepted now, because campaigns run then. It fails as the checkout would.
func PreviewPurchase(ctx context.Context, e Previewer, s loyalty.Submission) (PurchasePreview, error) {
	o, p, err := e.PreviewAccepted(ctx, s)
	if err != nil {
		return PurchasePreview{}, err
	}
	return previewOf(p, o.Events), nil
}

// previewOf sums up the purchase among the events of a preview. It leaves out the other events, because due work that
// was applied first may have earned points of its own.
func previewOf(p *programme.Programme, events []loyalty.Event) (v PurchasePreview) {
	follows, points := map[loyalty.ID]bool{}, map[string]int64{}
	for i := range events {
		e := &events[i]
		if t := e.Accepted; t != nil && e.Action == "checkout" {
			follows[e.ID] = true
			v.Base, v.Burned = t.OriginalEarned-t.Detail.Bonus, t.OriginalBurned
		}

		if follows[e.Parent] {
			follows[e.ID] = true
		}
		if !follows[e.ID] || e.Effects == nil {
			continue
		}

		for _, x := range e.Effects.Campaigns {
			points[x.Campaign] += x.Points
		}
	}

	for _, c := range InOrder(p) {
		if n, gave := points[c.ID]; gave {
			v.Campaigns = append(v.Campaigns, CampaignBonus{c.ID, c.Name, n})
		}
	}

	return v
}

// Bonus is the total of points from all campaigns.
func (v PurchasePreview) Bonus() (n int64) {
	for _, c := range v.Campaigns {
		n += c.Points
	}
	return n
}
