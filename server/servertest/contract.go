// Package servertest holds what tests of the HTTP side share: a transport that checks every answer against the
// published documents, and a whole server.
package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/loyalty-platform/loyalty/openapi"
)

// Contract is an http.RoundTripper that fails its test if the documents do not describe an answer: its status, headers
// and body, and the headers of every answer. Paths outside the contract are passed on unchecked, except that an error
// must have the error envelope.
type Contract struct {
	T testing.TB
	// Base sends the request; nil means http.DefaultTransport.
	Base http.RoundTripper
}

// RoundTrip sends the request and checks the answer.
func (c *Contract) RoundTrip(r *http.Request) (*http.Response, error) {
	base := c.Base
	if base == nil {
		base = http.DefaultTransport
	}

	resp, err := base.RoundTrip(r)
	if err != nil {
		return resp, err
	}

	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}

	resp.Body = io.NopCloser(bytes.NewReader(body))
	c.check(r, resp, body)
	return resp, nil
}

// linesToo registers line formats as text, as in the documents.
var linesToo = sync.OnceFunc(func() {
	for _, media := range []string{"application/x-ndjson", "text/csv"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.FileBodyDecoder)
	}
})

func (c *Contract) check(r *http.Request, resp *http.Response, body []byte) {
	c.T.Helper()
	at := r.Method + " " + r.URL.EscapedPath() + " -> " + resp.Status
	for _, name := range []string{"X-Request-Id", "Content-Language", "Date"} {
		if resp.Header.Get(name) == "" {
			c.T.Errorf("%s: the header %s is missing", at, name)
		}
	}

	if r.Method == http.MethodHead {
		if len(body) > 0 {
			c.T.Errorf("%s: it has a body", at)
		}
		return
	}

	route, params := find(r.Method, r.URL.EscapedPath())
	if route == nil {
		if resp.StatusCode >= http.StatusBadRequest &&
			strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			c.envelope(at, body)
		}
		return
	}

	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 resp.StatusCode,
		Header:                 resp.Header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}

	linesToo()
	if err := openapi3filter.ValidateResponse(context.Background(), in); err != nil {
		c.T.Errorf("%s is not in the contract: %v\n%s", at, err, body)
	}
}

// envelope checks an error outside the contract against the schema of all errors.
func (c *Contract) envelope(at string, body []byte) {
	c.T.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		c.T.Errorf("%s: the body is not JSON: %v", at, err)
		return
	}
	if err := documented().envelope.VisitJSON(v, openapi3.MultiErrors()); err != nil {
		c.T.Errorf("%s: the body is not the error envelope: %v\n%s", at, err, body)
	}
}

type place struct {
	route    *routers.Route
	segments []string
	free     int // number of parameters
}

type documents struct {
	places   []place
	envelope *openapi3.Schema
}

// Documents are the published documents by their API, parsed once for all tests of a program because that is slow. No
// test may change them.
var Documents = sync.OnceValue(func() map[string]*openapi3.T {
	all := map[string]*openapi3.T{}
	for _, api := range openapi.Names() {
		doc, err := openapi.Load(api)
		if err != nil {
			panic(err)
		}
		all[api] = doc
	}
	return all
})

// documented is the places of all documents, in the order in which a path is looked up.
var documented = sync.OnceValue(func() *documents {
	all := &documents{}
	for _, api := range openapi.Names() {
		doc := Documents()[api]
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				all.add(&routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op})
			}
		}
	}
	// If two paths match, the one with fewer parameters wins.
	sort.SliceStable(all.places, func(i, j int) bool { return all.places[i].free < all.places[j].free })
	return all
})

func (c *documents) add(route *routers.Route) {
	p := place{route: route, segments: strings.Split(route.Path, "/")}
	p.free = strings.Count(route.Path, "{")
	c.places = append(c.places, p)
	if bad := route.Operation.Responses.Status(http.StatusUnauthorized); bad != nil {
		c.envelope = bad.Value.Content.Get("application/json").Schema.Value
	}
}

func find(method, path string) (*routers.Route, map[string]string) {
	segments := strings.Split(path, "/")
	for _, p := range documented().places {
		if p.route.Method != method {
			continue
		}
		if params, ok := p.fits(segments); ok {
			return p.route, params
		}
	}
	return nil, nil
}

func (p place) fits(segments []string) (map[string]string, bool) {
	if len(segments) != len(p.segments) {
		return nil, false
	}

	params := map[string]string{}
	for i, want := range p.segments {
		if strings.HasPrefix(want, "{") {
			value, err := url.PathUnescape(segments[i])
			if err != nil || value == "" {
				return nil, false
			}
			params[strings.Trim(want, "{}")] = value
		} else if want != segments[i] {
			return nil, false
		}
	}

	return params, true
}
