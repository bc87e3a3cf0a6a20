package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

// eachFile reads the console's own files, without the libraries.
func eachFile(t *testing.T, do func(name, text string)) {
	t.Helper()
	seen := 0
	require.NoError(t, fs.WalkDir(app, "app", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "/vendor/") {
			return err
		}
		text, err := app.ReadFile(name)
		seen++
		do(strings.TrimPrefix(name, "app/"), string(text))
		return err
	}))
	require.Greater(t, seen, 30)
}

func words(t *testing.T, language string) map[string]any {
	t.Helper()
	text, err := app.ReadFile("app/words/" + language + ".json")
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

// holes are what a text leaves to be filled in.
func holes(text any) []string {
	raw, _ := json.Marshal(text)
	found := regexp.MustCompile(`\{[a-z]+\}`).FindAllString(string(raw), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// TestWords: the four languages have the same words with the same holes, every word that
// a file asks for is there, and every word is asked for.
func TestWords(t *testing.T) {
	english := words(t, "en")
	for _, language := range []string{"es", "fr", "hu"} {
		other := words(t, language)
		for name, text := range english {
			if assert.Contains(t, other, name, language) {
				assert.Equal(t, holes(text), holes(other[name]), "%s %s", language, name)
			}
		}
		assert.Len(t, other, len(english), language)
	}

	asked, begun := map[string]bool{}, []string{"nav."}
	literal, prefix := regexp.MustCompile(`\bt\('([\w./-]+)'[,)]`), regexp.MustCompile(`\bt\('([\w.]+\.)' \+`)
	eachFile(t, func(name, text string) {
		for _, m := range literal.FindAllStringSubmatch(text, -1) {
			asked[m[1]] = true
			assert.Contains(t, english, m[1], name)
		}
		for _, m := range prefix.FindAllStringSubmatch(text, -1) {
			begun = append(begun, m[1])
		}
	})

	for name := range english {
		if !asked[name] && !slices.ContainsFunc(begun, func(p string) bool { return strings.HasPrefix(name, p) }) {
			t.Errorf("nobody asks for the word %s", name)
		}
	}
}

// TestFiles: no file is long, names another host, or makes markup of a text.
func TestFiles(t *testing.T) {
	eachFile(t, func(name, text string) {
		if !strings.HasPrefix(name, "words/") {
			assert.LessOrEqual(t, strings.Count(text, "\n"), 250, name)
		}
		if strings.HasSuffix(name, ".js") {
			assert.NotRegexp(t, `https?://|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function`, text, name)
		}
	})

	menu, err := app.ReadFile("app/screens.js")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`file: '(\w+)'`).FindAllStringSubmatch(string(menu), -1) {
		_, err := app.ReadFile("app/screen/" + m[1] + ".js")
		assert.NoError(t, err, "a screen of the menu")
	}
}

// TestVendored: the libraries are what their sums say.
func TestVendored(t *testing.T) {
	sums, err := app.ReadFile("app/vendor/SUMS")
	require.NoError(t, err)
	count := 0
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		content, err := app.ReadFile("app/vendor/" + name)
		require.NoError(t, err)
		sum := sha256.Sum256(content)
		assert.Equal(t, want, hex.EncodeToString(sum[:]), name)
		count++
	}

	entries, err := app.ReadDir("app/vendor")
	require.NoError(t, err)
	require.Len(t, entries, count+1, "each file but SUMS has a sum")
}

// TestPages: files are kept for good under their hash, the page that names it never, and
// there is nothing else.
func TestPages(t *testing.T) {
	p, err := newPages(map[string]string{"outside": `A "company"`})
	require.NoError(t, err)
	get := func(path, encoding string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		return w
	}

	page := get("/console/", "")
	require.Equal(t, http.StatusOK, page.Code)
	require.NotContains(t, page.Body.String(), hashMark)
	require.NotContains(t, page.Body.String(), "<!-- modules -->")
	require.Contains(t, page.Body.String(), `<meta name="outside" content="A &#34;company&#34;">`)
	for _, link := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(page.Body.String(), -1) {
		plain, small := get(link[1], ""), get(link[1], "br, gzip")
		require.Equal(t, http.StatusOK, plain.Code, link[1])
		require.Equal(t, keepFor, plain.Header().Get("Cache-Control"))
		require.LessOrEqual(t, small.Body.Len(), plain.Body.Len())
	}

	require.Equal(t, "text/javascript; charset=utf-8", get(p.base+"main.js", "").Header().Get("Content-Type"))
	for _, none := range []string{"/console/none", p.base + "none", p.base, filesPath + "0000000000000000/main.js", p.base + "../main.js"} {
		require.Equal(t, http.StatusNotFound, get(none, "").Code, none)
	}
}

// TestFirstPaint: the page names every module without which nothing is seen, so that none is asked for only once another one
// is there; and none that is not needed then.
func TestFirstPaint(t *testing.T) {
	p, err := newPages(nil)
	require.NoError(t, err)
	from := regexp.MustCompile(`\bfrom '(\.[^']+)'`)
	needed := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		if needed[name] {
			return
		}
		needed[name] = true
		for _, m := range from.FindAllStringSubmatch(string(p.files[name].plain), -1) {
			follow(path.Join(path.Dir(name), m[1]))
		}
	}

	follow("main.js")
	require.True(t, needed["part/dialog.js"], "more than what stands beside it")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`<link rel="modulepreload" href="([^"]+)">`).FindAllStringSubmatch(string(p.index.plain), -1) {
		named[strings.TrimPrefix(m[1], p.base)] = true
	}

	require.Equal(t, needed, named)
}

// TestRefusalsAreInTheTable: openapi/errors.yaml tells of every refusal of the console, with
// its code and status, and of no other.
func TestRefusalsAreInTheTable(t *testing.T) {
	all, err := openapi.Errors()
	require.NoError(t, err)
	rows, own := map[string][2]int{}, 0
	for _, e := range all {
		rows[e.Name] = [2]int{e.Code, e.Status}
		if strings.HasPrefix(e.Name, "console_") {
			own++
		}
	}

	for _, r := range []refusal{errSession, errSignIn, errCodeNeeded, errSlow, errBusy, errLink, errCrossSite, errInsecure, errPasskey, errPasskeyPlace, errOutsideState, errOutsideRefused, errOutsideAway, errOutsideToken, errOutsideRole, errMediaType, errSignedIn, errBody, errInternal, errAway} {
		require.Equal(t, [2]int{r.code, r.status}, rows[r.name], r.name)
		if strings.HasPrefix(r.name, "console_") {
			own--
		}
	}

	require.Zero(t, own, "rows of the console that it never refuses with")
}

// TestPicturesOfNamedHosts: the policy lets pictures in from the hosts that were named, and from no other.
func TestPicturesOfNamedHosts(t *testing.T) {
	require.Contains(t, headers(nil).Get("Content-Security-Policy"), "img-src 'self' data:; ")
	require.Contains(t, headers([]string{"cdn.shop.test", "*.shop.test:8443"}).Get("Content-Security-Policy"), "img-src 'self' data: https://cdn.shop.test https://*.shop.test:8443; ")
}
