package main

// answers are mutants of what the generated encoders call, and of masking.
var answers = []mutant{
	{
		about: "an encoder leaves declared attributes out", file: "gen/common/append.go",
		old: "\t\tb = appendAny(b, attributes[name])\n", new: "\t\tb = append(b, \"null\"...)\n",
		pkg: "server/api", run: "TestEncodersAreTheContracts",
	},
	{
		about: "an encoder writes an empty list as null", file: "gen/common/append.go",
		old: "\tif all == nil {\n", new: "\tif len(all) == 0 {\n",
		pkg: "server/api", run: "TestEncodersAreTheContracts",
	},
	{
		about: "a profile's first name is shown where no document describes it", file: "server/masker.go",
		old: "if !field.Shared {", new: "if field.Shared {", pkg: "server", run: "TestMasked|TestPersonalDataIsMasked",
	},
}
