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
	bad := func(c *gin.Context, err error) {
		s.fail(c, loyalty.ErrPropertyInvalid.With("property", "body").With("reason", "schema").Because(err))
	}
	binder := func(c *gin.Context, err error, _ int) {
		s.fail(c, api.ErrTargetMalformed.Because(err))
	}
	h := s.handlers()
	events.RegisterHandlersWithOptions(g, events.NewStrictHandlerWithOptions(&h.events, nil, events.StrictGinServerOptions{
		RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
	}), events.GinServerOptions{ErrorHandler: binder})
	automationcampaigns.RegisterHandlersWithOptions(g,
		automationcampaigns.NewStrictHandlerWithOptions(&h.campaigns, nil, automationcampaigns.StrictGinServerOptions{
			RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
		}), automationcampaigns.GinServerOptions{ErrorHandler: binder})
	coupon.RegisterHandlersWithOptions(g, coupon.NewStrictHandlerWithOptions(&h.coupon, nil, coupon.StrictGinServerOptions{
		RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
	}), coupon.GinServerOptions{ErrorHandler: binder})
	display.RegisterHandlersWithOptions(g,
		display.NewStrictHandlerWithOptions(&h.display, nil, display.StrictGinServerOptions{
			RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
		}), display.GinServerOptions{ErrorHandler: binder})
	rewards.RegisterHandlersWithOptions(g,
		rewards.NewStrictHandlerWithOptions(&h.rewards, nil, rewards.StrictGinServerOptions{
			RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
		}), rewards.GinServerOptions{ErrorHandler: binder})
	entities.RegisterHandlersWithOptions(g,
		entities.NewStrictHandlerWithOptions(&h.entities, nil, entities.StrictGinServerOptions{
			RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
		}), entities.GinServerOptions{ErrorHandler: binder})
	customers.RegisterHandlersWithOptions(g,
		customers.NewStrictHandlerWithOptions(&h.customers, nil, customers.StrictGinServerOptions{
			RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
		}), customers.GinServerOptions{ErrorHandler: binder})
	leaderboard.RegisterHandlersWithOptions(g,
		leaderboard.NewStrictHandlerWithOptions(&h.leaderboard, nil, leaderboard.StrictGinServerOptions{
			RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
		}), leaderboard.GinServerOptions{ErrorHandler: binder})
	levels.RegisterHandlersWithOptions(g, levels.NewStrictHandlerWithOptions(&h.levels, nil, levels.StrictGinServerOptions{
		RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
	}), levels.GinServerOptions{ErrorHandler: binder})
	administration.RegisterHandlersWithOptions(g,
		administration.NewStrictHandlerWithOptions(&h.administration, nil, administration.StrictGinServerOptions{
			RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
		}), administration.GinServerOptions{ErrorHandler: binder})
	loyaltyread.RegisterHandlersWithOptions(g,
		loyaltyread.NewStrictHandlerWithOptions(&h.loyaltyRead, nil, loyaltyread.StrictGinServerOptions{
			RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
		}), loyaltyread.GinServerOptions{ErrorHandler: binder})

	offers.RegisterHandlersWithOptions(g, offers.NewStrictHandlerWithOptions(&h.offers, nil, offers.StrictGinServerOptions{
		RequestErrorHandlerFunc: bad, HandlerErrorFunc: s.refused, ResponseErrorHandlerFunc: s.fail,
	}), offers.GinServerOptions{ErrorHandler: binder})
}
