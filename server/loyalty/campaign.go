package loyalty

import (
	"time"
)

// CampaignGifts is what a campaign gave, or what became of it.
type CampaignGifts struct {
	Runs      int64 `json:"runs,omitempty"` // times it gave something
	Points    int64 `json:"points,omitempty"`
	TakenBack int64 `json:"taken_back,omitempty"` // of Points: by refunds of the purchases they belong to
	Coupons   int64 `json:"coupons,omitempty"`
	Labels    int64 `json:"labels,omitempty"`
	Tiers     int64 `json:"tiers,omitempty"`     // times it put a customer into a tier
	Challenge int64 `json:"challenge,omitempty"` // by how much it moved challenges
}

func (g *CampaignGifts) add(o CampaignGifts) {
	g.Runs, g.Points, g.TakenBack = g.Runs+o.Runs, g.Points+o.Points, g.TakenBack+o.TakenBack
	g.Coupons, g.Labels, g.Tiers, g.Challenge = g.Coupons+o.Coupons, g.Labels+o.Labels, g.Tiers+o.Tiers, g.Challenge+o.Challenge
}

// CampaignEffect is what a campaign did in the name of an event: what it gave
// because of it, or what a refund took back.
type CampaignEffect struct {
	Campaign string `json:"campaign"`
	CampaignGifts
}

// CampaignFigures is what a campaign did in all. Two customers to whom it gave
// something are one once they were merged.
type CampaignFigures struct {
	CampaignGifts
	Customers   int64
	First, Last time.Time // the effective instants of the events for which it gave; zero: none
}

// Add adds what a campaign did elsewhere.
func (f *CampaignFigures) Add(o CampaignFigures) {
	f.add(o.CampaignGifts)
	f.Customers += o.Customers
	f.First = Earlier(f.First, o.First)
	if o.Last.After(f.Last) {
		f.Last = o.Last
	}
}

// FiguresOf is what an event tells of a campaign, its customer left out.
func FiguresOf(e *Event, x CampaignEffect) CampaignFigures {
	f := CampaignFigures{CampaignGifts: x.CampaignGifts}
	if x.Runs > 0 {
		f.First, f.Last = e.At, e.At
	}
	return f
}

// CampaignGift is what a batch has to add to the figures of a campaign for one
// customer. The store finds out whether the customer is new to the campaign: a
// counter of a campaign is added to, never read, so that giving costs no question
// and no writer waits for another's count.
type CampaignGift struct {
	Customer ID
	Campaign string
	CampaignFigures
}

// CampaignMerge says that one customer became part of another: the campaigns that
// gave to both have one customer less.
type CampaignMerge struct{ Source, Target ID }

// PurchaseGift is what a campaign gave for a purchase.
type PurchaseGift struct {
	Campaign string `json:"campaign"`
	Line     ID     `json:"line,omitzero"` // the line that it was for, by its event; zero: the whole purchase
	Points   int64  `json:"points"`
	Left     int64  `json:"left"` // what refunds left of them
}
