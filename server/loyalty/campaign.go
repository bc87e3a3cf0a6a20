package loyalty

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
)

// CampaignGifts is what a campaign gave, or what was taken back of it.
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
	g.Coupons, g.Labels, g.Tiers, g.Challenge = g.Coupons+o.Coupons, g.Labels+o.Labels,
		g.Tiers+o.Tiers, g.Challenge+o.Challenge
}

// CampaignEffect is what a campaign did on an event: what it gave because of it, or what a refund took back.
type CampaignEffect struct {
	Campaign string `json:"campaign"`
	CampaignGifts
}

// CampaignFigures is what a campaign did in all. Two customers count as one once they were merged.
type CampaignFigures struct {
	CampaignGifts
	Customers   int64
	First, Last time.Time // the effective instants of the events for which it gave; zero: none
}

// Add adds other figures of the campaign.
func (f *CampaignFigures) Add(o CampaignFigures) {
	f.add(o.CampaignGifts)
	f.Customers += o.Customers
	f.First = Earlier(f.First, o.First)
	if o.Last.After(f.Last) {
		f.Last = o.Last
	}
}

// CampaignTotals is what a campaign did in all, and how much of its limit over all customers is used.
type CampaignTotals struct {
	CampaignFigures
	Limited int64
}

// FiguresOf returns the figures of a campaign from one event, without its customer.
func FiguresOf(e *Event, x CampaignEffect) CampaignFigures {
	f := CampaignFigures{CampaignGifts: x.CampaignGifts}
	if x.Runs > 0 {
		f.First, f.Last = e.At, e.At
	}
	return f
}

// CampaignGift is what a batch adds to the figures of a campaign for one customer. The store finds out whether the
// customer is new to the campaign. The counters of a campaign are added to and never read, so that giving needs no
// query and no writer waits for another one's count.
type CampaignGift struct {
	Customer ID
	Campaign string
	CampaignFigures
}

// CampaignMerge is a merge of one customer into another: the campaigns that gave to both have one customer less.
type CampaignMerge struct{ Source, Target ID }

// PurchaseGift is what a campaign gave for a purchase.
type PurchaseGift struct {
	Campaign string `json:"campaign"`
	Line     ID     `json:"line,omitzero"` // the line that it was for, by its event; zero: the whole purchase
	Points   int64  `json:"points"`
	Left     int64  `json:"left"` // the rest after refunds
}

// CampaignRun is what one run of a campaign gave because of a purchase or a completion, besides the points that are
// counted with its cause: what is taken back once the cause is undone. A run that gave nothing of this kind, and that
// no limit counts, is not recorded.
type CampaignRun struct {
	Campaign string        `json:"campaign"`
	Customer ID            `json:"customer,omitzero"` // the receiver, if the purchase is another customer's
	Line     ID            `json:"line,omitzero"`     // the line that it was for, by its event; zero: the whole purchase
	Lots     []CampaignLot `json:"lots,omitempty"`    // points that are not the purchase's own
	Coupons  []GivenCoupon `json:"coupons,omitempty"`
	// PerCustomer and Total say that these limits of the campaign count the run. It no longer counts once everything
	// that it gave was taken back.
	PerCustomer bool `json:"per_customer,omitempty"`
	Total       bool `json:"total,omitempty"`
	Stays       bool `json:"stays,omitempty"` // it gave something that is never taken back
}

// CampaignLot is points of a campaign, by the event that opened their lot.
type CampaignLot struct {
	Event  ID    `json:"event"`
	Points int64 `json:"points"`
}

// GivenCoupon is a coupon by its code and the event that gave it: the same code can be given again.
type GivenCoupon struct {
	Code  string `json:"code"`
	Event ID     `json:"event"`
}

// ReferralPart is what one side of a referral got for a purchase.
type ReferralPart struct {
	Customer ID    `json:"customer"`
	Event    ID    `json:"event"` // its lot
	Points   int64 `json:"points"`
}

// Counting is what a purchase, or a completion by its event, counted towards one completion of a challenge, and what is
// removed when the purchase is refunded.
type Counting struct {
	Challenge string       `json:"challenge"`
	For       ID           `json:"for"`           // the progress that it went into (ChallengeState.Parts, Completion.For)
	Moves     []int64      `json:"moves"`         // by criterion, each in its scale
	Day       calendar.Day `json:"day,omitempty"` // set if a completion must fit into a number of days
	// Whole is the completion that it made, if nothing but this purchase or completion can break it; other completions
	// are with the challenge (ChallengeState.Kept).
	Whole *Completion `json:"whole,omitempty"`
}

// Completion is one completion of a challenge that a refund may still break: what was counted towards it, by the rule
// of that time. It is never changed in place.
type Completion struct {
	For      []ID                     `json:"for"`
	Of       string                   `json:"of"`               // the criteria that were counted, as text
	Event    ID                       `json:"event"`            // its event, which opened its lot
	Points   int64                    `json:"points,omitempty"` // points that it gave
	Criteria []int64                  `json:"criteria"`         // everything that was counted, each in its scale
	Needs    []int64                  `json:"needs"`            // the counts that it needs to hold
	Window   int                      `json:"window,omitempty"` // the days into which it must fit; 0: no bound
	Days     []map[calendar.Day]int64 `json:"days,omitempty"`   // Criteria by day, if there is a window
	Started  time.Time                `json:"started,omitzero"`
	At       time.Time                `json:"at"`
	// when the one before it was completed; zero: it was the first
	Before time.Time `json:"before,omitzero"`
	// Counts is what its event counted towards other challenges, Gave what campaigns gave because of it.
	Counts []Counting       `json:"counts,omitempty"`
	Gave   []CompletionGift `json:"gave,omitempty"`
	Runs   []CampaignRun    `json:"runs,omitempty"` // of campaigns that it triggered
}

// CompletionGift is points of a campaign, by the event that opened their lot.
type CompletionGift struct {
	Campaign string `json:"campaign"`
	Event    ID     `json:"event"`
	Points   int64  `json:"points"`
}
