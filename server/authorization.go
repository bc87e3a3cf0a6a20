package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/signing"
)

// authorize lets a key do only what it may, and accepts only clean paths: dot segments and double slashes are signed,
// but name no resource.
func (s *Server) authorize(c *gin.Context) {
	r := requestOf(c)
	if !admits(r.key, r.source) {
		s.fail(c, errAddressRefused)
		return
	}

	if r.nowhere || !signing.IsClean(c.Request.RequestURI) {
		s.fail(c, errPathNotFound)
		return
	}

	r.version = s.programme().Version
	if r.operation = s.operations[routeKey{c.Request.Method, c.FullPath()}]; r.operation == nil {
		return // NoRoute and NoMethod answer
	}
	if c.Request.Method == http.MethodGet {
		c.Request = c.Request.WithContext(loyalty.Reading(c.Request.Context()))
	}

	switch {
	case len(r.key.APIs) > 0 && !slices.Contains(r.key.APIs, r.operation.api):
		s.fail(c, loyalty.ErrAPIForbidden.With("api", r.operation.api))
	case r.key.ReadOnly && !r.operation.reads:
		s.fail(c, errReadOnlyKey)
	case r.caller != nil && !r.caller.Role.Covers(r.operation.role):
		s.fail(c, loyalty.ErrRoleNeeded.With("role", string(r.operation.role)))
	case r.caller != nil && r.operation.confirm && !user.Confirmed(r.caller, s.clock().UnixMilli()):
		s.fail(c, loyalty.ErrConfirmNeeded)
	case r.operation.module != "" && !s.programme().On[r.operation.module]:
		s.fail(c, loyalty.ErrModuleOffPath.With("module", r.operation.module))
	case r.sightless() && r.operation.sighted:
		s.fail(c, loyalty.ErrPersonalNeeded)
	case r.caller != nil && r.operation.personal != "":
		// Without the parameter there is nothing to mask; with it the handler records what it shows.
		if r.sightless() && affirmed(c.Query(r.operation.personal)) {
			s.fail(c, loyalty.ErrPersonalNeeded)
		}

	case r.sightless() && c.GetHeader(personalHeader) == personalShown:
		s.fail(c, loyalty.ErrPersonalNeeded)
	case r.caller != nil && !ofProgramme(c, r.operation):
		mask(c, s.vocabulary, s.fail, r.caller.Personal, func() error { return s.notePersonal(c, r) })
	}
}

// affirmed reads a parameter as its handler will: it accepts the same spellings of true. The handler refuses what is
// neither true nor false.
func affirmed(text string) bool {
	yes, err := strconv.ParseBool(text)
	return err == nil && yes
}

// ofProgramme reports whether an operation is about the programme and not about a person. Its properties (of declared
// actions, for example) may also be named email or labels. They must not be masked, because a caller who changes them
// sends back what it read.
func ofProgramme(c *gin.Context, o *operation) bool {
	kind := c.Param("module") + "/" + c.Param("entity")
	return strings.HasPrefix(c.FullPath(), "/admin/configuration") ||
		o.api == "entities" && kind != "/" && kind != programme.TypeCustomer && kind != programme.TypeTransaction
}

// notePersonal records in the audit trail which customers' data a user is about to see. Customers are recorded by their
// internal ids, which mean nothing after they have left the programme.
func (s *Server) notePersonal(c *gin.Context, r *request) error {
	path := c.FullPath()
	for _, p := range c.Params {
		value := p.Value
		if p.Key == "customer_id" {
			who, err := s.reader.Customer(plain(c), value)
			if err != nil {
				return err
			}
			value = who.ID.String()
		}
		path = strings.Replace(path, ":"+p.Key, value, 1)
	}

	seen := admin.Seen{Operation: r.operation.route.Operation.OperationID}
	for name := range c.Request.URL.Query() {
		seen.Query = append(seen.Query, name)
	}

	slices.Sort(seen.Query)
	return s.admin.NotePersonal(plain(c), admin.Call{KeyID: r.key.ID}, path, seen)
}
