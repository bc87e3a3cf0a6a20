package main

// row is one line of the plan: what is tried, at full length, and by which tests.
type row struct {
	id      string
	what    string // the trial and its expected result
	targets []target
	missing string // why there is no test; empty if there is one
}

// target is some tests of one package.
type target struct {
	pkg  string
	run  string // pattern of go test
	race bool   // under the race detector
	fuzz bool   // run is a pattern of fuzz targets, each run for -execs
}

const (
	program = "./server/cmd/loyalty"
	jobs    = "./server/loyalty/job"
	random  = "./server/loyalty/histories"
	web     = "./server"
	store   = "./store"
)

// plan is the whole test plan, row by row. Figures are those of the full length, -scale 500.
var plan = []row{
	{id: "R1", what: "the program killed 500 times under load, both databases: 100,000 acknowledgements, 0 lost, 0 doubled",
		targets: []target{{pkg: program, run: "^TestFaultKill(OfACrowd)?$"}}},
	{id: "R2", what: "the postmaster killed 50 times under load: 0 lost, no request hangs",
		targets: []target{{pkg: program, run: "^TestFaultPostgresKilled$"}}},
	{id: "R3", what: "latency, cuts and silence between program and database, and Redis away: 0 lost, waiting is bounded",
		targets: []target{{pkg: program, run: "^TestFault(PostgresFrozen|PostgresSilentConnections|SQLiteLocked)$"},
			{pkg: store, run: "^Test(Lost.*|OutcomeUnknown|CancelledWhileWriting|ServerKilledAndBack|CommitRefused)$"},
			{pkg: "./server/ratelimit", run: "Redis"}}},
	{id: "R4", what: "a full disk: nothing acknowledged is lost, reads work, recovery without a restart",
		targets: []target{{pkg: program, run: "^TestFaultDiskFull$"}}},
	{id: "R5", what: "64 clients spend 3,200 times of 500 points, 50 times: exactly 500",
		targets: []target{{pkg: program, run: "^TestFaultDoubleSpend$"}}},
	{id: "R6", what: "200 purchases, each on 16 connections at once: one effect, equal answers; limited things; two nodes",
		targets: []target{{pkg: program, run: "^TestFault(SameTransaction|SameKey|LimitedThings.*|TwoNodes)$"}}},
	{id: "R7", what: "20,000 requests, each sent one to six times and cut off at random: one effect each",
		targets: []target{{pkg: program, run: "^TestFaultImpatientClients$"}}},
	{id: "R8", what: "200,000 histories of all actions against the plain model, 0 divergences",
		targets: []target{{pkg: random, run: "^Test(Histories|CouponHistories|TierFiguresOfHistories|Mischief)$"}}},
	{id: "R9", what: "100,000 due customers, four workers killed at work; a bulk over 100,000 customers and pools filled with 250,000 codes killed at it: 0 missed, 0 twice",
		targets: []target{{pkg: program, run: "^TestFault(Jobs|Bulk|PoolFill)$"}}},
	{id: "R10", what: "10,000 races each of acceptance, refund and burning against the jobs: one legal winner",
		targets: []target{{pkg: jobs, run: "^TestRace"}}},
	{id: "R11", what: "clocks that are wrong, and step: no entry lost, nothing due applied, nothing dated ahead of the database",
		targets: []target{{pkg: jobs, run: "^TestWrongClock"}, {pkg: program, run: "^TestFaultClock$"}}},
	{id: "R12", what: "20 backups of 20,000 events under load, each proven, the first and the last restored, both databases; p99 of others with and without",
		targets: []target{{pkg: program, run: "^TestBackupUnderLoad$"}}},
	{id: "R13", what: "migration of 100,000 members with 1,000,000 events, killed in the middle 8 times: rows and checksums equal, the schema this program's",
		targets: []target{{pkg: store, run: "Migrat"}, {pkg: program, run: "^TestMigrationIsKilled$"}}},
	{id: "R14", what: "a soak of 30 minutes with a fault each 2 minutes: memory, goroutines and descriptors flat",
		targets: []target{{pkg: program, run: "^TestFaultSoak$"}}},
	{id: "R15", what: "five times the capacity: no 5xx but 503, recovery",
		targets: []target{{pkg: program, run: "^TestFaultOverload$"}}},
	{id: "R16", what: "50 stops in good order under load, two nodes: no request fails behind a client that repeats",
		targets: []target{{pkg: program, run: "^TestFaultStop$"}}},
	{id: "R17", what: "the race detector and the search for leaked goroutines: make race",
		missing: "is a target of its own: make race"},
	{id: "R18", what: "every named crash point forced 20 times: 0 lost, 0 doubled, what was begun is finished",
		targets: []target{{pkg: program, run: "^TestFaultPoints$"}}},
	{id: "R19", what: "purchases of 5,000 lines, their updates and acceptances, a pool that is filled: what others wait for meanwhile, p50 and p99",
		targets: []target{{pkg: program, run: "^TestFaultNeighbours$"}}},
	{id: "W1", what: "the program killed 100 times while it sends to a webhook, both databases: every event arrives, in order per customer, twice only with the same id",
		targets: []target{{pkg: program, run: "^TestFaultWebhooks$"}}},
	{id: "W2", what: "an address comes back to 50,000 waiting deliveries, after four hours of which a clock tells: asked once a minute, nothing dead, drained in order",
		targets: []target{{pkg: program, run: "^TestFaultWebhookDrain$"}, {pkg: web, run: "^TestWebhookOutage$"}}},
	{id: "W3", what: "events at a steady pace, 500 a second on SQLite and 2,000 on PostgreSQL: how long after it was recorded one is in the feed",
		targets: []target{{pkg: program, run: "^TestFaultFeedLag$"}}},
	{id: "W4", what: "five pairs of events with ten webhooks at rest and at work, 64 connections: what they cost",
		targets: []target{{pkg: program, run: "^TestFaultWebhookCost$"}}},
	{id: "W5", what: "100,000 events, nodes killed 100 times with clocks 20 s apart, a reader of the feed killed at random: each once, in order per customer",
		targets: []target{{pkg: program, run: "^TestFaultFeed$"}}},
	{id: "W6", what: "20,000 customers to remind, the job killed at work: each reminder once",
		targets: []target{{pkg: program, run: "^TestFaultReminders$"}}},
	{id: "W7", what: "100,000 events to a receiver that fails 30 times in a hundred, closes connections, answers late; two nodes send: each arrives, in order per customer",
		targets: []target{{pkg: web, run: "^TestWebhookHostileReceiver$"}}},
	{id: "W8", what: "100,000 members with 300,000 lots taken over from files, killed ten times: each row once, the sums those of the files",
		targets: []target{{pkg: program, run: "^TestFaultImport$"}}},
	{id: "W9", what: "events over 64 connections: what part of the program's processor time goes into numbering them for the feed, five profiles of 20 s",
		targets: []target{{pkg: program, run: "^TestFaultNumberingCost$"}}},
	{id: "F1", what: "every parser of foreign bytes, 10,000,000 executions each: no crash, no hang",
		targets: []target{{pkg: "./...", run: "^Fuzz", fuzz: true}}},
	{id: "F2", what: "500 drawn requests for every operation and each documented refusal, both databases: no 5xx, nothing off its schema; the most codes of one call",
		targets: []target{{pkg: web, run: "^Test(ContractHonesty|DocumentedRefusals|FiftyThousandCodes)"}}},
	{id: "F3", what: "500 drawn requests for every operation, the same to both databases: the same answers",
		targets: []target{{pkg: web, run: "^TestDatabasesAnswerAlike$"}}},
	{id: "S1", what: "every operation with foreign ids, by every kind of key",
		targets: []target{{pkg: web, run: "^TestAuthorizationMatrix$"}}},
	{id: "S2", what: "2,000 mutations of signed requests: none accepted",
		targets: []target{{pkg: "./signing", run: "^Test(MutationsAreRefused|SignaturesDoNotTransfer)$"},
			{pkg: web, run: "Signature|Keys|Unsigned|Unknown"}}},
	{id: "S3", what: "the same signed write again, on another node, after a restart: no second effect",
		targets: []target{{pkg: web, run: "Replay"}}},
	{id: "S4", what: "read-only and unknown properties in every write: none written; secrets in no answer",
		targets: []target{{pkg: web, run: "Undeclared|Unknown|Secret"}}},
	{id: "S5", what: "heavy and hostile bodies, slow callers, many connections: refused, memory bounded",
		targets: []target{{pkg: web, run: "Bod(y|ies)|Heavy|Extreme|Hostile|Pages"},
			{pkg: "./server/loyalty/condition", run: "Hostile|Deep|Budget"}}},
	{id: "S6", what: "rate limits: exactly the limit, headers agree, other keys unaffected, nodes share",
		targets: []target{{pkg: "./server/ratelimit", run: "."}, {pkg: web, run: "RateLimit|Limit"}}},
	{id: "S7", what: "every filter, sort, search and path parameter with SQL in it: no error, no extra row",
		targets: []target{{pkg: web, run: "^TestInjection$"}}},
	{id: "S8", what: "rights of keys by operation",
		targets: []target{{pkg: web, run: "^TestAuthorizationMatrix$|Rights"}}},
	{id: "S9", what: "canaries in every text: none in logs, none after opt_out in answers or files",
		targets: []target{{pkg: web, run: "Canar|OptOut"}}},
	{id: "-", what: "100,000 events of all kinds folded anew; 100,000 walked while others are written; boards of 1,000,000",
		targets: []target{{pkg: random, run: "^TestRebuildOfEverything$"}, {pkg: web, run: "^TestWalkWhileWriting$"},
			{pkg: store, run: "^TestLeaderboard"}}},
}
