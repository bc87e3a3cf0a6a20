package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed app
var app embed.FS

// The console's files are served under a hash of all of them, so that a browser caches them and never mixes two
// versions. The page that names the hash is never cached.
const (
	filesPath = "/console/files/"
	hashMark  = "HASH"
	keepFor   = "public, max-age=31536000, immutable"
)

// kindsOf are the types of files that the machine's own table might not know.
var kindsOf = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".html": "text/html; charset=utf-8"}

type file struct {
	kind  string
	plain []byte
	small func() []byte // compressed on first use: compressing all of them would take a third of a start
}

// pages are the files of the console, ready to send.
type pages struct {
	base  string // filesPath with the hash
	files map[string]file
	index file
}

// newPages reads the files once. facts are what the page tells its script before a user has signed in.
func newPages(facts map[string]string) (*pages, error) {
	p := &pages{files: map[string]file{}}
	sum := sha256.New()
	err := fs.WalkDir(app, "app", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := app.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "app/")
		fmt.Fprintf(sum, "%s %d\n", name, len(content))
		sum.Write(content)
		p.files[name] = newFile(name, content)
		return nil
	})
	if err != nil {
		return nil, err
	}

	p.base = filesPath + hex.EncodeToString(sum.Sum(nil))[:16] + "/"
	var links strings.Builder
	for _, name := range p.needed("main.js") {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"%s%s\">\n", p.base, name)
	}

	page := strings.ReplaceAll(string(p.files["index.html"].plain), hashMark, strings.TrimSuffix(p.base, "/"))
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		fmt.Fprintf(&links, "<meta name=\"%s\" content=\"%s\">\n", name, html.EscapeString(facts[name]))
	}

	p.index = newFile("index.html", []byte(strings.Replace(page, "<!-- modules -->\n", links.String(), 1)))
	return p, nil
}

// imported are the modules that a module imports at its beginning. Modules that it imports later, such as screens, are
// not among them.
var imported = regexp.MustCompile(`(?m)^(?:import|export) (?:[^'\n]* from )?'(\.[^']+)'`)

// needed are the modules that the first screen needs: the page names all of them, so that a browser requests them at
// once and not one after the other.
func (p *pages) needed(first string) []string {
	all := []string{first}
	for at := 0; at < len(all); at++ {
		for _, m := range imported.FindAllSubmatch(p.files[all[at]].plain, -1) {
			if name := path.Join(path.Dir(all[at]), string(m[1])); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func newFile(name string, content []byte) file {
	kind := kindsOf[path.Ext(name)]
	if kind == "" {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	if kind == "" {
		kind = "text/plain; charset=utf-8"
	}
	return file{kind, content, sync.OnceValue(func() []byte { return compress(content) })}
}

// compress writes to memory, which does not fail.
func compress(content []byte) []byte {
	var small bytes.Buffer
	z, _ := gzip.NewWriterLevel(&small, gzip.BestCompression)
	_, _ = z.Write(content)
	_ = z.Close()
	return small.Bytes()
}

// ServeHTTP answers a file, and the page for /console/ itself.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if writes(r) {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		return
	}

	if r.URL.Path == root {
		p.index.send(w, r)
		return
	}

	name, ours := strings.CutPrefix(r.URL.Path, p.base)
	found, ok := p.files[name]
	if !ours || !ok {
		http.NotFound(w, r)
		return
	}

	w.Header().Set("Cache-Control", keepFor)
	found.send(w, r)
}

func (f file) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if small := f.small(); len(small) < len(body) {
			h.Set("Content-Encoding", "gzip")
			body = small
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the caller may be gone: not our failure
}
