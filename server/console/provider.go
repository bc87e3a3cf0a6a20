package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// Outside is the sign-in by a company's OpenID Connect provider.
type Outside struct {
	Issuer, ClientID, ClientSecret string // the secret is empty for a public client
	Scopes                         []string
	Name                           string // its name for users
	Claim                          string // the claim whose values Mapping maps: a name, or a path with dots
	Mapping                        user.Mapping
	Accounts                       Accounts
}

// Accounts stores the users that a provider vouches for.
type Accounts interface {
	// FromOutside returns the user of an account, and creates one the first time.
	FromOutside(ctx context.Context, who user.Outside) (loyalty.User, error)
	// LinkOutside links an account of the provider with an existing user.
	LinkOutside(ctx context.Context, id loyalty.ID, who user.Outside) error
}

// Bounds of requests to a provider.
const (
	providerTime  = 10 * time.Second
	providerBytes = 1 << 20
	askAgain      = 5 * time.Second // after it could not be reached
)

// provider is the client of one provider. It reads the endpoints on first use, and again after a failure, so that the
// server's start does not wait for it.
type provider struct {
	Outside
	redirect string // where the provider sends the browser back to
	client   *http.Client

	mu     sync.Mutex
	found  *endpoints
	failed error
	asked  time.Time
}

// endpoints are a provider's description of itself.
type endpoints struct {
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	provider *oidc.Provider
	end      string // where users sign out of it; empty: nowhere
}

func newProvider(o Outside, url string) *provider {
	o.Scopes = append([]string{oidc.ScopeOpenID},
		slices.DeleteFunc(slices.Clone(o.Scopes), func(s string) bool { return s == oidc.ScopeOpenID })...)
	transport := &http.Transport{TLSHandshakeTimeout: providerTime, ResponseHeaderTimeout: providerTime, MaxIdleConns: 4,
		IdleConnTimeout: time.Minute}
	return &provider{Outside: o, redirect: url + root + "oidc/callback", client: &http.Client{
		Timeout: providerTime, Transport: short{transport},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 3 || r.URL.Scheme != via[0].URL.Scheme || r.URL.Host != via[0].URL.Host {
				return errors.New("the provider sends us elsewhere")
			}
			return nil
		},
	}}
}

// Discover reads a provider's description, as a sign-in would.
func Discover(ctx context.Context, issuer string) error {
	p := newProvider(Outside{Issuer: issuer}, "")
	defer p.client.CloseIdleConnections()
	_, err := p.discover(ctx)
	return err
}

// short cuts answers that are too long.
type short struct{ http.RoundTripper }

// RoundTrip sends a request once.
func (s short) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, providerBytes), resp.Body}
	}
	return resp, err
}

// known are the endpoints if they were found.
func (p *provider) known() *endpoints {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found
}

// find reads the endpoints of the provider once.
func (p *provider) find(ctx context.Context) (*endpoints, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if p.failed != nil && time.Since(p.asked) < askAgain {
		return nil, p.failed
	}
	p.found, p.failed = p.discover(context.WithoutCancel(ctx)) // other requests wait for it as well
	p.asked = time.Now()
	return p.found, p.failed
}

func (p *provider) discover(ctx context.Context) (*endpoints, error) {
	found, err := oidc.NewProvider(p.with(ctx), p.Issuer)
	if err != nil {
		return nil, fmt.Errorf("what %s says of itself: %w", p.Issuer, err)
	}

	var more struct {
		End     string   `json:"end_session_endpoint"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}

	if err := found.Claims(&more); err != nil {
		return nil, fmt.Errorf("what %s says of itself: %w", p.Issuer, err)
	}

	e := &endpoints{provider: found, end: more.End, verifier: found.Verifier(&oidc.Config{ClientID: p.ClientID})}
	e.oauth = oauth2.Config{ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: found.Endpoint(),
		RedirectURL: p.redirect, Scopes: p.Scopes}
	e.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if p.ClientSecret == "" || len(more.Methods) > 0 && !slices.Contains(more.Methods, "client_secret_basic") {
		e.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}

	return e, nil
}

func (p *provider) with(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client)
}
