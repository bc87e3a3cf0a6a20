// Package server is the HTTP side of the loyalty platform, and nothing else: it
// turns signed requests into calls of the rules in package loyalty and their
// outcomes into answers. It is the only importer of gin.
package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/limit"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/signing"
)

// Engine submits events: *loyalty.Engine.
type Engine interface {
	Submit(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, error)
	SubmitEach(ctx context.Context, all []loyalty.Submission, told func(int, loyalty.Result))
	Preview(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, error)
	PreviewPurchase(ctx context.Context, s loyalty.Submission) (loyalty.PurchasePreview, error)
	Settle(ctx context.Context, customer loyalty.ID) error
	View(ctx context.Context, n loyalty.CustomerNeeds, look func(*loyalty.Run) error) error
}

// Options are what a server is made of. What is not marked optional is needed.
type Options struct {
	// Listen is the address to serve on, host:port.
	Listen string
	// Region is the region of the credential scope.
	Region string

	Engine    Engine
	Directory *loyalty.Directory
	Admin     *loyalty.Admin
	Reader    loyalty.Reader
	Jobs      Jobs
	// Leaderboard ranks customers.
	Leaderboard *loyalty.Leaderboard
	Vocabulary  *contract.Vocabulary
	Catalogue   *i18n.Catalogue
	// Limiter counts requests by key; optional: in memory on this node.
	Limiter limit.Limiter
	// BodyMemory bounds what the bodies of all requests take together, in bytes;
	// 0: DefaultBodyMemory.
	BodyMemory int64

	// JobWait is how long a caller who starts a job waits for its end; 0: 5 s.
	JobWait time.Duration

	// Ready says why the server cannot serve now; optional. Of an error that is a
	// NotReady the reason is shown to whoever asks.
	Ready func(ctx context.Context) error
	// Status gives figures for who asks whether the server is ready; optional.
	Status func() []Figure
	// Logger takes the log lines; optional: they are dropped.
	Logger *slog.Logger
	// Clock is optional: time.Now.
	Clock func() time.Time

	// PublicHosts are further host names under which clients sign; optional.
	PublicHosts []string
	// TrustedProxies are the addresses and networks whose X-Forwarded-For,
	// X-Forwarded-Host and X-Request-Id are believed; optional.
	TrustedProxies []string
	// ReplayGuard keeps the signatures of writes, so that one which was signed once
	// and is sent twice is refused (409); nil: they are not looked at.
	ReplayGuard loyalty.SignatureStore
	// SigningDebug makes a 401 show what the server tried to match. It is
	// refused unless Listen is a loopback address.
	SigningDebug bool
}

// Server is the HTTP side, ready to serve.
type Server struct {
	listen      string
	region      string
	engine      Engine
	directory   *loyalty.Directory
	admin       *loyalty.Admin
	reader      loyalty.Reader
	jobs        Jobs
	boards      *loyalty.Leaderboard
	jobWait     time.Duration
	vocabulary  *contract.Vocabulary
	catalogue   *i18n.Catalogue
	limiter     limit.Limiter
	ready       func(context.Context) error
	status      func() []Figure
	logger      *slog.Logger
	clock       func() time.Time
	publicHosts []string
	proxies     proxies
	signatures  loyalty.SignatureStore // nil: the replay guard is off
	debug       bool
	bodies      *bodyMemory
	exhausted   sync.Map // by key id: exhaustion

	verifier   verifier
	algorithm  string
	operations map[routeKey]*operation
	entities   *contract.Entities
	failures   *failureLog
	verifying  chan struct{} // holds one verification of the ledger at a time
	served     served
	previews   *gate
	bulks      *gate
	handler    http.Handler
}

// New wires the documents' operations and the middlewares. It fails with one
// line that names the setting it cannot use, or when the contract is broken.
func New(o Options) (*Server, error) {
	if o.SigningDebug && (!isLoopback(o.Listen) || len(o.TrustedProxies) > 0) {
		return nil, fmt.Errorf("signing.debug is for development only: it needs a loopback address to listen on, not %q, and no proxy", o.Listen)
	}
	trusted, err := parseProxies(o.TrustedProxies)
	if err != nil {
		return nil, err
	}
	s := &Server{
		listen: o.Listen, region: o.Region, engine: o.Engine, directory: o.Directory, admin: o.Admin, reader: o.Reader,
		boards: o.Leaderboard, jobs: o.Jobs, jobWait: cmp.Or(o.JobWait, defaultJobWait),
		vocabulary: o.Vocabulary, catalogue: o.Catalogue, limiter: o.Limiter,
		ready: o.Ready, status: o.Status, logger: o.Logger, clock: o.Clock, publicHosts: o.PublicHosts, proxies: trusted, debug: o.SigningDebug,
		signatures: o.ReplayGuard,
	}
	s.fill(o)
	scheme := signing.Default(o.Region)
	scheme.Now = s.clock
	s.verifier.scheme = scheme
	if _, err := s.verifier.at(signing.DefaultWindow); err != nil {
		return nil, err
	}
	s.algorithm = scheme.AlgorithmPrefix + "-HMAC-SHA256"
	return s, s.wire()
}

