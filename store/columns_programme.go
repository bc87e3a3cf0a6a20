package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

type (
	changedProgress = loyalty.Changed[loyalty.Progress]
	changedClaim    = loyalty.Changed[loyalty.RewardClaim]
	changedTally    = loyalty.Changed[loyalty.Tally]
)

// progressTable holds a customer's progress with a part of the programme.
var progressTable = table[loyalty.Progress]{name: "progress", fields: []field[loyalty.Progress]{
	{"customer_id", "uuid", func(p *loyalty.Progress) any { return (*UUID)(&p.Customer) }},
	{"kind", "smallint", func(p *loyalty.Progress) any { return wholeIn(&p.Kind) }},
	{"key", "text", func(p *loyalty.Progress) any { return (*plain)(&p.Key) }},
	{"data", "text", func(p *loyalty.Progress) any { return (*Raw)(&p.Data) }},
	{"due_at", "bigint", func(p *loyalty.Progress) any { return (*Millis)(&p.DueAt) }},
}}

var (
	insertProgress = progressTable.inserts()
	updateProgress = guards(`UPDATE progress AS p SET data = v.data, due_at = v.due_at FROM v
 WHERE p.customer_id = v.customer_id AND p.kind = v.kind AND p.key = v.key AND p.data = v.was`, append(
		through(progressTable.fields, func(p *changedProgress) *loyalty.Progress { return &p.After }), progressBefore)...)
	deleteProgress = guards(`DELETE FROM progress WHERE (customer_id, kind, key, data) IN (SELECT customer_id, kind, key, was FROM v)`, append(
		through(progressTable.some("customer_id", "kind", "key").fields, func(p *changedProgress) *loyalty.Progress { return &p.Before }), progressBefore)...)

	progressBefore = field[changedProgress]{"was", "text", func(p *changedProgress) any { return (*Raw)(&p.Before.Data) }}
)

// claimTable holds rewards that customers claimed or received.
var claimTable = table[loyalty.RewardClaim]{name: "claims", fields: []field[loyalty.RewardClaim]{
	{"customer_id", "uuid", func(c *loyalty.RewardClaim) any { return (*UUID)(&c.Customer) }},
	{"id", "uuid", func(c *loyalty.RewardClaim) any { return (*UUID)(&c.ID) }},
	{"reward", "text", func(c *loyalty.RewardClaim) any { return (*plain)(&c.Reward) }},
	{"state", "text", func(c *loyalty.RewardClaim) any { return (*plain)(&c.State) }},
	{"points", "bigint", func(c *loyalty.RewardClaim) any { return (*number)(&c.Points) }},
	{"award", "bigint", func(c *loyalty.RewardClaim) any { return (*number)(&c.Award) }},
	{"coupon", "text", func(c *loyalty.RewardClaim) any { return (*Text)(&c.Coupon) }},
	{"claimed_at", "bigint", func(c *loyalty.RewardClaim) any { return (*Millis)(&c.ClaimedAt) }},
	{"updated_at", "bigint", func(c *loyalty.RewardClaim) any { return (*Millis)(&c.UpdatedAt) }},
	{"burn", "text", func(c *loyalty.RewardClaim) any { return documentIn(&c.Burn) }},
}}

var (
	insertClaims = claimTable.inserts()
	updateClaims = guards(`UPDATE claims AS k SET `+claimTable.set("customer_id", "id")+`
 FROM v WHERE k.customer_id = v.customer_id AND k.id = v.id AND k.state = v.was_state AND k.updated_at = v.was_updated`, append(
		through(claimTable.fields, func(c *changedClaim) *loyalty.RewardClaim { return &c.After }),
		field[changedClaim]{"was_state", "text", func(c *changedClaim) any { return (*plain)(&c.Before.State) }},
		field[changedClaim]{"was_updated", "bigint", func(c *changedClaim) any { return (*Millis)(&c.Before.UpdatedAt) }})...)
)

// tallyTable holds counts that all customers share.
var tallyTable = table[loyalty.Tally]{name: "tallies", fields: []field[loyalty.Tally]{
	{"key", "text", func(t *loyalty.Tally) any { return (*plain)(&t.Key) }},
	{"count", "bigint", func(t *loyalty.Tally) any { return (*number)(&t.Count) }},
}}

var (
	insertTallies = tallyTable.inserts()
	updateTallies = guards(`UPDATE tallies AS t SET count = v.count FROM v WHERE t.key = v.key AND t.count = v.was`, append(
		through(tallyTable.fields, func(t *changedTally) *loyalty.Tally { return &t.After }),
		field[changedTally]{"was", "bigint", func(t *changedTally) any { return (*number)(&t.Before.Count) }})...)
)
