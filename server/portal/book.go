package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/openapi"
)

// page is one page of the portal.
type page struct {
	path    string // /docs/events/point_add
	title   string
	section string // of the menu
	summary string // in one line, for search and lists
	text    string // Markdown
	trial   *trial // a request that the page can send; nil: none
}

// section is an entry of the menu.
type section struct{ Title, Path string }

// book is all pages.
type book struct {
	pages    map[string]*page
	order    []*page
	sections []section
	apis     []choice
	search   string // the index of the search, as JSON
	list     string // llms.txt
}

// contract holds the documents while the pages are made from them.
type contract struct {
	names []string
	byAPI map[string]*openapi3.T
}

func (c *contract) events() *openapi3.T         { return c.byAPI["events"] }
func (c *contract) entities() *openapi3.T       { return c.byAPI["entities"] }
func (c *contract) administration() *openapi3.T { return c.byAPI["administration"] }

// newBook reads the documents and makes every page. The documents themselves are dropped afterwards.
func newBook(notices []Notice) (*book, error) {
	c := &contract{names: openapi.Names(), byAPI: map[string]*openapi3.T{}}
	read := openapi.Reader()
	for _, name := range c.names {
		doc, err := read(name)
		if err != nil {
			return nil, err
		}
		c.byAPI[name] = doc
	}

	b := &book{pages: map[string]*page{}, sections: []section{
		{"Start here", "/docs"}, {"Guide", "/docs/guide"}, {"The APIs", "/docs/apis"}, {"Events", "/docs/events"},
		{"Entities", "/docs/entities"},
		{"Modules", "/docs/modules"}, {"Conditions", "/docs/conditions"}, {"Signing", "/docs/signing"},
		{"Webhooks", "/docs/webhooks"}, {"Errors", "/docs/errors"},
	}}

	for _, write := range []func(*contract) error{
		b.addStart, b.addGuide, b.addOperations, b.addActions, b.addEntities, b.addModules, b.addConditions, b.addSigning,
		func(c *contract) error { return b.addWebhooks(c, notices) }, b.addErrors,
	} {
		if err := write(c); err != nil {
			return nil, err
		}
	}

	b.addSearch()
	b.addList()
	return b, nil
}

// add adds a page to the book.
func (b *book) add(p *page) {
	p.text = "# " + p.title + "\n\n" + strings.TrimSpace(p.text) + "\n"
	b.pages[p.path] = p
	b.order = append(b.order, p)
}

// addSearch writes the index of the search: path, title and summary of each page.
func (b *book) addSearch() {
	rows := make([][3]string, len(b.order))
	for i, p := range b.order {
		rows[i] = [3]string{p.path, p.title, p.summary}
	}
	b.search = asJSON(rows, "")
}

// addList writes /llms.txt: each page with its topic, as Markdown.
func (b *book) addList() {
	var w strings.Builder
	w.WriteString("# The loyalty platform\n\n> Twelve HTTP APIs for a loyalty programme: events become points, tiers, coupons and rewards. Every request is signed.\n")
	for _, s := range b.sections {
		fmt.Fprintf(&w, "\n## %s\n\n", s.Title)
		for _, p := range b.order {
			if p.section == s.Path {
				fmt.Fprintf(&w, "- [%s](%s.md): %s\n", p.title, p.path, p.summary)
			}
		}
	}
	b.list = w.String()
}

// index is the body of a page that lists the pages below it.
func (b *book) index(path string) string {
	var w strings.Builder
	for _, p := range b.order {
		if p.section == path && p.path != path {
			fmt.Fprintf(&w, "- [%s](%s) %s\n", p.title, p.path, p.summary)
		}
	}
	return w.String()
}

// firstSentence is the first sentence of a text, in one line.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for i := range len(text) - 1 {
		if text[i] == '.' && text[i+1] == ' ' {
			return text[:i+1]
		}
	}
	return text
}

// asJSON writes a value of the documents for readers.
func asJSON(v any, indent string) string {
	var w bytes.Buffer
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil { // it was read from a document, so it can be written
		panic(err)
	}
	return strings.TrimSpace(w.String())
}
