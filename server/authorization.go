package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/signing"
)

// authorize lets a key do only what it may, and accepts only clean paths: dot segments and double slashes are signed,
// but name no resource.
func (s *Server) authorize(c *gin.Context) {
	r := api.RequestOf(c)
	if !api.Admits(r.Key, r.Source) {
		s.fail(c, api.ErrAddressRefused)
		return
	}

	if r.Nowhere || !signing.IsClean(c.Request.RequestURI) {
		s.fail(c, api.ErrPathNotFound)
		return
	}

	r.Version = s.programme().Version
	if r.Operation = s.operations[api.RouteKey{Method: c.Request.Method, Path: c.FullPath()}]; r.Operation == nil {
		return // NoRoute and NoMethod answer
	}
	if c.Request.Method == http.MethodGet {
		c.Request = c.Request.WithContext(loyalty.Reading(c.Request.Context()))
	}

	switch {
	case len(r.Key.APIs) > 0 && !slices.Contains(r.Key.APIs, r.Operation.API):
		s.fail(c, loyalty.ErrAPIForbidden.With("api", r.Operation.API))
	case r.Key.ReadOnly && !r.Operation.Reads:
		s.fail(c, api.ErrReadOnlyKey)
	case r.Caller != nil && !r.Caller.Role.Covers(r.Operation.Role):
		s.fail(c, loyalty.ErrRoleNeeded.With("role", string(r.Operation.Role)))
	case r.Caller != nil && r.Operation.Confirm && !user.Confirmed(r.Caller, s.clock().UnixMilli()):
		s.fail(c, loyalty.ErrConfirmNeeded)
	case r.Operation.Module != "" && !s.programme().On[r.Operation.Module]:
		s.fail(c, loyalty.ErrModuleOffPath.With("module", r.Operation.Module))
	case r.PersonalHidden() && r.Operation.NeedsPersonal:
		s.fail(c, loyalty.ErrPersonalNeeded)
	case r.Caller != nil && r.Operation.Personal != "":
		// Without the parameter there is nothing to mask; with it the handler records what it shows.
		if r.PersonalHidden() && affirmed(c.Query(r.Operation.Personal)) {
			s.fail(c, loyalty.ErrPersonalNeeded)
		}

	case r.PersonalHidden() && c.GetHeader(personalHeader) == personalShown:
		s.fail(c, loyalty.ErrPersonalNeeded)
	case r.Caller != nil && !ofProgramme(c, r.Operation):
		mask(c, s.vocabulary, s.fail, r.Caller.Personal, func() error { return s.notePersonal(c, r) })
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
func ofProgramme(c *gin.Context, o *api.Operation) bool {
	kind := c.Param("module") + "/" + c.Param("entity")
	return strings.HasPrefix(c.FullPath(), "/admin/configuration") ||
		o.API == "entities" && kind != "/" && kind != programme.TypeCustomer && kind != programme.TypeTransaction
}

// notePersonal records in the audit trail which customers' data a user is about to see. Customers are recorded by their
// internal ids, which mean nothing after they have left the programme.
func (s *Server) notePersonal(c *gin.Context, r *api.Request) error {
	path := c.FullPath()
	for _, p := range c.Params {
		value := p.Value
		if p.Key == "customer_id" {
			who, err := s.reader.Customer(api.Plain(c), value)
			if err != nil {
				return err
			}
			value = who.ID.String()
		}
		path = strings.Replace(path, ":"+p.Key, value, 1)
	}

	seen := admin.Seen{Operation: r.Operation.Route.Operation.OperationID}
	for name := range c.Request.URL.Query() {
		seen.Query = append(seen.Query, name)
	}

	slices.Sort(seen.Query)
	return s.admin.NotePersonal(api.Plain(c), admin.Call{KeyID: r.Key.ID}, path, seen)
}
