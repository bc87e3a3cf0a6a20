package store

import (
	"math/rand/v2"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// campaignSlots is the number of rows over which the figures of one campaign are spread: a batch adds to one of them,
// so that concurrent batches seldom meet.
const campaignSlots = 64

// addedFigures is what a batch adds to a slot.
type addedFigures struct {
	loyalty.CampaignGift
	slot int64
}

// mergedCustomers are two customers who are merged, and the slot that counts it.
type mergedCustomers struct {
	loyalty.CampaignMerge
	slot int64
}

// campaignCalls add to the figures of campaigns. They depend on the customers before the batch, so they come before
// the customers; and awards come before merges, because a source can receive something in the batch that merges it,
// but never after.
func campaignCalls(list []calls, w *loyalty.Writes) []calls {
	if len(w.CampaignGifts)+len(w.CampaignMerges) == 0 {
		return list
	}

	slot := rand.Int64N(campaignSlots)
	merges := make([]mergedCustomers, len(w.CampaignMerges))
	for i, m := range w.CampaignMerges {
		merges[i] = mergedCustomers{m, slot}
	}

	gifts := make([]addedFigures, len(w.CampaignGifts))
	for i, g := range w.CampaignGifts {
		gifts[i] = addedFigures{g, slot}
	}

	list = write(list, addFigures, gifts)
	list = write(list, insertGiven, changed(gifts, func(g *addedFigures) bool { return g.Runs > 0 }))
	list = write(list, mergeFigures, merges)
	return write(list, mergeGiven, merges)
}

const (
	figuresInto = `INSERT INTO campaign_figures AS f (campaign, slot, runs, customers, points, taken_back, coupons, labels, tiers,
 challenge, first_at, last_at) `
	figuresAdd = ` ON CONFLICT (campaign, slot) DO UPDATE SET runs = f.runs + excluded.runs, customers = f.customers + excluded.customers,
 points = f.points + excluded.points, taken_back = f.taken_back + excluded.taken_back, coupons = f.coupons + excluded.coupons,
 labels = f.labels + excluded.labels, tiers = f.tiers + excluded.tiers, challenge = f.challenge + excluded.challenge,
 first_at = COALESCE(CASE WHEN excluded.first_at < f.first_at THEN excluded.first_at END, f.first_at, excluded.first_at),
 last_at = COALESCE(CASE WHEN excluded.last_at > f.last_at THEN excluded.last_at END, f.last_at, excluded.last_at)`
)

var (
	// A campaign that gave to both customers of a merge has one customer fewer.
	mergeFigures = selects(figuresInto+`SELECT s.campaign, v.slot, 0, -count(*), 0, 0, 0, 0, 0, 0, CAST(NULL AS bigint), CAST(NULL AS bigint)
 FROM v JOIN campaign_customers s ON s.customer_id = v.source
 JOIN campaign_customers t ON t.customer_id = v.target AND t.campaign = s.campaign
 GROUP BY s.campaign, v.slot ORDER BY s.campaign`+figuresAdd, mergedFields...).
		onCitus(`, s AS MATERIALIZED (SELECT c.customer_id, c.campaign FROM campaign_customers c WHERE c.customer_id = ANY ($1::uuid[])),
 t AS MATERIALIZED (SELECT c.customer_id, c.campaign FROM campaign_customers c WHERE c.customer_id = ANY ($2::uuid[]))
 `+figuresInto+`SELECT s.campaign, v.slot, 0, -count(*), 0, 0, 0, 0, 0, 0, CAST(NULL AS bigint), CAST(NULL AS bigint)
 FROM v JOIN s ON s.customer_id = v.source JOIN t ON t.customer_id = v.target AND t.campaign = s.campaign
 GROUP BY s.campaign, v.slot ORDER BY s.campaign`+figuresAdd, mergedFields...)
	mergeGiven = selects(`INSERT INTO campaign_customers (customer_id, campaign) SELECT v.target, s.campaign
 FROM v JOIN campaign_customers s ON s.customer_id = v.source WHERE v.slot >= 0 ON CONFLICT DO NOTHING`, mergedFields...)

	addFigures = selects(figuresInto+`SELECT v.campaign, v.slot, sum(v.runs), sum(CASE WHEN v.runs > 0 AND c.customer_id IS NULL THEN 1 ELSE 0 END),
 sum(v.points), sum(v.taken_back), sum(v.coupons), sum(v.labels), sum(v.tiers), sum(v.challenge), min(v.first_at), max(v.last_at)
 FROM v LEFT JOIN campaign_customers c ON c.customer_id = v.customer_id AND c.campaign = v.campaign
 GROUP BY v.campaign, v.slot ORDER BY v.campaign`+figuresAdd, addedFields...)
	insertGiven = selects(`INSERT INTO campaign_customers (customer_id, campaign) SELECT v.customer_id, v.campaign
 FROM v WHERE v.slot >= 0 ON CONFLICT DO NOTHING`, addedFields[:3]...)

	mergedFields = []field[mergedCustomers]{
		{"source", "uuid", func(m *mergedCustomers) any { return (*UUID)(&m.Source) }},
		{"target", "uuid", func(m *mergedCustomers) any { return (*UUID)(&m.Target) }},
		{"slot", "smallint", func(m *mergedCustomers) any { return (*number)(&m.slot) }},
	}
	addedFields = []field[addedFigures]{
		{"customer_id", "uuid", func(g *addedFigures) any { return (*UUID)(&g.Customer) }},
		{"campaign", "text", func(g *addedFigures) any { return (*plain)(&g.Campaign) }},
		{"slot", "smallint", func(g *addedFigures) any { return (*number)(&g.slot) }},
		{"runs", "bigint", func(g *addedFigures) any { return (*number)(&g.Runs) }},
		{"points", "bigint", func(g *addedFigures) any { return (*number)(&g.Points) }},
		{"taken_back", "bigint", func(g *addedFigures) any { return (*number)(&g.TakenBack) }},
		{"coupons", "bigint", func(g *addedFigures) any { return (*number)(&g.Coupons) }},
		{"labels", "bigint", func(g *addedFigures) any { return (*number)(&g.Labels) }},
		{"tiers", "bigint", func(g *addedFigures) any { return (*number)(&g.Tiers) }},
		{"challenge", "bigint", func(g *addedFigures) any { return (*number)(&g.Challenge) }},
		{"first_at", "bigint", func(g *addedFigures) any { return (*Millis)(&g.First) }},
		{"last_at", "bigint", func(g *addedFigures) any { return (*Millis)(&g.Last) }},
	}
)
