package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/leaderboard"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
)

// Options are the parts of a server. A field that is not marked optional is required.
type Options struct {
	// Listen is the address to serve on, host:port.
	Listen string
	// Region is the region of the credential scope.
	Region string

	Engine    api.Engine
	Directory *admin.Directory
	Admin     *admin.Admin
	Reader    loyalty.Reader
	Feed      loyalty.FeedReader
	Exports   loyalty.ExportReader
	Imports   loyalty.UploadStore
	Jobs      api.Jobs
	// Webhooks changes webhooks, Messages renders their messages.
	Webhooks *admin.Webhooks
	Messages *administration.WebhookMessages
	// System examines the installation.
	System func(ctx context.Context) (*administration.System, error)
	// Leaderboard ranks customers.
	Leaderboard *leaderboard.Leaderboard
	// Statistics counts events by day.
	Statistics *statistics.Statistics
	Vocabulary *contract.Vocabulary
	Catalogue  *i18n.Catalogue
	// Limiter counts requests by key; optional: in memory on this node.
	Limiter ratelimit.Limiter
	// BodyMemory bounds the memory for the bodies of all requests, in bytes; 0: DefaultBodyMemory.
	BodyMemory int64

	// JobWait is how long a caller that starts a job waits for its end; 0: 5 s.
	JobWait time.Duration

	// Ready returns why the server cannot serve now; optional. The reason of a NotReady error is
	// shown to the caller.
	Ready func(ctx context.Context) error
	// Status returns the figures that /readyz shows; optional.
	Status func() []Figure
	// Logger takes the log lines; optional: without it they are dropped.
	Logger *slog.Logger
	// Portal answers /, /docs and the paths below, without a signature; optional: without it nothing does.
	Portal http.Handler
	// Observer receives each request; optional.
	Observer api.Observer
	// Tracer traces each request; optional.
	Tracer api.Tracer
	// Console makes the handler of /console/ from this server's own handler and a function that
	// identifies the peer; nil means that there is no console.
	Console func(api http.Handler, peer func(*http.Request) (source netip.Addr, secure bool)) (http.Handler, error)
	// ConsoleOn is a listener for the console only. It also serves what the console's pages read: the documents and the
	// portal. nil means that the console is served beside the API.
	ConsoleOn net.Listener
	// Clock is optional: time.Now.
	Clock func() time.Time

	// PublicHosts are further host names under which clients sign; optional.
	PublicHosts []string
	// TrustedProxies are the addresses and networks whose X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Port and
	// X-Request-Id are believed; optional.
	TrustedProxies []string
	// ReplayGuard stores the signatures of writes, so that a signed request that is sent twice is refused (409); nil
	// means no check.
	ReplayGuard loyalty.SignatureStore
	// SigningDebug makes a 401 show what the server tried to match. New refuses it unless Listen is a loopback address.
	SigningDebug bool
}

// NotReady is the reason why requests cannot be served now, in words for the public: it names no address and no secret.
// The wrapped error is for the log.
type NotReady struct {
	Reason string
	Err    error
}

func (e *NotReady) Error() string { return fmt.Sprintf("%s: %v", e.Reason, e.Err) }

// Unwrap returns the cause.
func (e *NotReady) Unwrap() error { return e.Err }

// Figure is one figure of a node's state, such as the error of its clock.
type Figure struct {
	Name  string
	Value int64
}
