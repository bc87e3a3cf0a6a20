// Package server is the HTTP side of the loyalty platform: it turns signed requests into calls of the rules in package
// loyalty, and their outcomes into answers. It is the only importer of gin.
package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
)

// Server is the HTTP side, ready to serve.
type Server struct {
	listen      string
	region      string
	engine      api.Engine
	directory   *admin.Directory
	admin       *admin.Admin
	reader      loyalty.Reader
	feed        loyalty.FeedReader
	exports     loyalty.ExportReader
	imports     loyalty.UploadStore
	webhooks    *admin.Webhooks
	messages    *administration.WebhookMessages
	jobs        api.Jobs
	boards      *leaderboard.Leaderboard
	statistics  *statistics.Statistics
	system      *administration.SystemLook
	jobWait     time.Duration
	vocabulary  *contract.Vocabulary
	catalogue   *i18n.Catalogue
	limiter     ratelimit.Limiter
	ready       func(context.Context) error
	status      func() []Figure
	logger      *slog.Logger
	clock       func() time.Time
	publicHosts []string
	proxies     proxies
	signatures  loyalty.SignatureStore // nil: the replay guard is off
	debug       bool
	observer    api.Observer // nil: no metrics
	tracer      api.Tracer   // nil: no tracing
	portal      http.Handler // nil: there is none
	bodies      *api.BodyMemory
	exhausted   sync.Map             // by key id: exhaustion
	wish        atomic.Pointer[wish] // the latest

	verifier   verifier
	algorithm  string
	operations map[api.RouteKey]*api.Operation
	entities   *contract.Entities
	failures   *administration.FailureLog
	pace       *administration.Pace
	served     served
	handler    http.Handler
	console    http.Handler  // nil: there is none
	consoleOn  net.Listener  // nil: the console is served beside the API
	large      *api.Gate     // of large bodies
	stopping   chan struct{} // closed when the server begins to stop
	stop       func()        // closes it
}

// programme is the configuration in force.
func (s *Server) programme() *programme.Programme { return s.directory.Programme() }
