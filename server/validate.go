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
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
)

// takeTurn validates a request when it has its turn at the gate. Before that nothing is built from its body, so that a
// waiting request holds only the bytes that were sent, which are counted. A large body waits for its turn in every
// operation, because even bodies that the contract refuses would delay other requests.
func (s *Server) takeTurn(c *gin.Context) {
	if turns := s.turns(requestOf(c)); turns != nil {
		leave, err := turns.enter(c, requestOf(c).key.ID)
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
func (s *Server) turns(r *request) *gate {
	switch {
	case r.operation == nil:
		return nil
	case r.operation.turns == nil && len(r.body) > largeBody:
		return s.large
	case r.operation.light != nil && len(r.body) <= lightBody && !r.asksForPast():
		return r.operation.light
	}
	return r.operation.turns
}

// validate checks the request against its operation: parameters, idempotency key, body. The handler
// gets the checked body in canonical JSON, whatever its form was, so that no code behind this point
// can read it differently.
func (s *Server) validate(c *gin.Context) {
	r := requestOf(c)
	if r.operation == nil {
		return
	}

	err := s.validateParameters(c, r)
	if err == nil && c.Request.Method == http.MethodPost {
		switch err = checkHeaders(c.Request.Header); {
		case err != nil:
		case !r.memory.work(len(r.body)):
			err = errBusy
		default:
			err = readTree(r, c.Request)
			deprecate(c, s.vocabulary, r.actions)
		}
	}

	if err != nil {
		s.fail(c, err)
	}
}

// validateParameters lets kin-openapi check path, query and header parameters.
func (s *Server) validateParameters(c *gin.Context, r *request) error {
	declared := r.operation.checked
	if long := longFilters(r.operation, r.query); len(long) > 0 {
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
		Request: c.Request, PathParams: path, QueryParams: c.Request.URL.Query(), Route: r.operation.route,
	}
	return contract.CheckParameters(c, in, declared)
}

// longFilters returns the sent filters whose texts may be longer than declared. kin-openapi can skip the others: a list
// has some dozens of filters, and accepts any text for them.
func longFilters(o *operation, query []list.Pair) (long []*openapi3.Parameter) {
	for _, p := range query {
		if filter := o.filters[p.Name]; filter != nil {
			if len(p.Value) > longest(filter.Schema.Value) {
				long = append(long, filter)
			}
			continue
		}
		if _, own := o.parameters[p.Name]; own || o.bracketed.Owns(p.Name) || len(p.Value) <= openapi.FilterMaxLength {
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
	sent, ok := h[idempotencyHeader]
	if !ok {
		return nil
	}
	if len(sent) != 1 || sent[0] == "" || utf8.RuneCountInString(sent[0]) > 255 || !utf8.ValidString(sent[0]) {
		return errIdempotencyKey.At(idempotencyHeader)
	}
	return nil
}

// readTree reads, checks and replaces the body.
func readTree(r *request, req *http.Request) error {
	v, err := parseBody(req.Header, r.body)
	if err != nil {
		return err
	}
	if r.operation.body == nil {
		return nil // a POST without a body schema ignores one
	}
	if r.operation.fromTree {
		r.actions = contract.ActionsIn(v)
	}
	if r.tree, err = r.operation.body.Check(v, ""); err != nil {
		return err
	}

	if r.operation.fromTree {
		req.Body, req.ContentLength = treeBody{}, 0
		return nil
	}

	canonical := contract.AppendJSON(make([]byte, 0, len(r.body)+64), r.tree)
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
