package server

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/signing"
)

// authorize lets a key do only what it may, and serves only clean paths: dot
// segments and double slashes are signed, but name no resource.
func (s *Server) authorize(c *gin.Context) {
	r := requestOf(c)
	if !admits(r.key, r.source) {
		s.fail(c, errAddressRefused)
		return
	}
	if !signing.IsClean(c.Request.RequestURI) {
		s.fail(c, errPathNotFound)
		return
	}
	r.version = s.programme().Version
	if r.operation = s.operations[routeKey{c.Request.Method, c.FullPath()}]; r.operation == nil {
		return // NoRoute and NoMethod say what there is not
	}
	if c.Request.Method == http.MethodGet {
		c.Request = c.Request.WithContext(loyalty.Reading(c.Request.Context()))
	}
	switch {
	case len(r.key.APIs) > 0 && !slices.Contains(r.key.APIs, r.operation.api):
		s.fail(c, errAPIForbidden.With("api", r.operation.api))
	case r.key.ReadOnly && !r.operation.reads:
		s.fail(c, errReadOnlyKey)
	case r.caller != nil && !r.caller.Role.Covers(r.operation.role):
		s.fail(c, loyalty.ErrRoleNeeded.With("role", string(r.operation.role)))
	case r.caller != nil && r.operation.confirm && !user.Confirmed(r.caller, s.clock().UnixMilli()):
		s.fail(c, loyalty.ErrConfirmNeeded)
	case r.operation.module != "" && !s.programme().On[r.operation.module]:
		s.fail(c, loyalty.ErrModuleOffPath.With("module", r.operation.module))
	case r.caller != nil && !r.caller.Personal && r.operation.personal != "":
		if c.Query(r.operation.personal) == "true" { // without it there is nothing to mask
			s.fail(c, loyalty.ErrPersonalNeeded)
		}
	case r.caller != nil && !r.caller.Personal:
		mask(c, s.vocabulary, s.fail)
	}
}

// admits says whether a key may be used from an address: an empty list takes all.
func admits(key *loyalty.AccessKey, source netip.Addr) bool {
	return len(key.Addresses) == 0 || listed(key.Addresses, source)
}

func listed(networks []string, source netip.Addr) bool {
	return slices.ContainsFunc(networks, func(text string) bool {
		p, ok := contract.ParseNetwork(text)
		return ok && p.Contains(source)
	})
}
