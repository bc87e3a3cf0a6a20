package statistics

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Unit is the unit of a metric's values.
type Unit string

// The units.
const (
	Count  Unit = "count"
	Points Unit = "points"
	Money  Unit = "money" // of a currency
	Ratio  Unit = "ratio" // one sum of points over another
)

// Metric is one measure.
type Metric struct {
	Name string
	Unit Unit
	// By are the dimensions by which it can be broken down.
	By []string
	// State says that it is a snapshot: a period shows the state at its end.
	State bool
	// Of are the two metrics of a ratio.
	Of [2]string
}

// The dimensions of metrics; see also the vocabulary.
const (
	byStore    = "store"
	byChannel  = "channel"
	byReward   = "reward"
	byCampaign = "campaign"
	byCurrency = "currency"
	byPool     = "pool"
	byJoined   = "joined" // the month in which the customer's profile was made: their cohort
)

// The metrics that are folded from the journal.
const (
	enrolments      = "enrolments"
	purchases       = "purchases"
	revenue         = "revenue"
	refunds         = "refunds"
	earned          = "points_earned"
	takenBack       = "points_taken_back"
	burned          = "points_burned"
	returned        = "points_returned"
	expired         = "points_expired"
	claims          = "claims"
	redemptions     = "redemptions"
	redemptionValue = "redemption_value"
	campaignPoints  = "campaign_points"
	campaignTaken   = "campaign_points_taken_back"
	campaignRuns    = "campaign_runs"
)

var (
	bought = []string{byStore, byChannel, byCurrency}
	cohort = []string{byJoined}
)

// metrics lists them.
var metrics = []Metric{
	{Name: enrolments, Unit: Count, By: cohort},
	{Name: purchases, Unit: Count, By: append(cohort, bought...)},
	{Name: revenue, Unit: Money, By: append(cohort, bought...)},
	{Name: refunds, Unit: Money, By: append(cohort, bought...)},
	{Name: earned, Unit: Points, By: cohort},
	{Name: takenBack, Unit: Points},
	{Name: burned, Unit: Points, By: cohort},
	{Name: returned, Unit: Points},
	{Name: expired, Unit: Points},
	{Name: claims, Unit: Count, By: []string{byReward}},
	{Name: redemptions, Unit: Count, By: []string{byPool}},
	{Name: redemptionValue, Unit: Money, By: []string{byPool, byCurrency}},
	{Name: campaignPoints, Unit: Points, By: []string{byCampaign}},
	{Name: campaignTaken, Unit: Points, By: []string{byCampaign}},
	{Name: campaignRuns, Unit: Count, By: []string{byCampaign}},
	{Name: loyalty.MetricRefused, Unit: Count, By: []string{loyalty.ByCode}},
	{Name: loyalty.MetricMembers, Unit: Count, State: true},
	{Name: loyalty.MetricActive, Unit: Count, State: true},
	{Name: loyalty.MetricOutstanding, Unit: Points, State: true},
	{Name: loyalty.MetricDebt, Unit: Points, State: true},
	{Name: loyalty.MetricTiers, Unit: Count, By: []string{loyalty.ByTier}, State: true},
	{Name: "redemption_rate", Unit: Ratio, Of: [2]string{burned, earned}},
	{Name: "breakage", Unit: Ratio, Of: [2]string{expired, earned}},
}

// Find returns a metric by its name.
func Find(name string) (Metric, bool) {
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return metrics[i], true
}

// sources returns the metrics whose figures it is made of.
func (m *Metric) sources() []string {
	if m.Unit == Ratio {
		return m.Of[:]
	}
	return []string{m.Name}
}
