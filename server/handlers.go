package server

import (
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/api/campaigns"
	"github.com/loyalty-platform/loyalty/server/api/coupon"
	"github.com/loyalty-platform/loyalty/server/api/customers"
	"github.com/loyalty-platform/loyalty/server/api/display"
	"github.com/loyalty-platform/loyalty/server/api/entities"
	"github.com/loyalty-platform/loyalty/server/api/events"
	"github.com/loyalty-platform/loyalty/server/api/leaderboard"
	"github.com/loyalty-platform/loyalty/server/api/levels"
	"github.com/loyalty-platform/loyalty/server/api/loyaltyread"
	"github.com/loyalty-platform/loyalty/server/api/offers"
	"github.com/loyalty-platform/loyalty/server/api/rewards"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// handlers are the objects that answer the APIs of the contract, one each.
type handlers struct {
	administration administration.API
	campaigns      campaigns.API
	coupon         coupon.API
	customers      customers.API
	display        display.API
	entities       entities.API
	events         events.API
	leaderboard    leaderboard.API
	levels         levels.API
	loyaltyRead    loyaltyread.API
	offers         offers.API
	rewards        rewards.API
}

// handlers gives each API only what it reads and writes with.
func (s *Server) handlers() *handlers {
	programme, clock := s.programme, s.clock
	reader := api.CustomerReader{Reader: s.reader, Engine: s.engine, Clock: clock}
	journal := api.JournalReader{Reader: s.reader, Customers: reader, Clock: clock}
	coupons := api.CouponReader{Reader: s.reader, Customers: reader, Clock: clock}
	submits := api.Submitter{Engine: s.engine, Customers: reader}
	bulk := api.BulkOperations{Admin: s.admin, Reader: s.reader, Jobs: s.jobs, Clock: clock}
	changes := api.EntityChanges{Programme: programme, Schemas: s.entities, Vocabulary: s.vocabulary}
	exports := api.Exports{Reader: s.exports, Directory: s.directory,
		Stopping: s.stopping, Streams: api.NewGate(api.ExportsOpen, 0), Logger: s.logger}
	h := &handlers{
		administration: administration.API{
			Admin: s.admin, Jobs: s.jobs, Failures: s.failures, Pace: s.pace,
			Vocabulary: s.vocabulary, Entities: s.entities, Logger: s.logger,
			OpenTo: func(r *api.Request) []string { return openTo(s.operations, r) }, Users: admin.UsersOf(s.admin),
			Reader: s.reader, Webhooks: s.webhooks, Messages: s.messages, Programme: programme,
			Clock: clock, Region: s.region, JobWait: s.jobWait, Totals: api.NewGate(api.TotalsAtOnce, api.TotalsWaiting),
			Exports:    exports,
			Imports:    administration.ImportsAPI{Store: s.imports, Bulk: bulk},
			Statistics: s.statistics, System: s.system,
		},
		campaigns: campaigns.API{
			Engine: s.engine, Admin: s.admin, Reader: s.reader, Jobs: s.jobs, Vocabulary: s.vocabulary, Bulk: bulk,
			Programme: programme, Clock: clock,
		},
		coupon: coupon.API{Admin: s.admin, Reader: s.reader, Coupons: coupons,
			Bulk: bulk, Changes: changes, Programme: programme, Clock: clock},
		customers: customers.API{Reader: s.reader, Customers: reader, Submitter: submits,
			Bulk: bulk, Admin: s.admin, Exports: exports, Programme: programme, Clock: clock},
		display: display.API{
			Admin: s.admin, Reader: s.reader, Customers: reader, Journal: journal, Coupons: coupons, Submitter: submits,
			Programme: programme, Clock: clock,
		},
		entities: entities.API{
			Engine: s.engine, Admin: s.admin, Reader: s.reader, Vocabulary: s.vocabulary, Customers: reader, Journal: journal,
			Changes: changes, Records: entities.EntityRecords{Schemas: s.entities, Clock: clock},
			CustomerFields: api.FieldsNamed(s.operations, "listCustomers"), Programme: programme, Clock: clock,
		},
		events: events.API{
			Engine: s.engine, Vocabulary: s.vocabulary, Programme: programme,
			Charge: s.chargeBulk, Refused: s.failures.Refuse,
			Feed: events.FeedAPI{
				Reader: s.feed, Directory: s.directory, Programme: programme,
				Clock: clock, Head: events.NewFeedHead(s.feed), Stopping: s.stopping,
				Reads: api.NewGate(events.FeedsAtOnce, events.FeedsWaiting), Streams: api.NewGate(events.StreamsOpen, 0),
			},
		},
		leaderboard: leaderboard.API{Boards: s.boards, Customers: reader, Programme: programme, Clock: clock},
		levels: levels.API{Reader: s.reader, Customers: reader,
			Submitter: submits, Programme: programme, Clock: clock, Now: s.engine.Now},
		loyaltyRead: loyaltyread.API{Reader: s.reader, Customers: reader, Journal: journal, Coupons: coupons, Clock: clock},
		offers:      offers.API{Reader: s.reader, Customers: reader, Programme: programme, Clock: clock},
		rewards: rewards.API{Reader: s.reader, Customers: reader,
			Submitter: submits, Bulk: bulk, Programme: programme, Clock: clock},
	}

	a := &h.administration
	a.Liabilities.Read, a.Proofs.Read = a.Liability, a.Prove
	return h
}
