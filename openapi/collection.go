package openapi

import (
	"bytes"
	"cmp"
	"embed"
	_ "embed" // the signing script
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// collections holds the request collections. `make collections` regenerates them.
//
//go:embed collections/*.json
var collections embed.FS

//go:embed sign.js
var signingScript string

// Collection gives the request collection of an API. It fails for an unknown API.
func Collection(api string) ([]byte, error) {
	if !slices.Contains(served, api) {
		return nil, fmt.Errorf("openapi: no API is called %q", api)
	}
	return collections.ReadFile("collections/" + api + ".json")
}

// The parts of a collection, in the format v2.1.0 of Postman's schema.
type (
	collection struct {
		Info     collectionInfo       `json:"info"`
		Event    []collectionEvent    `json:"event"`
		Variable []collectionVariable `json:"variable"`
		Item     []collectionFolder   `json:"item"`
	}
	collectionInfo struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Schema      string `json:"schema"`
	}
	collectionEvent struct {
		Listen string           `json:"listen"`
		Script collectionScript `json:"script"`
	}
	collectionScript struct {
		Type string   `json:"type"`
		Exec []string `json:"exec"`
	}
	collectionVariable struct {
		Key         string `json:"key"`
		Value       string `json:"value"`
		Description string `json:"description,omitempty"`
		Disabled    bool   `json:"disabled,omitempty"`
	}
	collectionFolder struct {
		Name        string           `json:"name"`
		Description string           `json:"description"`
		Item        []collectionItem `json:"item"`
	}
	collectionItem struct {
		Name    string            `json:"name"`
		Event   []collectionEvent `json:"event"`
		Request collectionRequest `json:"request"`
	}
	collectionRequest struct {
		Method      string               `json:"method"`
		Header      []collectionVariable `json:"header"`
		URL         collectionURL        `json:"url"`
		Body        *collectionBody      `json:"body,omitempty"`
		Description string               `json:"description"`
	}
	collectionURL struct {
		Raw   string               `json:"raw"`
		Host  []string             `json:"host"`
		Path  []string             `json:"path"`
		Query []collectionVariable `json:"query,omitempty"`
	}
	collectionBody struct {
		Mode    string         `json:"mode"`
		Raw     string         `json:"raw"`
		Options map[string]any `json:"options"`
	}
)

// MakeCollection makes the request collection of an API from its document: one request for each example of each
// operation, optional parameters switched off, and one script that signs every request.
func MakeCollection(api string) ([]byte, error) {
	doc, err := Load(api)
	if err != nil {
		return nil, err
	}

	c := collection{
		Info: collectionInfo{doc.Info.Title, doc.Info.Description,
			"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
		Event: []collectionEvent{{"prerequest", collectionScript{
			Type: "text/javascript", Exec: strings.Split(strings.TrimSuffix(signingScript, "\n"), "\n"),
		}}},
		Variable: []collectionVariable{
			{Key: "base_url", Value: "http://127.0.0.1:8080", Description: "Where the platform listens."},
			{Key: "key_id", Description: "The access key's id."},
			{Key: "secret", Description: "The access key's secret."},
			{Key: "region", Value: "local", Description: "The region in the platform's settings."},
		},
	}

	for _, tag := range doc.Tags {
		folder := collectionFolder{Name: tag.Name, Description: tag.Description}
		for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
			folder.add(tag.Name, path, doc.Paths.Value(path))
		}
		c.Item = append(c.Item, folder)
	}

	return indented(c)
}

// indented writes JSON in the form people read, with a line feed at its end.
func indented(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return text.Bytes(), err
}

