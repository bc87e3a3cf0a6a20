package campaign

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// keep records what a run gave with its cause, the purchase or the completion, so that both can be taken back together.
// Most runs give points of the purchase alone and count for no limit: they leave no record.
func (g *gift) keep() error {
	run := &g.run
	limited := (run.PerCustomer || run.Total) && !run.Stays
	if !limited && len(run.Lots) == 0 && len(run.Coupons) == 0 {
		return nil
	}

	run.Campaign = g.campaign.ID
	of, t, completion := g.owner()
	switch {
	case completion:
		return challenge.NoteRun(g.Run, g.cause, *run)
	case t == nil:
		return nil
	}

	if of.Customer.ID != g.Customer.ID {
		run.Customer = g.Customer.ID
	}

	run.Line = g.lineOf(t)
	t.Detail.Runs = append(t.Detail.Runs, *run)
	cause := g.cause
	for cause.Customer != of.Customer.ID {
		cause = g.Find(cause.Parent)
	}

	engine.TellPurchase(of, cause, t)
	return nil
}

// owner finds the cause that a run's gifts are taken back with: a purchase and its customer's run, or a completion.
func (g *gift) owner() (of *engine.Run, t *loyalty.Transaction, completion bool) {
	if g.Accepted != nil {
		return g.Run, g.Accepted, false
	}
	if t, completion = challenge.CauseOf(g.Run, g.cause); t != nil || completion {
		return g.Run, t, completion
	}

	// the bonus of a referrer comes from a friend's purchase
	for e := g.cause; e != nil; e = g.Find(e.Parent) {
		if e.Customer == g.Customer.ID {
			continue
		}
		of = engine.OpenRun(g.Run, e.Customer)
		t, _ = challenge.CauseOf(of, e)
		return of, t, false
	}

	return nil, nil, false
}

// lineOf is the line that a run's gifts are for, by its event; zero if they are for the whole purchase.
func (g *gift) lineOf(t *loyalty.Transaction) loyalty.ID {
	if g.Line != nil {
		return g.Line.Event
	}
	if g.Accepted != nil {
		return loyalty.ID{}
	}
	for e := g.cause; e != nil; e = g.Find(e.Parent) {
		if l := t.LineOf(e.ID); l != nil {
			return l.Event
		}
	}
	return loyalty.ID{}
}

// undone takes back what campaigns gave for a purchase besides the purchase's own points.
func undone(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	return ungive(r, e, t.TakeRuns(func(loyalty.CampaignRun) bool { return true }))
}

// ungive takes back what runs gave, as far as it is unused. A run of which nothing stays no longer counts towards the
// limits. A campaign that is gone, or whose module is off, is treated the same.
func ungive(r *engine.Run, e *loyalty.Event, runs []loyalty.CampaignRun) error {
	var codes []string
	for i := range runs {
		for _, c := range runs[i].Coupons {
			codes = append(codes, c.Code)
		}
	}

	if len(codes) > 0 {
		if err := r.Require(loyalty.CustomerNeeds{Coupons: codes}); err != nil {
			return err
		}
	}

	for i := range runs {
		if err := takeRun(r, e, &runs[i]); err != nil {
			return err
		}
		if err := r.Effort(1); err != nil {
			return err
		}
	}

	return nil
}

// takeRun takes back what one run gave. What another customer got from it is taken back in that customer's name.
func takeRun(r *engine.Run, e *loyalty.Event, run *loyalty.CampaignRun) error {
	holder := r
	if run.Customer != (loyalty.ID{}) {
		var err error
		holder, err = r.Other(loyalty.CustomerNeeds{ID: run.Customer, Key: true, Lots: loyalty.UsedLots,
			Progress: loyalty.Kinds(loyalty.ProgressCampaign)})
		if err != nil {
			return err
		}
	}

	stays := run.Stays
	for _, c := range run.Coupons {
		used, err := coupon.Withdraw(holder, e, run.Campaign, c)
		if err != nil {
			return err
		}
		stays = stays || used
	}

	if holder.Customer.Status != loyalty.OptedOut {
		kept, err := takeLots(holder, e, run)
		if err != nil {
			return err
		}
		stays = stays || kept
	}

	if stays {
		return nil
	}

	return uncount(holder, e, run)
}

// campaignTaken are the attributes of the point_sub that takes a campaign's points back.
type campaignTaken struct {
	Points   int64  `json:"points"`
	Campaign string `json:"campaign"`
}

// takeLots takes back points that are not the purchase's own, and reports whether some of them stay.
func takeLots(r *engine.Run, e *loyalty.Event, run *loyalty.CampaignRun) (kept bool, err error) {
	lots := make([]loyalty.ID, len(run.Lots))
	for i, l := range run.Lots {
		lots[i] = l.Event
	}

	if len(lots) > 0 {
		if err := engine.RequireLots(r, lots); err != nil {
			return false, err
		}
	}

	for _, l := range run.Lots {
		n, err := engine.TakeLot(r, e, engine.Taking{
			Lot: l.Event, Points: l.Points, Giver: "the campaign " + run.Campaign, Reason: "campaign_refund",
			Data: func(n int64) any { return campaignTaken{n, run.Campaign} },
		})
		if err != nil {
			return false, err
		}

		if n > 0 {
			x := e.Tell()
			x.Campaigns = append(x.Campaigns,
				loyalty.CampaignEffect{Campaign: run.Campaign, CampaignGifts: loyalty.CampaignGifts{TakenBack: n}})
		}

		if n < l.Points {
			kept = true
			r.Trace("campaign", "skipped", "reason.used", 0)
		}
	}

	return kept, nil
}

// uncount removes a run from the limits that counted it.
func uncount(r *engine.Run, e *loyalty.Event, run *loyalty.CampaignRun) error {
	if run.Total {
		if err := r.Tallies().Add(e, loyalty.TallyCampaign+run.Campaign, -1); err != nil {
			return err
		}
	}

	if !run.PerCustomer {
		return nil
	}

	// a customer's change is carried by an event of that customer
	if e.Customer != r.Customer.ID {
		if e = latestOf(r); e == nil {
			return nil
		}
	}

	var n campaignCount
	if _, err := r.Progress(loyalty.ProgressCampaign, run.Campaign, &n); err != nil || n.Count == 0 {
		return err
	}

	key := loyalty.ProgressKey{Kind: loyalty.ProgressCampaign, Key: run.Campaign}
	if n.Count--; n.Count == 0 {
		return r.SetProgress(e, key, nil, time.Time{})
	}

	return r.SetProgress(e, key, n, time.Time{})
}

// latestOf is the customer's last event in the submission; nil if there is none.
func latestOf(r *engine.Run) (last *loyalty.Event) {
	for _, e := range r.Events() {
		if e.Customer == r.Customer.ID {
			last = e
		}
	}
	return last
}
