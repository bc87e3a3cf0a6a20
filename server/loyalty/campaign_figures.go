package loyalty

import (
	"cmp"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
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
	f.First = earlier(f.First, o.First)
	if o.Last.After(f.Last) {
		f.Last = o.Last
	}
}

// figuresOf is what an event tells of a campaign, its customer left out.
func figuresOf(e *Event, x CampaignEffect) CampaignFigures {
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

// giftKey names the figures of a campaign for a customer.
type giftKey struct {
	customer ID
	campaign string
}

// noteGifts adds what an event tells of campaigns to the batch.
func (b *batch) noteGifts(e *Event) {
	if e.Effects == nil {
		return
	}
	for _, x := range e.Effects.Campaigns {
		if b.gifts == nil {
			b.gifts = map[giftKey]*CampaignFigures{}
		}
		key := giftKey{e.Customer, x.Campaign}
		if b.gifts[key] == nil {
			b.gifts[key] = &CampaignFigures{}
		}
		b.gifts[key].Add(figuresOf(e, x))
	}
}

// writeGifts adds what campaigns did to the batch's writes.
func (b *batch) writeGifts() {
	for key, figures := range b.gifts {
		b.writes.CampaignGifts = append(b.writes.CampaignGifts, CampaignGift{key.customer, key.campaign, *figures})
	}
	slices.SortFunc(b.writes.CampaignGifts, func(x, y CampaignGift) int {
		return cmp.Or(cmp.Compare(x.Campaign, y.Campaign), CompareID(x.Customer, y.Customer))
	})
}

// PurchaseGift is what a campaign gave for a purchase.
type PurchaseGift struct {
	Campaign string `json:"campaign"`
	Line     ID     `json:"line,omitzero"` // the line that it was for, by its event; zero: the whole purchase
	Points   int64  `json:"points"`
	Left     int64  `json:"left"` // what refunds left of them
}

// gave notes the points of a campaign with the purchase.
func (t *Transaction) gave(campaign string, line *Line, n int64) {
	g := PurchaseGift{Campaign: campaign, Points: n, Left: n}
	if line != nil {
		g.Line = line.Event
	}
	t.Detail.Gifts = append(t.Detail.Gifts, g)
}

// takeGifts tells on a refund's event what of the n points that it takes are those
// of campaigns: of a returned line, by what each campaign gave for that line; else
// by what is left of the gifts and of the other points. Whole points are told once
// they are complete, so that returns one by one add up to what was given. t.Earned
// is what was left before. line is that of a return, after it was noted.
func (t *Transaction) takeGifts(e *Event, line *Line, n int64) {
	if len(t.Detail.Gifts) == 0 || n == 0 {
		return
	}
	gifts := slices.Clone(t.Detail.Gifts)
	took := make([]int64, len(gifts))
	switch {
	case n >= t.Earned:
		for i := range gifts {
			took[i] = gifts[i].Left
		}
	case line != nil:
		t.takeFromLine(gifts, took, line, n)
	default:
		for i := range gifts {
			took[i] = money.Floor.Share(gifts[i].Left, money.Amount(n), money.Amount(t.Earned))
		}
	}
	for i := range gifts {
		if took[i] > 0 {
			gifts[i].Left -= took[i]
			e.effects().Campaigns = append(e.effects().Campaigns, CampaignEffect{gifts[i].Campaign, CampaignGifts{TakenBack: took[i]}})
		}
	}
	t.Detail.Gifts = gifts
}

// takeFromLine shares the points of a returned line: each campaign's part of the
// line grows with all that was taken back for it.
func (t *Transaction) takeFromLine(gifts []PurchaseGift, took []int64, line *Line, n int64) {
	for i, g := range gifts {
		own := t.ofLine(g, line)
		after := money.Floor.Share(own, money.Amount(line.TakenBack), money.Amount(line.Points))
		before := money.Floor.Share(own, money.Amount(max(0, line.TakenBack-n)), money.Amount(line.Points))
		took[i] = min(max(0, after-before), g.Left)
	}
}

// ofLine is a line's part of a gift, as addBonus shared it.
func (t *Transaction) ofLine(g PurchaseGift, line *Line) int64 {
	switch g.Line {
	case line.Event:
		return g.Points
	case ID{}:
	default:
		return 0
	}
	shares, err := t.shares(g.Points)
	if err != nil {
		return 0 // it was shared once: it can be again
	}
	for i := range t.Detail.Items {
		if &t.Detail.Items[i] == line {
			return shares[i].Points
		}
	}
	return 0
}