// add puts the operations of a path into the folder of their tag.
func (f *collectionFolder) add(tag, path string, item *openapi3.PathItem) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		op := item.GetOperation(method)
		if op == nil || len(op.Tags) == 0 || op.Tags[0] != tag {
			continue
		}

		parameters := append(slices.Clone(item.Parameters), op.Parameters...)
		request := collectionRequest{Method: method, URL: collectionTarget(path, parameters, nil),
			Header: []collectionVariable{}, Description: op.Description}
		if op.RequestBody == nil {
			f.Item = append(f.Item, collectionItem{op.Summary, answered(op), request})
			continue
		}

		request.Header = append(request.Header, collectionVariable{Key: "Content-Type", Value: "application/json"})
		examples := op.RequestBody.Value.Content.Get("application/json").Examples
		for _, name := range inOrder(examples) {
			example := examples[name].Value
			own, _ := example.Extensions["x-path"].(map[string]any)
			request.URL, request.Body = collectionTarget(path, parameters, own), rawBody(example.Value)
			title := op.Summary
			if len(examples) > 1 {
				title += ": " + name
			}
			f.Item = append(f.Item, collectionItem{title, answered(op), request})
		}
	}
}

// inOrder gives the names of examples by their x-order, else by name. A published document sorts names, so an example
// that needs what another creates carries an x-order.
func inOrder(examples openapi3.Examples) []string {
	place := func(name string) float64 {
		at, _ := examples[name].Value.Extensions["x-order"].(float64)
		return at
	}
	return slices.SortedFunc(maps.Keys(examples), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	})
}

var templated = regexp.MustCompile(`\{([a-z_]+)\}`)

// collectionTarget is the path with the examples of its parameters, or with the values that a body's example has of
// its own (x-path). Query parameters are included switched off.
func collectionTarget(path string, parameters openapi3.Parameters, own map[string]any) collectionURL {
	target := collectionURL{Host: []string{"{{base_url}}"}}
	for _, ref := range parameters {
		if p := ref.Value; p.In == openapi3.ParameterInQuery {
			if _, nested := p.Example.(map[string]any); nested || p.Name == "cursor" {
				continue
			}
			target.Query = append(target.Query,
				collectionVariable{Key: p.Name, Value: exampleText(p.Example), Description: p.Description, Disabled: true})
		}
	}
	path = ExamplePath(path, parameters, own)
	target.Raw, target.Path = "{{base_url}}"+path, strings.Split(strings.TrimPrefix(path, "/"), "/")
	return target
}

// ExamplePath is a path with the examples of its parameters in their places, percent-encoded, or with the values that
// a body's example has of its own (x-path).
func ExamplePath(path string, parameters openapi3.Parameters, own map[string]any) string {
	examples := map[string]string{}
	for _, ref := range parameters {
		if p := ref.Value; p.In == openapi3.ParameterInPath {
			examples[p.Name] = fmt.Sprint(p.Example)
		}
	}
	for name, example := range own {
		examples[name] = fmt.Sprint(example)
	}
	return templated.ReplaceAllStringFunc(path,
		func(name string) string { return url.PathEscape(examples[strings.Trim(name, "{}")]) })
}

// exampleText writes an example in the form of a query parameter.
func exampleText(example any) string {
	list, ok := example.([]any)
	if !ok {
		return fmt.Sprint(example)
	}
	var texts []string
	for _, item := range list {
		texts = append(texts, fmt.Sprint(item))
	}
	return strings.Join(texts, ",")
}

func rawBody(example any) *collectionBody {
	text, err := indented(example)
	if err != nil { // it came from a document, so it can be written
		panic(err)
	}
	return &collectionBody{"raw", strings.TrimSpace(string(text)),
		map[string]any{"raw": map[string]string{"language": "json"}}}
}

// answered is the script that checks an answer against the document: its status is one that a well-formed,
// well-signed request can get, and its body is JSON where the document says so.
func answered(op *openapi3.Operation) []collectionEvent {
	var statuses []string
	for _, code := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		if code < "500" && !slices.Contains([]string{"400", "401", "403", "413", "415", "429"}, code) {
			statuses = append(statuses, code)
		}
	}
	says := []string{"pm.test('is answered as the document says', () => pm.expect(pm.response.code).to.be.oneOf([" +
		strings.Join(statuses, ", ") + "]));"}
	if ok := op.Responses.Value("200"); ok == nil || ok.Value.Content.Get("application/json") != nil {
		says = append(says, "pm.test('is JSON', () => pm.response.json());")
	}
	return []collectionEvent{{"test", collectionScript{Type: "text/javascript", Exec: says}}}
}