// fill puts defaults in the place of what is optional.
func (s *Server) fill(o Options) {
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.limiter == nil {
		s.limiter = limit.NewMemory(s.clock)
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
	s.failures = &failureLog{admin: s.admin, logger: s.logger, clock: s.clock}
	s.bodies = newBodyMemory(cmp.Or(o.BodyMemory, DefaultBodyMemory))
	s.verifying = make(chan struct{}, 1)
	s.previews, s.bulks = newGate(previewsAtOnce, previewsWaiting), newGate(bulksAtOnce, bulksWaiting)
}

// programme is the configuration in force.
func (s *Server) programme() *loyalty.Programme { return s.directory.Programme() }

// ginOnce sets gin's globals: it is silent, keeps numbers as they were written,
// and has no validator of its own, because the contract was checked before.
var ginOnce = sync.OnceFunc(func() {
	gin.SetMode(gin.ReleaseMode)
	gin.DefaultWriter, gin.DefaultErrorWriter = io.Discard, io.Discard
	binding.EnableDecoderUseNumber = true
	binding.Validator = nil
})

// wire makes the engine: what holds for every request, then what holds for
// signed ones, then the operations.
func (s *Server) wire() error {
	ginOnce()
	documents, err := contract.Documents()
	if err != nil {
		return err
	}
	if s.operations, err = operationsOf(documents); err != nil {
		return err
	}
	s.failures.names = namesOf(documents)
	s.useDeclarations()
	if s.entities, err = contract.EntitiesOf(documents); err != nil {
		return err
	}
	g := gin.New()
	// Without it a request that was given up would not end its queries.
	g.ContextWithFallback = true
	g.UseRawPath, g.UnescapePathValues = true, false // see decodePath
	g.HandleMethodNotAllowed, g.RedirectTrailingSlash = true, false
	g.ForwardedByClientIP = false

	g.Use(s.identify, s.log, s.speak)
	if err := s.publish(g, documents); err != nil {
		return err
	}
	chain := []gin.HandlerFunc{
		s.readable, s.decodePath, s.claim, s.readBody, s.bound, s.verify, s.limitRate, s.authorize, s.guard, s.readQuery, s.validate,
	}
	g.NoRoute(append(chain[:len(chain):len(chain)], func(c *gin.Context) { s.fail(c, errPathNotFound) })...)
	g.NoMethod(append(chain[:len(chain):len(chain)], func(c *gin.Context) {
		c.Header("Allow", strings.Join(s.served.verbs(c.Request.URL.EscapedPath()), ", "))
		s.fail(c, errMethod.with("method", method(c.Request)))
	})...)
	s.register(g.Group("", chain...))
	s.served = servedBy(g.Routes())
	s.handler = g
	return s.complete(g)
}

// useDeclarations lets everything that reads events know what the programme in
// force declares.
func (s *Server) useDeclarations() {
	s.vocabulary.UseDeclarations(func(action string) json.RawMessage {
		return s.programme().Declared(action)
	})
	for _, o := range s.operations {
		if o.fromTree {
			s.vocabulary.Extend(o.body)
		}
	}
}

// waitTime bounds what a request waits for, so that a database that says nothing
// does not hold on to callers. A bulk has longer, and so has an operation whose body
// may be large: what of a bulk was not begun by then is refused, event by event.
const (
	waitTime = 10 * time.Second
	bulkTime = 60 * time.Second
)

// bound gives a request its deadline. It ends when its caller goes away, too.
func (s *Server) bound(c *gin.Context) {
	wait := waitTime
	if o := s.operations[routeKey{c.Request.Method, c.FullPath()}]; o != nil && (o.bodyLimit > 0 || c.FullPath() == bulkPath) {
		wait = bulkTime
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), wait)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// complete refuses to start when an operation of the contract has no route.
func (s *Server) complete(g *gin.Engine) error {
	routes := map[routeKey]bool{}
	for _, r := range g.Routes() {
		routes[routeKey{r.Method, r.Path}] = true
	}
	for key := range s.operations {
		if !routes[key] {
			return fmt.Errorf("%s %s is in the contract and has no handler", key.method, key.path)
		}
	}
	return nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// How long a connection may take, so that a slow caller cannot hold one for
// ever. A bulk may need most of writeTimeout for its work.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 120 * time.Second
	idleTimeout   = 120 * time.Second
	maxHeader     = 32 << 10
)

// Run serves until ctx ends, then lets requests under way finish for grace at
// most. It fails when the address cannot be listened on.
func (s *Server) Run(ctx context.Context, grace time.Duration) error {
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	return s.Serve(ctx, l, grace)
}

// Serve is Run on a listener that is open already; it closes it.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := h.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("requests were still under way after %s: %w", grace, errors.Join(err, h.Close()))
	}
	s.failures.flush(last)
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// isLoopback says whether only this machine can reach a listen address.
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
