package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
	"github.com/loyalty-platform/loyalty/signing"
)

// New wires the documents' operations and the middlewares. It fails with one line that names the invalid setting, or if
// the contract is broken.
func New(o Options) (*Server, error) {
	if o.SigningDebug && (!isLoopback(o.Listen) || len(o.TrustedProxies) > 0) {
		return nil, fmt.Errorf("signing.debug is for development only: "+
			"it needs a loopback address to listen on, not %q, and no proxy", o.Listen)
	}

	trusted, err := parseProxies(o.TrustedProxies)
	if err != nil {
		return nil, err
	}

	s := &Server{
		listen: o.Listen, region: o.Region, engine: o.Engine, directory: o.Directory,
		admin: o.Admin, reader: o.Reader, feed: o.Feed, exports: o.Exports, imports: o.Imports,
		webhooks: o.Webhooks, messages: o.Messages,
		boards: o.Leaderboard, jobs: o.Jobs, jobWait: cmp.Or(o.JobWait, administration.DefaultJobWait),
		statistics: o.Statistics,
		vocabulary: o.Vocabulary, catalogue: o.Catalogue, limiter: o.Limiter,
		ready: o.Ready, status: o.Status, logger: o.Logger, clock: o.Clock,
		publicHosts: o.PublicHosts, proxies: trusted, debug: o.SigningDebug,
		signatures: o.ReplayGuard, observer: o.Observer, tracer: o.Tracer, portal: o.Portal, consoleOn: o.ConsoleOn,
	}

	s.stopping = make(chan struct{})
	s.stop = sync.OnceFunc(func() { close(s.stopping) })
	s.fill(o)
	scheme := signing.Default(o.Region)
	scheme.Now = s.clock
	s.verifier.scheme = scheme
	if _, err := s.verifier.at(signing.DefaultWindow); err != nil {
		return nil, err
	}

	s.algorithm = scheme.AlgorithmPrefix + "-HMAC-SHA256"
	if err := s.wire(); err != nil || o.Console == nil {
		return s, err
	}

	s.console, err = o.Console(s.handler, s.proxies.peer)
	return s, err
}

// fill sets the defaults of optional values.
func (s *Server) fill(o Options) {
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.limiter == nil {
		s.limiter = ratelimit.NewMemory(s.clock)
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.ready == nil {
		s.ready = func(context.Context) error { return nil }
	}
	if s.status == nil {
		s.status = func() []Figure { return nil }
	}

	s.system = administration.NewSystemLook(o.System, s.clock)
	s.pace = administration.NewPace(s.clock)
	s.failures = &administration.FailureLog{Admin: s.admin, Logger: s.logger, Clock: s.clock}
	s.bodies = api.NewBodyMemory(cmp.Or(o.BodyMemory, api.DefaultBodyMemory))
}

// ginOnce sets gin's globals: it is silent, keeps numbers as written, and has no validator of its own, because the
// contract is checked before.
var ginOnce = sync.OnceFunc(func() {
	gin.SetMode(gin.ReleaseMode)
	gin.DefaultWriter, gin.DefaultErrorWriter = io.Discard, io.Discard
	binding.EnableDecoderUseNumber = true
	binding.Validator = nil
})

// wire builds the router: the middlewares of every request, then those of signed requests, then the operations.
func (s *Server) wire() error {
	ginOnce()
	documents, err := contract.Documents()
	if err != nil {
		return err
	}
	if s.operations, err = api.OperationsOf(documents); err != nil {
		return err
	}
	if err := s.useGates(); err != nil {
		return err
	}

	s.failures.Names = administration.NamesOf(documents)
	s.useDeclarations()
	if s.entities, err = contract.EntitiesOf(documents); err != nil {
		return err
	}

	g := gin.New()
	// Without it a cancelled request would not end its queries.
	g.ContextWithFallback = true
	g.UseRawPath, g.UnescapePathValues = true, false // see decodePath
	g.HandleMethodNotAllowed, g.RedirectTrailingSlash = true, false
	g.ForwardedByClientIP = false

	g.Use(s.identify, s.log, speak)
	s.publish(g, documents)
	chain := []gin.HandlerFunc{
		readable, decodePath, s.claim, s.readBody, s.bound, s.verify, s.limitRate,
		s.authorize, s.guard, s.readQuery, s.takeTurn, consent(s.clock, s.fail),
		refusePersonalRules(s.programme, s.vocabulary, s.fail), func(c *gin.Context) { askQuestion(s, c) },
	}

	g.NoRoute(append(chain[:len(chain):len(chain)], func(c *gin.Context) { s.fail(c, api.ErrPathNotFound) })...)
	g.NoMethod(append(chain[:len(chain):len(chain)], func(c *gin.Context) {
		c.Header("Allow", strings.Join(s.served.verbs(c.Request.URL.EscapedPath()), ", "))
		s.fail(c, api.ErrMethod.With("method", method(c.Request)))
	})...)

	s.register(g.Group("", chain...))
	s.served = servedBy(g.Routes())
	s.handler = g
	return s.complete(g)
}

// useGates gives gates to the operations whose bodies take long to read and to decide. Operations that only read share
// one, which keys without the right to change anything can use. A customer may have any number of lots, so a few
// readers of old balances could take much memory and delay events.
func (s *Server) useGates() error {
	s.large = api.NewGate(api.LargeAtOnce(), api.LargeWaiting)
	previews, light := api.NewGate(api.PreviewsAtOnce(), api.PreviewsWaiting),
		api.NewGate(api.LightAtOnce(), api.LightWaiting)
	statements := api.NewGate(api.PreviewsAtOnce(), api.TotalsWaiting)
	lights := map[*api.Gate]*api.Gate{previews: light, statements: api.NewGate(api.LightAtOnce(), api.LightWaiting)}
	gates := map[string]*api.Gate{
		"previewEvent": previews, "previewCampaigns": previews, "quoteOffers": previews,
		"submitEvents":  api.NewGate(api.BulksAtOnce, api.BulksWaiting),
		"addImportFile": api.NewGate(api.PartsAtOnce, api.PartsWaiting), "getCustomerPoints": statements,
	}

	for _, o := range s.operations {
		name := o.Route.Operation.OperationID
		o.Turns = gates[name]
		o.Light = lights[o.Turns]
		delete(gates, name)
	}

	for name := range gates {
		return fmt.Errorf("the contract has no operation %s, which takes turns", name)
	}

	return nil
}

// useDeclarations tells all readers of events what the programme in force declares.
func (s *Server) useDeclarations() {
	s.vocabulary.UseDeclarations(func(action string) json.RawMessage {
		return s.programme().Declared(action)
	})
	for _, o := range s.operations {
		if o.FromTree {
			s.vocabulary.Extend(o.Body)
		}
	}
}

// complete refuses to start if an operation of the contract has no route.
func (s *Server) complete(g *gin.Engine) error {
	routes := map[api.RouteKey]bool{}
	for _, r := range g.Routes() {
		routes[api.RouteKey{Method: r.Method, Path: r.Path}] = true
	}
	for key := range s.operations {
		if !routes[key] {
			return fmt.Errorf("%s %s is in the contract and has no handler", key.Method, key.Path)
		}
	}
	return nil
}
