package server

import "github.com/loyalty-platform/loyalty/server/loyalty/admin"

// handlers are the objects that answer the APIs of the contract, one each.
type handlers struct {
	administration administrationAPI
	campaigns      campaignsAPI
	coupon         couponAPI
	customers      customersAPI
	display        displayAPI
	entities       entitiesAPI
	events         eventsAPI
	leaderboard    leaderboardAPI
	levels         levelsAPI
	loyaltyRead    loyaltyReadAPI
	offers         offersAPI
	rewards        rewardsAPI
}

// handlers gives each API only what it reads and writes with.
func (s *Server) handlers() *handlers {
	programme, clock := s.programme, s.clock
	reader := customerReader{reader: s.reader, engine: s.engine, clock: clock}
	journal := journalReader{reader: s.reader, customers: reader, clock: clock}
	coupons := couponReader{reader: s.reader, customers: reader, clock: clock}
	submits := submitter{engine: s.engine, customers: reader}
	bulk := bulkOperations{admin: s.admin, reader: s.reader, jobs: s.jobs, clock: clock}
	changes := entityChanges{programme: programme, schemas: s.entities, vocabulary: s.vocabulary}
	exports := exportsAPI{reader: s.exports, directory: s.directory, stopping: s.stopping, streams: newGate(exportsOpen, 0), logger: s.logger}
	h := &handlers{
		administration: administrationAPI{
			admin: s.admin, jobs: s.jobs, failures: s.failures, pace: s.pace, vocabulary: s.vocabulary, entities: s.entities, logger: s.logger,
			openTo: func(r *request) []string { return openTo(s.operations, r) }, users: admin.UsersOf(s.admin),
			reader: s.reader, webhooks: s.webhooks, messages: s.messages, programme: programme,
			clock: clock, region: s.region, jobWait: s.jobWait, totals: newGate(totalsAtOnce, totalsWaiting),
			exports:    exports,
			imports:    importsAPI{store: s.imports, bulk: bulk},
			statistics: s.statistics, system: s.system,
		},
		campaigns: campaignsAPI{
			engine: s.engine, admin: s.admin, reader: s.reader, jobs: s.jobs, vocabulary: s.vocabulary, bulk: bulk,
			programme: programme, clock: clock,
		},
		coupon:    couponAPI{admin: s.admin, reader: s.reader, coupons: coupons, bulk: bulk, changes: changes, programme: programme, clock: clock},
		customers: customersAPI{reader: s.reader, customers: reader, submitter: submits, bulk: bulk, admin: s.admin, exports: exports, programme: programme, clock: clock},
		display: displayAPI{
			admin: s.admin, reader: s.reader, customers: reader, journal: journal, coupons: coupons, submitter: submits,
			programme: programme, clock: clock,
		},
		entities: entitiesAPI{
			engine: s.engine, admin: s.admin, reader: s.reader, vocabulary: s.vocabulary, customers: reader, journal: journal,
			changes: changes, records: entityRecords{schemas: s.entities, clock: clock}, customerFields: fieldsNamed(s.operations, "listCustomers"), programme: programme, clock: clock,
		},
		events: eventsAPI{
			engine: s.engine, vocabulary: s.vocabulary, programme: programme,
			charge: s.chargeBulk, refused: s.failures.refuse,
			feed: feedAPI{
				reader: s.feed, directory: s.directory, programme: programme, clock: clock, head: newFeedHead(s.feed), stopping: s.stopping,
				reads: newGate(feedsAtOnce, feedsWaiting), streams: newGate(streamsOpen, 0),
			},
		},
		leaderboard: leaderboardAPI{boards: s.boards, customers: reader, programme: programme, clock: clock},
		levels:      levelsAPI{reader: s.reader, customers: reader, submitter: submits, programme: programme, clock: clock, now: s.engine.Now},
		loyaltyRead: loyaltyReadAPI{reader: s.reader, customers: reader, journal: journal, coupons: coupons, clock: clock},
		offers:      offersAPI{reader: s.reader, customers: reader, programme: programme, clock: clock},
		rewards:     rewardsAPI{reader: s.reader, customers: reader, submitter: submits, bulk: bulk, programme: programme, clock: clock},
	}

	a := &h.administration
	a.liabilities.read, a.proofs.read = a.liability, a.prove
	return h
}
