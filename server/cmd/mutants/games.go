package main

// games are mutants of wheels, contests and quizzes, offers, referrals, and the work of the clock.
var games = []mutant{
	{
		about: "the limit of a wheel is for ever, not for its period", file: "server/loyalty/game/wheel.go",
		old: "p.Period, p.Spins = period, 0", new: "p.Period = period", pkg: "server/loyalty/game", run: "TestWheelLimits",
	},
	{
		about: "a wheel keeps to the limit of its reward for one customer", file: "server/loyalty/game/wheel.go",
		old: "prize.MaxClaims = nil", new: "", pkg: actionRoom, run: stories("prize_wheel_spin"),
	},
	{
		about: "an option without weight comes up", file: "server/loyalty/game/wheel.go",
		old: "if n -= o.Weight; n < 0 {", new: "if n -= o.Weight; n <= 0 {",
		pkg: "server/loyalty/game", run: "TestPickOption",
	},
	{
		about: "the first entries of a contest are revoked, not the last", file: "server/loyalty/game/contest.go",
		old: "paid := &p.Paid[i]", new: "paid := &p.Paid[len(p.Paid)-1-i]", pkg: "server/loyalty/game",
		run: "TestContestProgress",
	},
	{
		about: "one entry more than a contest takes of a customer", file: "server/loyalty/game/contest.go",
		old: "p.Entries+count > *c.MaxEntries", new: "p.Entries+count > *c.MaxEntries+1", pkg: actionRoom,
		run: stories("contest_enter"),
	},
	{
		about: "a customer is paid for bringing themselves", file: "server/loyalty/referral/referral.go",
		old: "case r == nil || r == o.Run:", new: "case r == nil:", pkg: actionRoom, run: stories("referral"),
	},
	{
		about: "a discount is more than the goods cost", file: "server/loyalty/offer/fit.go",
		old: "off = min(off, total).RoundTo(d.unit)", new: "off = off.RoundTo(d.unit)", pkg: "server/loyalty/offer",
		run: "TestOfferNeverExceedsTheCart|TestOfferFits",
	},
	{
		about: "any of the items is enough where all are asked for", file: "server/loyalty/offer/fit.go",
		old: "if o.RequiredMatch == \"any\" {", new: "if o.RequiredMatch != \"none\" {",
		pkg: "server/loyalty/offer", run: "TestOfferFits",
	},
}
