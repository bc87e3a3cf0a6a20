package loyalty

import "time"

// campaigns lets the campaigns that an occurrence sets off run, in their order.
func campaigns(o *occurrence) error {
	if !o.Programme.On[ModuleAutomation] {
		return nil
	}
	for _, c := range triggered.Of(o.Programme)[o.action] {
		if err := o.effort(stepsToLook); err != nil {
			return err
		}
		if err := o.offer(c); err != nil {
			return err
		}
	}
	return nil
}

// offer runs one campaign: it gives what it has to give, unless something stands
// against it. What gave nothing does not count for its limits.
func (o *occurrence) offer(c *Campaign) error {
	reason, fault, err := o.hindrance(c)
	if err != nil {
		return err
	}
	if reason != "" {
		o.tell(c, reason, fault)
		return nil
	}
	g := gift{occurrence: o, campaign: c, cause: o.cause()}
	for i := range c.Effects {
		if err := g.give(&c.Effects[i]); err != nil {
			return err
		}
	}
	if !g.given {
		o.tell(c, "reason.nothing_to_give", nil)
		return nil
	}
	o.told(c, Verdict{Verdict: "applied", Reason: "reason.campaign", Points: g.gave.Points})
	return g.count()
}

// hindrance is why a campaign gives nothing, as a translation key; empty: nothing
// stands against it. Where its condition could not be judged, fault says why.
func (o *occurrence) hindrance(c *Campaign) (reason string, fault, err error) {
	if c.Dates.Status(o.event.At) != StatusActive {
		return "reason.not_active", nil, nil
	}
	if !o.enrolledFor(c) {
		return "reason.standing", nil, nil
	}
	held, fault, err := o.judge(c.Holds)
	switch {
	case err != nil:
		return "", nil, err
	case fault != nil:
		return "reason.condition_fault", fault, nil
	case !held:
		return "reason.condition", nil, nil
	}
	reason, err = o.exhausted(c)
	return reason, nil, err
}

// enrolledFor: customers who are not enrolled get nothing but labels, and those
// who left get nothing.
func (o *occurrence) enrolledFor(c *Campaign) bool {
	switch o.Customer.Status {
	case Active, Suspended:
		return true
	case Inactive:
		return c.onlyLabels()
	}
	return false
}

// campaignCount is how often a campaign gave a customer something.
type campaignCount struct {
	Count int64 `json:"count"`
}

// exhausted says which limit of a campaign is reached; empty: none.
func (o *occurrence) exhausted(c *Campaign) (string, error) {
	if most := c.Limit.PerCustomer; most != nil {
		var n campaignCount
		if _, err := o.Progress(ProgressCampaign, c.ID, &n); err != nil {
			return "", err
		}
		if n.Count >= *most {
			return "reason.limit", nil
		}
	}
	if most := c.Limit.Total; most != nil {
		n, err := o.Tally(TallyCampaign + c.ID)
		if err != nil {
			return "", err
		}
		if n >= *most {
			return "reason.limit_total", nil
		}
	}
	return "", nil
}

// count notes what the campaign gave, and that it did, as far as it is limited.
func (g *gift) count() error {
	c := g.campaign
	g.gave.Runs = 1
	told := &g.cause.effects().Campaigns
	*told = append(*told, CampaignEffect{c.ID, g.gave})
	if c.Limit.PerCustomer != nil {
		var n campaignCount
		if _, err := g.Progress(ProgressCampaign, c.ID, &n); err != nil {
			return err
		}
		n.Count++
		if err := g.SetProgress(g.cause, ProgressKey{ProgressCampaign, c.ID}, n, time.Time{}); err != nil {
			return err
		}
	}
	if c.Limit.Total != nil {
		return g.Count(g.cause, TallyCampaign+c.ID, 1)
	}
	return nil
}

// cause is the event that set a campaign off: for a line, the event of the item.
func (o *occurrence) cause() *Event {
	if o.line != nil {
		if e := o.Find(o.line.Event); e != nil {
			return e
		}
	}
	return o.event
}

// tell explains why a campaign gave nothing.
func (o *occurrence) tell(c *Campaign, reason string, fault error) {
	v := Verdict{Verdict: "skipped", Reason: reason}
	if fault != nil {
		v.Input = map[string]any{"fault": fault.Error()}
	}
	o.told(c, v)
}

// told explains what a campaign did; outside a preview it costs nothing.
func (o *occurrence) told(c *Campaign, v Verdict) {
	if !o.Tracing() {
		return
	}
	if v.Input == nil {
		v.Input = map[string]any{}
	}
	v.Rule = "campaign"
	v.Input["campaign"], v.Input["name"], v.Input["trigger"] = c.ID, c.Name, o.action
	if c.Condition != "" {
		v.Input["condition"] = c.Condition
	}
	if o.line != nil {
		v.Input["product_id"] = o.line.ProductID
	}
	o.TraceInput(v)
}

// foreseeCampaigns adds what the limits of the campaigns need that an action sets
// off.
func (p *Programme) foreseeCampaigns(action string, n *CustomerNeeds) {
	p.foreseeLimits(action, n)
	switch action {
	case "checkout_accept":
		p.foreseeLimits("checkout", n)
		fallthrough
	case "checkout":
		p.foreseeLimits(lineAction, n)
	}
}

func (p *Programme) foreseeLimits(trigger string, n *CustomerNeeds) {
	for _, c := range triggered.Of(p)[trigger] {
		if c.Limit.PerCustomer != nil {
			n.Progress |= Kinds(ProgressCampaign)
		}
		if c.Limit.Total != nil {
			n.Tallies = append(n.Tallies, TallyCampaign+c.ID)
		}
	}
}

// CampaignFeature gives what campaigns give (module automation).
var CampaignFeature = Feature{
	Name: "campaigns", Progress: ProgressCampaign, React: campaigns,
	Needs: func(p *Programme, action string, n *CustomerNeeds) {
		if p.On[ModuleAutomation] {
			p.foreseeCampaigns(action, n)
		}
	},
	Join: JoinBy(func(a *campaignCount, b campaignCount) { a.Count += b.Count }),
}
