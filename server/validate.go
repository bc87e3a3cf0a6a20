package server

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
)

// takeTurn validates a request when it has its turn at the gate. Before that nothing is built from its body, so that a
// waiting request holds only the bytes that were sent, which are counted. A large body waits for its turn in every
// operation, because even bodies that the contract refuses would delay other requests.
func (s *Server) takeTurn(c *gin.Context) {
	if turns := s.turns(api.RequestOf(c)); turns != nil {
		leave, err := turns.Enter(c, api.RequestOf(c).Key.ID)
		if err != nil {
			s.fail(c, err)
			return
		}
		defer leave()
	}
	s.validate(c)
	c.Next()
}

// turns returns the gate of a request; nil if it needs none.
func (s *Server) turns(r *api.Request) *api.Gate {
	switch {
	case r.Operation == nil:
		return nil
	case r.Operation.Turns == nil && len(r.Body) > api.LargeBody:
		return s.large
	case r.Operation.Light != nil && len(r.Body) <= api.LightBody && !r.AsksForPast():
		return r.Operation.Light
	}
	return r.Operation.Turns
}

// validate checks the request against its operation: parameters, idempotency key, body. The handler
// gets the checked body in canonical JSON, whatever its form was, so that no code behind this point
// can read it differently.
func (s *Server) validate(c *gin.Context) {
	r := api.RequestOf(c)
	if r.Operation == nil {
		return
	}

	err := s.validateParameters(c, r)
	if err == nil && c.Request.Method == http.MethodPost {
		switch err = checkHeaders(c.Request.Header); {
		case err != nil:
		case !r.Memory.Work(len(r.Body)):
			err = api.ErrBusy
		default:
			err = readTree(r, c.Request)
			deprecate(c, s.vocabulary, r.Actions)
		}
	}

	if err != nil {
		s.fail(c, err)
	}
}

// validateParameters lets kin-openapi check path, query and header parameters.
func (s *Server) validateParameters(c *gin.Context, r *api.Request) error {
	declared := r.Operation.Checked
	if long := longFilters(r.Operation, r.Query); len(long) > 0 {
		declared = slices.Concat(declared, long) // a copy: all requests share the operation's slice
	}
	if len(declared) == 0 {
		return nil
	}

	path := make(map[string]string, len(c.Params))
	for _, p := range c.Params {
		if !contract.IsText(p.Value) {
			return contract.ErrInvalidParameter.With("parameter", p.Key).With("reason", "encoding").At(p.Key)
		}
		path[p.Key] = p.Value
	}

	in := &openapi3filter.RequestValidationInput{
		Request: c.Request, PathParams: path, QueryParams: c.Request.URL.Query(), Route: r.Operation.Route,
	}
	return contract.CheckParameters(c, in, declared)
}

// longFilters returns the sent filters whose texts may be longer than declared. kin-openapi can skip the others: a list
// has some dozens of filters, and accepts any text for them.
func longFilters(o *api.Operation, query []list.Pair) (long []*openapi3.Parameter) {
	for _, p := range query {
		if filter := o.Filters[p.Name]; filter != nil {
			if len(p.Value) > api.Longest(filter.Schema.Value) {
				long = append(long, filter)
			}
			continue
		}
		if _, own := o.Parameters[p.Name]; own || o.Bracketed.Owns(p.Name) || len(p.Value) <= openapi.FilterMaxLength {
			continue
		}
		attribute := openapi3.NewStringSchema().WithMaxLength(openapi.FilterMaxLength) // an attribute that the programme declares
		long = append(long, openapi3.NewQueryParameter(p.Name).WithSchema(attribute))
	}

	return long
}

// checkHeaders refuses a second Content-Type or Idempotency-Key, because it cannot know which one is meant.
func checkHeaders(h http.Header) error {
	if len(h["Content-Type"]) > 1 {
		return contract.ErrInvalidParameter.With("parameter", "Content-Type").With("reason", "repeated").At("Content-Type")
	}
	return checkIdempotencyKey(h)
}

func checkIdempotencyKey(h http.Header) error {
	sent, ok := h[api.IdempotencyHeader]
	if !ok {
		return nil
	}
	if len(sent) != 1 || sent[0] == "" || utf8.RuneCountInString(sent[0]) > 255 || !utf8.ValidString(sent[0]) {
		return api.ErrIdempotencyKey.At(api.IdempotencyHeader)
	}
	return nil
}

// readTree reads, checks and replaces the body.
func readTree(r *api.Request, req *http.Request) error {
	v, err := api.ParseBody(req.Header, r.Body)
	if err != nil {
		return err
	}
	if r.Operation.Body == nil {
		return nil // a POST without a body schema ignores one
	}
	if r.Operation.FromTree {
		r.Actions = contract.ActionsIn(v)
	}
	if r.Tree, err = r.Operation.Body.Check(v, ""); err != nil {
		return err
	}

	if r.Operation.FromTree {
		req.Body, req.ContentLength = treeBody{}, 0
		return nil
	}

	canonical := contract.AppendJSON(make([]byte, 0, len(r.Body)+64), r.Tree)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(canonical)), int64(len(canonical))
	return nil
}

// treeBody is the body of a request whose handler takes the checked tree: the generated code binds and decodes nothing.
type treeBody struct{}

func (treeBody) Read([]byte) (int, error) { return 0, io.EOF }
func (treeBody) Close() error             { return nil }

// ValidatedValue is an object without members.
func (treeBody) ValidatedValue() any { return noMembers }

var noMembers = map[string]any{}
