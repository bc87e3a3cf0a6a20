package main

// The packages whose tests detect most of the mutants.
const (
	pointsRoom = "server/loyalty/points"
	actionRoom = "server/loyalty/action"
)

// stories are the scenarios of some files, on the embedded database: the rules' decisions do not depend on the
// database.
func stories(files string) string { return "TestScenarios/^(" + files + ")$/./^sqlite$" }

// points are mutants of the ledger's arithmetic.
var points = []mutant{
	{
		about: "a lot that never expires is spent first", file: "server/loyalty/points/book.go",
		old: "if ex.IsZero() {\n\t\t\treturn 1", new: "if ex.IsZero() {\n\t\t\treturn -1", pkg: pointsRoom,
		run: "TestSpendingOrder",
	},
	{
		about: "what comes back goes to the lots that paid first, not last", file: "server/loyalty/points/book.go",
		old: "for i := len(left) - 1; i >= 0 && n > 0; i-- {", new: "for i := 0; i < len(left) && n > 0; i++ {",
		pkg: pointsRoom, run: "TestHold|TestRestore|TestBookAgainstModel",
	},
	{
		about: "a refund leaves what had expired of its lot", file: "server/loyalty/points/book.go",
		old: "n -= b.move(event, Expired, Issued, l, min(n, l.Expired))", new: "_ = l", pkg: pointsRoom, run: "TestTakeBack",
	},
	{
		about: "promised points leave no room for themselves", file: "server/loyalty/points/book.go",
		old: "b.Figures.Score+b.Figures.Pending <= Max-n", new: "b.Figures.Score <= Max-n", pkg: pointsRoom,
		run: "TestPromiseIsBounded",
	},
	{
		about: "points are good at the instant of their expiry", file: "server/loyalty/points/book.go",
		old: "!at.IsZero() && !at.After(now)", new: "!at.IsZero() && at.Before(now)", pkg: pointsRoom,
		run: "TestDue|TestBookAgainstModel",
	},
	{
		about: "what point_unspend gave back of a burn is given back again", file: "server/loyalty/points/book.go",
		old: "return min(Total(burn), b.Figures.Spent)", new: "return Total(burn)", pkg: pointsRoom, run: "TestRestor",
	},
	{
		about: "debt is not paid by what comes in", file: "server/loyalty/points/book.go",
		old: "b.move(event, Available, Debt, l, min(b.Figures.Debt, l.Remaining))", new: "_ = l", pkg: pointsRoom,
		run: "TestDebt|TestBookAgainstModel",
	},
	{
		about: "more is drawn than can be spent", file: "server/loyalty/points/book.go",
		old: "if n > b.Figures.Spendable() {\n\t\treturn nil, ErrInsufficient",
		new: "if n > b.Figures.Score {\n\t\treturn nil, ErrInsufficient", pkg: pointsRoom,
		run: "TestSpend|TestBookAgainstModel",
	},
	{
		about: "a payment of debt changes the balance", file: "server/loyalty/points/figures.go",
		old: "if p.From == Available || p.From == Debt {", new: "if p.From == Available {", pkg: actionRoom,
		run: stories("point_add|point_sub|merge"),
	},
	{
		about: "a month after 31 January is in March", file: "server/loyalty/points/expiry.go",
		old: "day := min(t.Day(), daysIn(year, month)) + p.Days", new: "day := t.Day() + p.Days",
		pkg: pointsRoom, run: "TestPeriod",
	},
	{
		about: "a lot that changes hands has again what had been taken of it", file: "server/loyalty/points/transfer.go",
		old: "b.move(event, Available, Issued, &lot, l.Gone())", new: "_ = event", pkg: pointsRoom, run: "TestInherit",
	},
	{
		about: "half a point is rounded down", file: "server/loyalty/money/money.go",
		old: "GreaterThanOrEqual(b.Abs())", new: "GreaterThan(b.Abs())", pkg: "server/loyalty/money", run: ".",
	},
}

// rules are mutants of the engine: the handling of one submission, and of a batch.
var rules = []mutant{
	{
		about: "the state of a customer is no gate", file: "server/loyalty/engine/gates.go",
		old: "if err := t.standing(r); err != nil {\n\t\treturn err\n\t}", new: "_ = t.standing(r)", pkg: actionRoom,
		run: stories("point_spend|suspend|opt_out"),
	},
	{
		about: "a suspended customer spends", file: "server/loyalty/engine/activity.go",
		old: "case status == loyalty.Suspended && needs == Spender:",
		new: "case status == loyalty.Suspended && needs == Anyone:", pkg: actionRoom, run: stories("point_spend|suspend"),
	},
	{
		about: "an event tells the opposite of what it did to the balance", file: "server/loyalty/engine/decide.go",
		old: "w.events[at].Change += p.Change()", new: "w.events[at].Change -= p.Change()", pkg: actionRoom,
		run: stories("point_add|point_spend"),
	},
	{
		about: "names that a submission claims are not written", file: "server/loyalty/engine/decide.go",
		old: "b.writes.Claims = append(b.writes.Claims, w.claims...)", new: "", pkg: actionRoom,
		run: stories("opt_in|checkout"),
	},
	{
		about: "holds of a merged customer are lost", file: "server/loyalty/engine/merge.go",
		old: "\ttakeHolds(r, s)\n", new: "", pkg: actionRoom, run: stories("merge"),
	},
	{
		about: "who was merged before stays two steps away", file: "server/loyalty/engine/merge.go",
		old: "return adopt(r, s)", new: "return nil", pkg: actionRoom, run: stories("merge"),
	},
	{
		about: "a customer is merged into themselves", file: "server/loyalty/engine/merge.go",
		old: "case s == r:", new: "case s == nil:", pkg: actionRoom, run: stories("merge"),
	},
	{
		about: "a removed progress is due for ever", file: "server/loyalty/engine/account.go",
		old: "\t\tif s.Data != nil {\n\t\t\tdue = loyalty.Earlier(due, s.DueAt)\n\t\t}",
		new: "\t\tdue = loyalty.Earlier(due, s.DueAt)", pkg: actionRoom, run: stories("pending_validate|tiers"),
		same: "a removed progress has no date: SetProgress sets one only with data, and a merge leaves an empty row",
	},
	{
		about: "background work rests although there is no crowd", file: "server/loyalty/engine/traffic/background.go",
		old: "if !crowded || took < most || err != nil {", new: "if took < most || err != nil {",
		pkg: "server/loyalty/engine/traffic", run: "TestInBackground",
	},
	{
		about: "a rest behind a piece of work is as long as it may be", file: "server/loyalty/engine/traffic/background.go",
		old: "min(restFor*time.Since(began), longestRest)", new: "max(restFor*time.Since(began), longestRest)",
		pkg: "server/loyalty/engine/traffic", run: "TestInBackground",
	},
	{
		about: "a crowd leaves pieces of work as large as they are", file: "server/loyalty/engine/traffic/background.go",
		old: "\tif crowded {\n\t\tmost = fewAtOnce\n\t}\n", new: "", pkg: "server/loyalty/engine/traffic", run: "TestInBackground",
	},
	{
		about: "rules may trigger each other once more", file: "server/loyalty/engine/reactions.go",
		old: "round == maxRounds", new: "round > maxRounds", pkg: "server/loyalty/histories", run: "TestHistorySeeds",
	},
}
