// Package portal is the portal for developers who write against the platform: a page for every operation, action, entity,
// module and error, made from the documents on first use, and a way to sign a request and send it from the page. Each
// page is Markdown; /docs/….md returns that, /docs/… HTML that works without a script.
package portal

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

//go:embed assets clients page.html reference.html
var files embed.FS

var layout = template.Must(template.ParseFS(files, "page.html", "reference.html"))

// policy lets a page load only its own files. pure also keeps its scripts from writing HTML, which the scripts of the
// reference do.
const (
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
	pure   = policy + "; require-trusted-types-for 'script'; trusted-types 'none'"
)

// Portal serves the pages. It may be used by many goroutines.
type Portal struct {
	region  string
	try     *relay // nil: nothing can be tried
	console bool   // the console is served here too
	book    func() (*book, error)
}

// New makes a portal. region is the region that requests are signed for. try receives the requests that readers send
// from a page; with nil they can only read. notices are the types of messages that the platform itself sends to
// webhooks.
func New(region string, try http.Handler, notices ...Notice) *Portal {
	p := &Portal{region: region, book: sync.OnceValues(func() (*book, error) { return newBook(notices) })}
	if try != nil {
		p.try = newRelay(try)
	}
	return p
}

// BesideConsole tells the portal that the console is on the same server: its users can send requests by their session
// from a page, and an owner can make a key there that ends in an hour.
func (p *Portal) BesideConsole() *Portal {
	p.console = true
	return p
}

// ServeHTTP answers /docs, all paths below it, / and /llms.txt.
func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", pure)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")

	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case path == "/docs/try":
		p.tried(w, r)
	case strings.HasPrefix(path, "/docs/assets/"):
		asset(w, r, strings.TrimPrefix(path, "/docs/"))
	case path == "/docs/reference":
		h.Set("Content-Security-Policy", policy)
		p.reference(w, r)
	default:
		p.read(w, r, path)
	}
}

func (p *Portal) tried(w http.ResponseWriter, r *http.Request) {
	if p.try == nil {
		http.NotFound(w, r)
		return
	}
	p.try.ServeHTTP(w, r)
}

// read answers a page, the index of all, or the list for machines.
func (p *Portal) read(w http.ResponseWriter, r *http.Request, path string) {
	b, err := p.book()
	if err != nil {
		http.Error(w, "the documents cannot be read", http.StatusInternalServerError)
		return
	}

	switch path {
	case "/llms.txt":
		send(w, r, "text/plain; charset=utf-8", b.list)
		return
	case "/docs/search.json":
		send(w, r, "application/json; charset=utf-8", b.search)
		return
	case "":
		path = "/docs"
	}

	name, asMarkdown := strings.CutSuffix(path, ".md")
	found, ok := b.pages[name]
	if !ok {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintln(w, "There is no such page. /docs has all of them.") //nolint:errcheck // the reader went away
		return
	}

	if asMarkdown {
		send(w, r, "text/markdown; charset=utf-8", at(r, found.text))
		return
	}

	said := wordsFor(r)
	page, err := p.html(b, found, said)
	if err != nil {
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}

	w.Header().Add("Vary", "Accept-Language")
	w.Header().Add("Vary", "X-Forwarded-Proto")
	w.Header().Set("Content-Language", said.Language)
	send(w, r, "text/html; charset=utf-8", at(r, page))
}

// host is a name or an address with a port, without characters that have a meaning in a page or a program.
var host = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$|^\[[0-9a-fA-F:.]+\](:[0-9]+)?$`)

// at replaces the address in samples with the one of the request. Only the reader sees it, so the proxy's headers are
// believed.
func at(r *http.Request, text string) string {
	if !host.MatchString(r.Host) {
		return text
	}
	scheme := "http://"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https://"
	}
	return strings.ReplaceAll(text, servedAt, scheme+r.Host)
}

func send(w http.ResponseWriter, r *http.Request, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		fmt.Fprint(w, body) //nolint:errcheck // the reader went away
	}
}

// markdown renders the texts of the documents and of this package. They contain no HTML, and it would be left out.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// html is a page as HTML: its frame and section names are in the reader's language.
func (p *Portal) html(b *book, found *page, said words) (string, error) {
	var content, out bytes.Buffer
	text, heading := found.text, said.section(found.path)
	if heading != "" {
		_, text, _ = strings.Cut(text, "\n")
	}

	sections := slices.Clone(b.sections)
	for i := range sections {
		sections[i].Title = said.section(sections[i].Path)
	}

	if err := markdown.Convert([]byte(text), &content); err != nil {
		return "", err
	}

	trial, err := json.Marshal(found.trial)
	if err != nil {
		return "", err
	}

	err = layout.ExecuteTemplate(&out, "page.html", map[string]any{
		"Title": found.title, "Path": found.path, "Words": said, "Heading": heading, "Sections": sections,
		"Section": found.section, "Region": p.region,
		"Content": template.HTML(content.String()), //nolint:gosec // goldmark drops raw HTML
		"Try":     p.try != nil && found.trial != nil, "Trial": string(trial), "Console": p.console,
	})

	return out.String(), err
}
