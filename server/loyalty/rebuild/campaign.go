package rebuild

import (
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// gave folds what an event records of campaigns. The customers of a campaign are counted family by family.
func (rb *Rebuild) gave(e *loyalty.Event, a *foldedAccount) {
	for _, x := range e.Effects.Campaigns {
		// A campaign's gifts are counted from the amounts in the event, never from its present definition: an archived
		// or edited campaign still gave what it gave.
		rb.campaign(x.Campaign).Add(loyalty.FiguresOf(e, x))
		if x.Runs > 0 {
			a.gives(x.Campaign)
		}
	}
}

func (rb *Rebuild) campaign(id string) *loyalty.CampaignFigures {
	if rb.figures[id] == nil {
		rb.figures[id] = &loyalty.CampaignFigures{}
	}
	return rb.figures[id]
}

func (a *foldedAccount) gives(campaign string) {
	if a.given == nil {
		a.given = map[string]bool{}
	}
	a.given[campaign] = true
}

// Given compares a stored row which says that a campaign gave a customer something.
func (f *Family) Given(customer loyalty.ID, campaign string) {
	a := f.accounts[customer]
	if f.rebuild.place(customer, "campaign "+campaign).exists(a.given[campaign], true) {
		a.met = append(a.met, campaign)
	}
}

// gifted reports the campaigns that gave a customer something without a stored row, and counts the customer unless they
// were merged into another one.
func (f *Family) gifted(id loyalty.ID, a *foldedAccount) {
	_, away := f.rebuild.survivor(id)
	// The rows of merged customers stay where they were, but a person is counted once.
	for _, campaign := range slices.Sorted(maps.Keys(a.given)) {
		f.rebuild.place(id, "campaign "+campaign).exists(true, slices.Contains(a.met, campaign))
		if away == 0 {
			f.rebuild.campaign(campaign).Customers++
		}
	}
}

// Campaign compares the stored figures of a campaign, after all families.
func (rb *Rebuild) Campaign(id string, s loyalty.CampaignFigures) {
	p, j := rb.place(loyalty.ID{}, "campaign "+id), rb.campaign(id)
	delete(rb.figures, id) // rows that are left at the end were not stored
	differ(p, "runs", j.Runs, s.Runs)
	differ(p, "customers", j.Customers, s.Customers)
	differ(p, "points", j.Points, s.Points)
	differ(p, "taken_back", j.TakenBack, s.TakenBack)
	differ(p, "coupons", j.Coupons, s.Coupons)
	differ(p, "labels", j.Labels, s.Labels)
	differ(p, "tiers", j.Tiers, s.Tiers)
	differ(p, "challenge", j.Challenge, s.Challenge)
	p.instant("first_at", j.First, s.First)
	p.instant("last_at", j.Last, s.Last)
}
