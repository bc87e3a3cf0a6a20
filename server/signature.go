package server

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/signing"
)

// failuresPerMinute is how many failed signatures a source address may send. It never holds back good ones: other
// callers may use the same address.
const failuresPerMinute = 60

// claim makes every check of the signature that needs no body, so that a failing caller costs no memory, and finds the
// key that the caller claims to have. A key that does not allow this caller's address counts as unknown until the
// signature is checked.
func (s *Server) claim(c *gin.Context) {
	r := api.RequestOf(c)
	if r.Caller, _ = loyalty.CallerOf(c.Request.Context()); r.Caller != nil {
		r.Key = keyOfUser(&r.Caller.User)
		r.Claimed = r.Key
		return
	}

	check, err := s.verifier.at(s.programme().Settings.AcceptanceWindow)
	if err != nil {
		s.fail(c, err)
		return
	}

	if r.Claim, err = check.Claim(signing.FromRequest(c.Request, nil, s.hosts(c.Request)...)); err != nil {
		closeUnread(c)
		s.refuse(c, check, err)
		return
	}

	if key, ok := s.directory.Key(r.Claim.KeyID()); ok && api.Admits(key, r.Source) {
		r.Claimed = key
		s.spent(c, key)
	}
}

// closeUnread ends the connection of a large body that is refused unread: otherwise net/http reads some of it before it
// answers.
func closeUnread(c *gin.Context) {
	if n := c.Request.ContentLength; n < 0 || n > unknownBody {
		c.Writer.Header().Set("Connection", "close")
	}
}

// verify lets only signed requests pass. The signature covers the raw request line and the raw body; the router's
// decoded path plays no part.
func (s *Server) verify(c *gin.Context) {
	r := api.RequestOf(c)
	if r.Caller != nil {
		return // the session has proved the user's identity
	}

	check, err := s.verifier.at(s.programme().Settings.AcceptanceWindow)
	if err != nil {
		s.fail(c, err)
		return
	}

	key, ok := s.directory.Key(r.Claim.KeyID()) // its state now: reading a body may take long
	var secrets []string
	if ok && !r.Cut {
		secrets = secretValues(key.Secrets)
	}

	proof, err := r.Claim.Verify(r.Body, secrets)
	if err != nil {
		s.refuse(c, check, err)
		return
	}

	r.Key, r.Signature, r.Signed = key, proof.Signature, proof.SignedHeaders
	s.directory.Used(r.Key.ID)
}

func secretValues(secrets []loyalty.Secret) []string {
	values := make([]string, len(secrets))
	for i, s := range secrets {
		values[i] = s.Value
	}
	return values
}

// refuse answers a request whose signature is missing or wrong.
func (s *Server) refuse(c *gin.Context, check *signing.Verifier, err error) {
	var unreadable *signing.RequestError
	if errors.As(err, &unreadable) {
		fault := api.ErrTargetMalformed.Because(err)
		fault.Details = []loyalty.Detail{{Field: unreadable.Field, Name: unreadable.Reason}}
		s.fail(c, fault)
		return
	}

	r := api.RequestOf(c)
	verdict, limitErr := s.limiter.Allow(c.Request.Context(), "failed "+network(r.Source), failuresPerMinute, 1)
	if limitErr == nil && !verdict.Allowed {
		s.tooMany(c, verdict)
		return
	}

	refusal := s.refusal(err)
	if s.debug && !forwarded(c.Request.Header) {
		s.explain(c, check, refusal)
		return
	}

	s.fail(c, refusal)
}

// signatureNames are the message names of the codes.
var signatureNames = map[int]string{
	signing.CodeHeader:    "signature_malformed",
	signing.CodeDate:      "signature_date",
	signing.CodeScope:     "signature_scope",
	signing.CodeSignature: "signature_refused",
}

// refusal renders a refused signature. Up to the scope the answer names the wrong header, because that reveals nothing
// about keys; an unknown key, a revoked one and a wrong secret get the same answer.
func (s *Server) refusal(err error) error {
	var refused *signing.Error
	if !errors.As(err, &refused) {
		return err
	}

	fault := (&loyalty.Error{Kind: loyalty.Invalid, Code: refused.Code, Name: signatureNames[refused.Code]}).Because(err)
	switch refused.Code {
	case signing.CodeDate:
		fault.Args = map[string]any{
			"server_time": refused.ServerTime, "request_time": refused.RequestTime,
			"window_seconds": int64(refused.Window / time.Second),
		}
	case signing.CodeHeader, signing.CodeScope:
		fault.Details = []loyalty.Detail{{Field: headerOf(refused.Reason), Name: refused.Reason}}
	}

	return api.HTTPError{Status: http.StatusUnauthorized, Fault: fault}
}

// headerOf finds the header at the beginning of the reason.
func headerOf(reason string) string {
	end := strings.IndexAny(reason, " :")
	if end < 0 {
		return "Authorization"
	}
	switch name := reason[:end]; name {
	case "Date", "Host":
		return name
	}
	return "Authorization"
}

// forwarded reports whether a proxy on this machine passed the request on: its caller may be anywhere, whatever address
// the server listens on.
func forwarded(h http.Header) bool {
	for name := range h {
		if name == "Forwarded" || name == "Via" || strings.HasPrefix(name, "X-Forwarded-") || name == "X-Real-Ip" {
			return true
		}
	}
	return false
}

// explain answers a refused signature with what the server tried to match, equally for known and unknown keys. New
// allows this on loopback only.
func (s *Server) explain(c *gin.Context, check *signing.Verifier, refusal error) {
	type attempt struct {
		CanonicalRequest string `json:"canonical_request"`
		StringToSign     string `json:"string_to_sign"`
	}

	r := api.RequestOf(c)
	attempts := []attempt{}
	in := signing.FromRequest(c.Request, r.Body, s.hosts(c.Request)...)
	if found, err := check.Explain(in); err == nil {
		for _, a := range found {
			attempts = append(attempts, attempt{a.CanonicalRequest, a.StringToSign})
		}
	}

	r.Err = refusal
	status, e := api.Envelope(r.Language, refusal)
	c.Abort()
	c.Writer.Header().Set("WWW-Authenticate", s.algorithm)
	common.WriteBody(c.Writer, status, api.Marshal(map[string]any{"error": e, "debug": attempts}))
}

// network is the key for counting failed signatures: an IPv4 address, or the network of an IPv6 caller.
func network(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// hosts are the names, besides the Host header, that the request may have been signed with.
func (s *Server) hosts(r *http.Request) []string {
	told := s.proxies.hosts(r)
	if len(told) == 0 {
		return s.publicHosts
	}
	return append(told, s.publicHosts...)
}
