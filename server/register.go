package server

import (
	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/automationcampaigns"
	"github.com/loyalty-platform/loyalty/gen/coupon"
	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/gen/entities"
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/gen/leaderboard"
	"github.com/loyalty-platform/loyalty/gen/levels"
	"github.com/loyalty-platform/loyalty/gen/loyaltyread"
	"github.com/loyalty-platform/loyalty/gen/offers"
	"github.com/loyalty-platform/loyalty/gen/rewards"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// register adds the operations. Each failure before and after a handler ends in fail; a failure of the handler goes
// through refused.
func (s *Server) register(g gin.IRouter) {
	h, on := s.handlers(), events.Failures{
		Malformed: func(c *gin.Context, err error) { s.fail(c, api.ErrTargetMalformed.Because(err)) },
		Body: func(c *gin.Context, err error) {
			s.fail(c, loyalty.ErrPropertyInvalid.With("property", "body").With("reason", "schema").Because(err))
		},
		Refused: s.refused,
		Broken:  s.fail,
	}

	events.Serve(g, &h.events, on)
	automationcampaigns.Serve(g, &h.campaigns, on)
	coupon.Serve(g, &h.coupon, on)
	display.Serve(g, &h.display, on)
	rewards.Serve(g, &h.rewards, on)
	entities.Serve(g, &h.entities, on)
	customers.Serve(g, &h.customers, on)
	leaderboard.Serve(g, &h.leaderboard, on)
	levels.Serve(g, &h.levels, on)
	administration.Serve(g, &h.administration, on)
	loyaltyread.Serve(g, &h.loyaltyRead, on)
	offers.Serve(g, &h.offers, on)
}
