package main

// features are mutants of purchases, coupons, rewards, tiers, challenges and campaigns.
var features = []mutant{
	{
		about: "what was promised stays promised after the acceptance", file: "server/loyalty/purchase/purchase.go",
		old: "\t\tr.Book.Withdraw(item.ID, n)\n", new: "", pkg: actionRoom, run: stories("checkout_accept"),
	},
	{
		about: "a suspended customer burns points in a checkout", file: "server/loyalty/purchase/purchase.go",
		old: "case loyalty.Suspended:\n", new: "case loyalty.Merged:\n", pkg: actionRoom, run: stories("checkout|suspend"),
	},
	{
		about: "a rejected purchase keeps what it promised", file: "server/loyalty/purchase/purchase.go",
		old: "r.Book.Withdraw(e.ID, t.Earned)", new: "_ = e", pkg: actionRoom, run: stories("checkout_reject"),
	},
	{
		about: "a held event's points are promised and given", file: "server/loyalty/purchase/pending_decide.go",
		old: "\tr.Book.Withdraw(r.Event.ID, h.Points)\n", new: "", pkg: actionRoom, run: stories("pending_validate"),
	},
	{
		about: "points dropped while an event was held are given nevertheless",
		file:  "server/loyalty/purchase/pending_decide.go",
		old:   "n := min(h.Dropped, max(0, gained))", new: "n := min(0, max(0, gained))", pkg: actionRoom,
		run: stories("pending_validate|pending_expired"),
	},
	{
		about: "another customer's coupon is redeemed", file: "server/loyalty/coupon/redeem.go",
		old: "(c.Customer != r.Customer.ID && c.Customer != (loyalty.ID{}))", new: "c.ID == (loyalty.ID{})", pkg: actionRoom,
		run: stories("coupon_redeem|coupon_transfer"),
	},
	{
		about: "a gift card pays more than it has", file: "server/loyalty/coupon/redeem.go",
		old: "if use.Amount > money.Amount(c.Balance) {", new: "if use.Amount < 0 {", pkg: actionRoom,
		run: stories("gift_cards|coupon_redeem"),
	},
	{
		about: "a gift card is never empty", file: "server/loyalty/coupon/redeem.go",
		old: "c.Balance -= money.Parts(use.Amount)", new: "", pkg: actionRoom, run: stories("gift_cards"),
	},
	{
		about: "two gift cards pay the same money", file: "server/loyalty/coupon/checkout.go",
		old: "*left -= pays", new: "", pkg: actionRoom, run: stories("gift_cards"),
	},
	{
		about: "a coupon that was invalidated comes back with a rejection", file: "server/loyalty/coupon/checkout.go",
		old: "if c.State == loyalty.CouponInvalidated {", new: "if c.State == loyalty.CouponCreated {", pkg: actionRoom,
		run: stories("checkout_reject|coupon_invalidate|gift_cards"),
	},
	{
		about: "a coupon is good at every store", file: "server/loyalty/coupon/checkout.go",
		old: "if !r.Programme.SoldAt(c.Stores, store) {", new: "if c.ID == (loyalty.ID{}) {", pkg: actionRoom,
		run: stories("checkout|coupon_redeem|invalid_codes"),
	},
	{
		about: "who receives a coupon of a reward cannot pass it on", file: "server/loyalty/coupon/transfer.go",
		old: "return holdCoupon(other, e, c)", new: "return nil", pkg: actionRoom, run: stories("coupon_transfer"),
	},
	{
		about: "a coupon is good at the instant of its expiry", file: "server/loyalty/coupon.go",
		old: "!c.ExpiresAt.IsZero() && !at.Before(c.ExpiresAt)", new: "!c.ExpiresAt.IsZero() && at.After(c.ExpiresAt)",
		pkg: actionRoom, run: stories("coupon_redeem|coupon_create|coupon_transfer|coupon_invalidate"),
	},
	{
		about: "one reward more than the stock is given", file: "server/loyalty/reward/claim.go",
		old: "given >= *reward.Stock", new: "given > *reward.Stock", pkg: actionRoom, run: stories("reward_claim"),
	},
	{
		about: "one claim more than a customer may have", file: "server/loyalty/reward/claim.go",
		old: "standing.Claims >= *reward.MaxClaims", new: "standing.Claims > *reward.MaxClaims", pkg: actionRoom,
		run: stories("reward_claim"),
	},
	{
		about: "a revoked claim still counts for the customer", file: "server/loyalty/reward/revoke.go",
		old: "standing.Claims--", new: "", pkg: actionRoom, run: stories("reward_revoke"),
	},
	{
		about: "a revoked claim still counts for the stock", file: "server/loyalty/reward/revoke.go",
		old: "return r.Tallies().Add(e, loyalty.TallyReward+claim.Reward, -1)", new: "return nil", pkg: actionRoom,
		run: stories("reward_revoke"),
	},
	{
		about: "a claim whose code was given anew takes the coupon of its next holder",
		file:  "server/loyalty/reward/revoke.go",
		old:   "if c.Reward != claim.Reward {", new: "if c.Code == \"\" {", pkg: actionRoom,
		run: stories("reward_revoke|unassign_coupon"),
	},
	{
		about: "a tier falls at once in spite of its days of grace", file: "server/loyalty/tier/state.go",
		old: "case s.checked(v) && s.GraceDays == 0:", new: "case s.checked(v):",
		pkg: "server/loyalty/tier", run: "TestTierRule",
	},
	{
		about: "a tier given by hand is risen above at once", file: "server/loyalty/tier/state.go",
		old: " && earned > s.rank(st.ManualOver)", new: "", pkg: "server/loyalty/tier", run: "TestGivenBelowTheFigure",
	},
	{
		about: "the window that just ended holds no tier", file: "server/loyalty/tier/state.go",
		old: "figure = max(figure, st.Buckets[before])", new: "_ = before", pkg: "server/loyalty/tier", run: "TestTierRule",
	},
	{
		about: "an event is counted twice for a tier", file: "server/loyalty/tier/figures.go",
		old: "if loyalty.CompareID(p.Event, f.Through) <= 0 {\n\t\treturn false\n\t}", new: "", pkg: "server/loyalty/tier",
		run: "TestCountedOnce|TestTierFiguresAreTheJournals",
	},
	{
		about: "a closed window is counted into", file: "server/loyalty/tier/figures.go",
		old: "calendar.DayOf(p.Booked, loc) < next", new: "calendar.DayOf(p.Booked, loc) <= next", pkg: "server/loyalty/tier",
		run: "TestClosedWindows",
	},
	{
		about: "one completion more than a challenge has", file: "server/loyalty/challenge/run.go",
		old: "if st.Completions >= c.most() {", new: "if st.Completions > c.most() {", pkg: actionRoom,
		run: stories("challenges"),
	},
	{
		about: "a window of days has one day more", file: "server/loyalty/challenge/state.go",
		old: "return d <= today-calendar.Day(c.WindowDays)", new: "return d < today-calendar.Day(c.WindowDays)",
		pkg: "server/loyalty/challenge", run: "TestChallengeCounts",
	},
	{
		about: "a challenge wants one more than it says", file: "server/loyalty/challenge/state.go",
		old: "c.Criteria[i].scale() < c.Criteria[i].Threshold", new: "c.Criteria[i].scale() <= c.Criteria[i].Threshold",
		pkg: "server/loyalty/challenge", run: "TestChallengeCounts",
	},
	{
		about: "points that a campaign gave for a completion stay when it goes", file: "server/loyalty/challenge/undo.go",
		old: "for _, g := range k.Gave {\n\t\tn, err", new: "for _, g := range k.Gave[:0] {\n\t\tn, err", pkg: actionRoom,
		run: stories("challenges_refunds"),
	},
	{
		about: "a campaign gives once more than a customer may have", file: "server/loyalty/campaign/run.go",
		old: "if n.Count >= *most {", new: "if n.Count > *most {", pkg: actionRoom, run: stories("campaigns"),
	},
	{
		about: "a campaign gives once more than it may in all", file: "server/loyalty/campaign/run.go",
		old: "if n >= *most {", new: "if n > *most {", pkg: actionRoom, run: stories("campaigns"),
	},
	{
		about: "a label is given again and again", file: "server/loyalty/campaign/give.go",
		old: "if slices.Contains(p.Labels, label) {", new: "if slices.Contains(p.Labels[:0], label) {", pkg: actionRoom,
		run: stories("campaigns"),
	},
	{
		about: "a refund that is dated before the acceptance leaves a window before the purchase does",
		file:  "server/loyalty/purchase/purchase.go",
		old:   "if t.Detail.AcceptedAt.After(since) {", new: "if since.IsZero() {", pkg: actionRoom,
		run: stories("tiers|refund_item|refund"),
	},
	{
		about: "who gives back everything line by line keeps what rounding took",
		file:  "server/loyalty/action/refund_item.go",
		old:   "all := t.CameBack()", new: "all := false", pkg: actionRoom, run: stories("refund_item"),
	},
	{
		about: "deliveries go one behind the other without a rest", file: "server/loyalty/webhook/yield.go",
		old: "if y.busy || time.Now().Before(y.until) {", new: "if y.busy {", pkg: "server/loyalty/webhook",
		run: "TestCallersGoFirst|TestNobodyWaits",
	},
	{
		about: "a delivery waits for its turn three times as long", file: "server/loyalty/webhook/yield.go",
		old: "if time.Since(began) > longestWait {", new: "if time.Since(began) > 3*longestWait {",
		pkg: "server/loyalty/webhook", run: "TestCallersGoFirst|TestNobodyWaits",
	},
	{
		about: "a delivery waits beside nobody", file: "server/loyalty/webhook/yield.go",
		old: "y.crowded != nil && y.crowded()", new: "y.crowded != nil", pkg: "server/loyalty/webhook",
		run: "TestCallersGoFirst|TestNobodyWaits",
	},
}
