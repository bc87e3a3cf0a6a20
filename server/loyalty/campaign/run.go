package campaign

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// campaigns runs the campaigns that an occurrence triggers, in their order.
func campaigns(o *engine.Occurrence) error {
	if !o.Programme.On[programme.ModuleAutomation] {
		return nil
	}

	// the index is made once per programme: most events trigger few of its campaigns
	for _, c := range triggered.Of(o.Programme)[o.Action] {
		// checking a campaign costs time even if its condition does not hold; thousands of lines times many campaigns
		// would hold up a batch
		if err := o.Effort(engine.StepsToLook); err != nil {
			return err
		}
		if err := run(o, c); err != nil {
			return err
		}
	}

	return nil
}

// run applies one campaign if it is eligible here. A run that gave nothing does not count towards the campaign's
// limits, so that an empty pool does not use up a customer's only chance.
func run(o *engine.Occurrence, c *Campaign) error {
	reason, fault, err := hindrance(o, c)
	if err != nil {
		return err
	}

	if reason != "" {
		tell(o, c, reason, fault)
		return nil
	}

	g := gift{Occurrence: o, campaign: c, cause: cause(o)}
	// all effects are tried: one that cannot be given does not keep the customer from the others
	for i := range c.Effects {
		if err := g.give(&c.Effects[i]); err != nil {
			return err
		}
	}

	if !g.given {
		tell(o, c, "reason.nothing_to_give", nil)
		return nil
	}

	told(o, c, loyalty.Verdict{Verdict: "applied", Reason: "reason.campaign", Points: g.gave.Points})
	if err := g.count(); err != nil {
		return err
	}

	return g.keep()
}

// hindrance is the reason why a campaign gives nothing here, as a translation key, or empty if it
// is eligible. If its condition could not be evaluated, fault says why. The checks are ordered by
// cost: dates and status cost nothing, a condition reads facts, and only limits may need a load.
func hindrance(o *engine.Occurrence, c *Campaign) (reason string, fault, err error) {
	if c.Dates.Status(o.Trigger.At) != loyalty.StatusActive {
		return "reason.not_active", nil, nil
	}
	if !enrolledFor(o, c) {
		return "reason.standing", nil, nil
	}

	held, fault, err := o.Judge(c.Holds)
	switch {
	case err != nil:
		return "", nil, err
	case fault != nil:
		return "reason.condition_fault", fault, nil
	case !held:
		return "reason.condition", nil, nil
	}

	reason, err = exhausted(o, c)
	return reason, nil, err
}

// enrolledFor reports whether the customer's status allows the campaign: customers who are not enrolled may only get
// labels, and customers who opted out get nothing.
func enrolledFor(o *engine.Occurrence, c *Campaign) bool {
	switch o.Customer.Status {
	// suspended customers keep earning; they only cannot spend
	case loyalty.Active, loyalty.Suspended:
		return true
	case loyalty.Inactive:
		return c.onlyLabels()
	}
	return false
}

// campaignCount is how often a campaign gave a customer something.
type campaignCount struct {
	Count int64 `json:"count"`
}

// exhausted names the limit that a campaign has reached, or is empty if there is none.
func exhausted(o *engine.Occurrence, c *Campaign) (string, error) {
	if most := c.Limit.PerCustomer; most != nil {
		var n campaignCount
		if _, err := o.Progress(loyalty.ProgressCampaign, c.ID, &n); err != nil {
			return "", err
		}
		if n.Count >= *most {
			return "reason.limit", nil
		}
	}

	if most := c.Limit.Total; most != nil {
		n, err := o.Tallies().Of(loyalty.TallyCampaign + c.ID)
		if err != nil {
			return "", err
		}
		if n >= *most {
			return "reason.limit_total", nil
		}
	}

	return "", nil
}

// count records what the campaign gave, and counts the run towards its limits.
func (g *gift) count() error {
	c := g.campaign
	g.gave.Runs = 1
	told := &g.cause.Tell().Campaigns
	// the journal records what the campaign gave; its figures and a rebuild are made from that
	*told = append(*told, loyalty.CampaignEffect{Campaign: c.ID, CampaignGifts: g.gave})
	// a count without a limit would be written for every customer and never read
	if c.Limit.PerCustomer != nil {
		var n campaignCount
		if _, err := g.Progress(loyalty.ProgressCampaign, c.ID, &n); err != nil {
			return err
		}
		n.Count++
		g.run.PerCustomer = true
		if err := g.SetProgress(g.cause, loyalty.ProgressKey{Kind: loyalty.ProgressCampaign, Key: c.ID}, n,
			time.Time{}); err != nil {
			return err
		}
	}

	if c.Limit.Total != nil {
		g.run.Total = true
		return g.Tallies().Add(g.cause, loyalty.TallyCampaign+c.ID, 1)
	}

	return nil
}

// cause is the event that triggered a campaign: for a purchase's line, the event of that item.
func cause(o *engine.Occurrence) *loyalty.Event {
	if o.Line != nil {
		// so that a refund of the line finds what the campaign gave for it
		if e := o.Find(o.Line.Event); e != nil {
			return e
		}
	}
	return o.Trigger
}

// tell explains why a campaign gave nothing.
func tell(o *engine.Occurrence, c *Campaign, reason string, fault error) {
	v := loyalty.Verdict{Verdict: "skipped", Reason: reason}
	if fault != nil {
		v.Input = map[string]any{"fault": fault.Error()}
	}
	told(o, c, v)
}

// told explains what a campaign did; outside a preview it costs nothing.
func told(o *engine.Occurrence, c *Campaign, v loyalty.Verdict) {
	if !o.Tracing() {
		return
	}
	if v.Input == nil {
		v.Input = map[string]any{}
	}

	v.Rule = "campaign"
	v.Input["campaign"], v.Input["name"], v.Input["trigger"] = c.ID, c.Name, o.Action
	if c.Condition != "" {
		v.Input["condition"] = c.Condition
	}
	if o.Line != nil {
		v.Input["product_id"] = o.Line.ProductID
	}

	o.TraceInput(v)
}

// foreseeCampaigns adds the counts that the limits of the campaigns triggered by an action need, so that the first load
// already has them and the batch is not decided twice. An accepted purchase triggers the same campaigns as a checkout,
// and each of its lines those of checkout_item.
func foreseeCampaigns(p *programme.Programme, action string, n *loyalty.CustomerNeeds) {
	foreseeLimits(p, action, n)
	switch action {
	case "checkout_accept":
		foreseeLimits(p, "checkout", n)
		fallthrough
	case "checkout":
		foreseeLimits(p, programme.LineAction, n)
	}
}

func foreseeLimits(p *programme.Programme, trigger string, n *loyalty.CustomerNeeds) {
	for _, c := range triggered.Of(p)[trigger] {
		if c.Limit.PerCustomer != nil {
			n.Progress |= loyalty.Kinds(loyalty.ProgressCampaign)
		}
		if c.Limit.Total != nil {
			n.Tallies = append(n.Tallies, loyalty.TallyCampaign+c.ID)
		}
	}
}

// CampaignFeature runs the campaigns (module automation).
var CampaignFeature = engine.Feature{
	Name: "campaigns", Progress: loyalty.ProgressCampaign, React: campaigns, Undone: undone, Ungive: ungive,
	Needs: func(p *programme.Programme, action string, n *loyalty.CustomerNeeds) {
		if p.On[programme.ModuleAutomation] {
			foreseeCampaigns(p, action, n)
		}
	},
	Join: engine.JoinBy(func(a *campaignCount, b campaignCount) { a.Count += b.Count }),
}
