package main

// answers are mutants of the hand-written encoders of the contract's types, and of masking.
var answers = []mutant{
	{
		about: "a page of coupons leaves the pool out", file: "server/api/page_answer.go",
		old: "\tb = appendTextAt(b, `,\"pool\":`, c.Pool)\n", new: "", pkg: "server/api", run: "TestPagesAreTheContracts",
	},
	{
		about: "a page of customers shows no links", file: "server/api/page_answer.go",
		old: "\treturn appendText(b, *link)\n", new: "\treturn append(b, \"null\"...)\n",
		pkg: "server/api", run: "TestPagesAreTheContracts",
	},
	{
		about: "a profile's first name is shown where no document describes it", file: "server/masker.go",
		old: "if !field.Shared {", new: "if field.Shared {", pkg: "server", run: "TestMasked|TestPersonalDataIsMasked",
	},
}
