package portal_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
	"github.com/loyalty-platform/loyalty/server/portal"
)

// ask sends a request to a portal that hands what is tried to a handler.
func ask(p http.Handler, method, target, body string, headers ...string) (int, http.Header, string) {
	r := httptest.NewRequest(method, "http://loyalty.test"+target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	answer := w.Result()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, string(text)
}

// TestEveryThingHasAPage counts: each operation, action, entity, module and error of the
// documents has a page, as HTML and as Markdown, in the list for machines and in the
// search, and each link on a page leads to one.
func TestEveryThingHasAPage(t *testing.T) {
	var notices []portal.Notice
	for _, n := range webhook.Notices() {
		notices = append(notices, portal.Notice(n))
	}

	p := portal.New("local", http.NotFoundHandler(), notices...)
	wanted := []string{"/docs", "/docs/guide", "/docs/apis", "/docs/events", "/docs/entities", "/docs/entities/custom", "/docs/modules", "/docs/errors", "/docs/signing", "/docs/conditions", "/docs/webhooks"}
	guide, err := filepath.Glob("assets/guide/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, guide)
	for _, file := range guide {
		wanted = append(wanted, "/docs/guide/"+strings.TrimSuffix(filepath.Base(file), ".md"))
	}

	for _, api := range openapi.Names() {
		wanted = append(wanted, "/docs/apis/"+api)
		doc, err := openapi.Load(api)
		require.NoError(t, err)
		for _, item := range doc.Paths.Map() {
			for _, op := range item.Operations() {
				wanted = append(wanted, "/docs/operations/"+op.OperationID)
			}
		}

		switch api {
		case "entities":
			for kind := range doc.Extensions["x-entities"].(map[string]any) {
				if !strings.Contains(kind, "{") {
					wanted = append(wanted, "/docs/entities/"+kind)
				}
			}

		case "administration":
			for _, name := range doc.Components.Schemas["ModuleName"].Value.Enum {
				wanted = append(wanted, fmt.Sprintf("/docs/modules/%v", name))
			}

		case "events":
			for name := range doc.Components.Schemas["Event"].Value.Extensions["x-internal-actions"].(map[string]any) {
				wanted = append(wanted, "/docs/events/"+name, "/docs/webhooks/event."+name)
			}
		}
	}

	vocabulary, err := contract.NewVocabulary()
	require.NoError(t, err)
	for _, action := range vocabulary.Actions() {
		wanted = append(wanted, "/docs/events/"+action, "/docs/webhooks/event."+action)
	}

	for _, name := range webhook.NoticeNames() {
		wanted = append(wanted, "/docs/webhooks/"+name)
	}

	_, _, optIn := ask(p, http.MethodGet, "/docs/webhooks/event.opt_in.md", "")
	require.Contains(t, optIn, `"type": "event.opt_in"`)
	require.NotContains(t, optIn, "@", "what is personal is in no message")
	failures, err := openapi.Errors()
	require.NoError(t, err)
	for _, e := range failures {
		wanted = append(wanted, fmt.Sprintf("/docs/errors/%d", e.Code))
	}

	require.Greater(t, len(wanted), 300)

	_, _, list := ask(p, http.MethodGet, "/llms.txt", "")
	_, _, search := ask(p, http.MethodGet, "/docs/search.json", "")
	var rows [][3]string
	require.NoError(t, json.Unmarshal([]byte(search), &rows))
	found := map[string]bool{}
	for _, row := range rows {
		require.NotContains(t, found, row[0])
		require.NotEmpty(t, row[1], row)
		require.NotEmpty(t, row[2], row)
		found[row[0]] = true
	}

	links := regexp.MustCompile(`\]\((/[^)]*)\)`)
	for _, path := range wanted {
		require.True(t, found[path], "%s is not found by the search", path)
		require.Contains(t, list, "("+path+".md)")
		status, header, page := ask(p, http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, status, path)
		require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
		require.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
		require.NotContains(t, page, "raw HTML omitted", path)
		require.NotContains(t, page, "%!", path)
		status, _, text := ask(p, http.MethodGet, path+".md", "")
		require.Equal(t, http.StatusOK, status, path)
		require.True(t, strings.HasPrefix(text, "# "), path)
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(link[1], "#")
			to = strings.TrimSuffix(to, ".md")
			if anchor != "" {
				_, _, there := ask(p, http.MethodGet, to, "")
				require.Contains(t, there, `id="`+anchor+`"`, "%s links to %s", path, link[1])
			}
			outside := strings.HasPrefix(to, "/openapi/") || strings.HasPrefix(to, "/collections/") || to == "/llms.txt" || to == "/docs/reference"
			require.True(t, outside || found[to], "%s links to %s, which is not there", path, to)
		}
	}

	_, _, start := ask(p, http.MethodGet, "/", "")
	require.LessOrEqual(t, len(start), 40<<10)
	status, _, _ := ask(p, http.MethodGet, "/docs/nothing-here", "")
	require.Equal(t, http.StatusNotFound, status)
}

// TestSamplesNameWhereTheyAre: a sample names the address under which its page is asked for, and a name that no address can
// have is not written into a page.
func TestSamplesNameWhereTheyAre(t *testing.T) {
	p := portal.New("local", nil)
	read := func(path, host, proto string) string {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = host
		r.Header.Set("X-Forwarded-Proto", proto)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code)
		return w.Body.String()
	}

	for _, path := range []string{"/docs.md", "/docs", "/docs/signing", "/docs/operations/getCustomer", "/docs/events/point_add.md"} {
		require.Contains(t, read(path, "[::1]:9000", ""), "http://[::1]:9000", path)
		page := read(path, "loyalty.shop.test", "https")
		require.Contains(t, page, "https://loyalty.shop.test", path)
		require.NotContains(t, page, "127.0.0.1", path)
		for _, hostile := range []string{"x'$(id)", `x"><b>`, "a b", "x;id"} {
			require.NotContains(t, read(path, hostile, ""), "//"+hostile, path)
		}
	}
}

// TestAssets: pages load what they load from the portal itself.
func TestAssets(t *testing.T) {
	p := portal.New("local", nil)
	for _, file := range []string{"portal.css", "portal.js", "sign.js"} {
		status, header, _ := ask(p, http.MethodGet, "/docs/assets/"+file, "")
		require.Equal(t, http.StatusOK, status, file)
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
	}

	for _, secret := range []string{"/docs/assets/..%2fpage.html", "/docs/assets/", "/docs/assets/nothing.js"} {
		status, _, _ := ask(p, http.MethodGet, secret, "")
		require.GreaterOrEqual(t, status, http.StatusBadRequest, secret)
	}

	status, _, page := ask(p, http.MethodGet, "/docs", "")
	require.Equal(t, http.StatusOK, status)
	require.NotContains(t, page, `id="try"`, "nothing can be tried here")
	status, _, _ = ask(p, http.MethodPost, "/docs/try", `{}`)
	require.Equal(t, http.StatusNotFound, status)
}

// TestWordsOfTheScript: what the scripts of a page tell is there in each language, with the same holes.
func TestWordsOfTheScript(t *testing.T) {
	_, _, script := ask(portal.New("local", nil), http.MethodGet, "/docs/assets/words.js", "")
	said := map[string]map[string][]string{}
	for _, block := range regexp.MustCompile(`(?ms)^  (\w\w): \{$(.*?)^  \},$`).FindAllStringSubmatch(script, -1) {
		said[block[1]] = map[string][]string{}
		for _, word := range regexp.MustCompile(`(\w+): '((?:[^'\\]|\\.)+)'`).FindAllStringSubmatch(block[2], -1) {
			holes := regexp.MustCompile(`\{\w+\}`).FindAllString(word[2], -1)
			slices.Sort(holes)
			said[block[1]][word[1]] = holes
		}
	}

	require.Len(t, said, 4)
	require.Greater(t, len(said["en"]), 30)
	for language, words := range said {
		require.Equal(t, said["en"], words, language)
	}

	for _, file := range []string{"portal.js", "owner.js", "explain.js"} {
		_, _, text := ask(portal.New("local", nil), http.MethodGet, "/docs/assets/"+file, "")
		for _, asked := range regexp.MustCompile(`\bt\('(\w+)'`).FindAllStringSubmatch(text, -1) {
			require.Contains(t, said["en"], asked[1], file)
		}
	}
}

// TestTried: a request is handed on as it was signed, under the caller's own address, and
// nothing can be claimed on the way.
func TestTried(t *testing.T) {
	var got *http.Request
	var body []byte
	p := portal.New("local", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("X-Request-Id", "one")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("short and stout"))
		if r.URL.Path == "/long" {
			_, err := w.Write(make([]byte, 5<<20))
			require.Error(t, err)
		}
	}))

	status, header, text := ask(p, http.MethodPost, "/docs/try", `{"method":"POST","target":"/events?a=%20b","headers":[["Date","20260101T000000Z"],["authorization","x"]],"body":"{\"é\":1}"}`,
		"Cookie", "loyalty=stolen", "X-Forwarded-For", "192.0.2.1", "Sec-Fetch-Site", "same-origin")
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, "no-store", header.Get("Cache-Control"))
	require.Equal(t, "/events?a=%20b", got.RequestURI)
	require.Equal(t, "loyalty.test", got.Host)
	require.Equal(t, "192.0.2.1:1234", got.RemoteAddr, "the caller's own address")
	require.Equal(t, `{"é":1}`, string(body))
	require.Equal(t, http.Header{"Date": {"20260101T000000Z"}, "Authorization": {"x"}, "X-Forwarded-For": {"192.0.2.1"}}, got.Header, "no cookie")
	var answer struct {
		Status  int
		Headers [][2]string
		Body    string
		Cut     bool
	}

	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	require.Equal(t, http.StatusTeapot, answer.Status)
	require.Equal(t, [][2]string{{"X-Request-Id", "one"}}, answer.Headers)
	require.Equal(t, "short and stout", answer.Body)

	_, _, text = ask(p, http.MethodPost, "/docs/try", `{"method":"GET","target":"/long"}`)
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	require.True(t, answer.Cut)

	for _, row := range []struct {
		what, body string
		status     int
		says       string
		headers    []string
	}{
		{"not JSON", `{`, 400, "not JSON", nil},
		{"a verb", `{"method":"PUT","target":"/events"}`, 400, "method", nil},
		{"another host", `{"method":"GET","target":"http://elsewhere.test/"}`, 400, "target", nil},
		{"another host without a scheme", `{"method":"GET","target":"//elsewhere.test/"}`, 400, "target", nil},
		{"itself", `{"method":"POST","target":"/docs/try"}`, 400, "target", nil},
		{"the console", `{"method":"GET","target":"/console/api/customers"}`, 400, "target", nil},
		{"a header of a proxy", `{"method":"GET","target":"/","headers":[["x-forwarded-for","127.0.0.1"]]}`, 400, "X-Forwarded-For", nil},
		{"a cookie", `{"method":"GET","target":"/","headers":[["cookie","a=b"]]}`, 400, "Cookie", nil},
		{"a host", `{"method":"GET","target":"/","headers":[["host","a"]]}`, 400, "Host", nil},
		{"a hop", `{"method":"GET","target":"/","headers":[["connection","close"]]}`, 400, "Connection", nil},
		{"a large body", `{"method":"POST","target":"/","body":"` + strings.Repeat("x", 1<<20+1) + `"}`, 400, "body", nil},
		{"a huge body", `{"method":"POST","target":"/","body":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "too large", nil},
		{"another site", `{"method":"GET","target":"/"}`, 403, "only the pages", []string{"Sec-Fetch-Site", "cross-site"}},
		{"another origin", `{"method":"GET","target":"/"}`, 403, "only the pages", []string{"Origin", "http://elsewhere.test"}},
		{"a sandboxed page", `{"method":"GET","target":"/"}`, 403, "only the pages", []string{"Origin", "null"}},
	} {
		got = nil
		status, _, text := ask(p, http.MethodPost, "/docs/try", row.body, row.headers...)
		require.Equal(t, row.status, status, row.what)
		require.Contains(t, text, row.says, row.what)
		require.Nil(t, got, row.what)
	}

	status, _, _ = ask(p, http.MethodGet, "/docs/try", "")
	require.Equal(t, http.StatusMethodNotAllowed, status)
}

// TestFewAreTriedAtOnce: what is read there is not signed yet, so that little is read.
func TestFewAreTriedAtOnce(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	p := portal.New("local", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
	}))

	ended := make(chan int)
	const most = 4
	for range most {
		go func() {
			status, _, _ := ask(p, http.MethodPost, "/docs/try", `{"method":"GET","target":"/customers"}`)
			ended <- status
		}()
		<-arrived
	}

	status, header, _ := ask(p, http.MethodPost, "/docs/try", `{"method":"GET","target":"/customers"}`)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "1", header.Get("Retry-After"))
	close(release)
	for range most {
		require.Equal(t, http.StatusOK, <-ended)
	}
}

// TestSlowBodiesKeepNobodyFromTrying: bodies that come slowly, however many, neither take the places
// of requests that are tried nor all of the room for bodies: the oldest of them is cut off.
func TestSlowBodiesKeepNobodyFromTrying(t *testing.T) {
	p := portal.New("local", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	s := httptest.NewServer(p)
	defer s.Close()
	const slow = 40 // more than are read at a time
	cut := make(chan int, slow)
	for range slow {
		body, feed := io.Pipe()
		defer feed.Close()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/docs/try", body)
		require.NoError(t, err)
		go func() {
			answer, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				cut <- 0
				return
			}
			defer answer.Body.Close()
			cut <- answer.StatusCode
		}()

		_, err = feed.Write([]byte("{"))
		require.NoError(t, err)
	}

	require.Contains(t, []int{0, http.StatusRequestTimeout}, <-cut, "room is made")
	answer, err := http.Post(s.URL+"/docs/try", "application/json", strings.NewReader(`{"method":"GET","target":"/customers"}`))
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), `"status":418`)
}

// TestPortalSpeaks: what stands around a page, and the names of sections, are in the reader's
// language; what the documents say stays English, and is marked so. A language that the portal
// does not speak gets English.
func TestPortalSpeaks(t *testing.T) {
	p := portal.New("local", http.NotFoundHandler())
	for wanted, has := range map[string][3]string{
		"": {"en", "Errors", "Search"}, "de": {"en", "Errors", "Search"}, "x;;": {"en", "Errors", "Search"}, "en-GB": {"en", "Errors", "Search"},
		"es-MX, en;q=0.5": {"es", "Errores", "Buscar"}, "fr": {"fr", "Erreurs", "Rechercher"}, "de, hu;q=0.8": {"hu", "Hibák", "Keresés"},
	} {
		status, header, page := ask(p, http.MethodGet, "/docs/errors", "", "Accept-Language", wanted)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, []string{has[0], "Accept-Language"}, []string{header.Get("Content-Language"), header.Get("Vary")}, wanted)
		require.Contains(t, page, `<html lang="`+has[0]+`">`, wanted)
		require.Contains(t, page, "<h1>"+has[1]+"</h1>", wanted)
		require.Equal(t, 1, strings.Count(page, "<h1"), wanted)
		require.Contains(t, page, has[2]+"</label>", wanted)
		require.Contains(t, page, `<div lang="en">`)
		_, _, operation := ask(p, http.MethodGet, "/docs/operations/submitEvent", "", "Accept-Language", wanted)
		require.Contains(t, operation, has[1]+"</a>", "the menu")
		require.Equal(t, 1, strings.Count(operation, "<h1"))
		require.NotContains(t, operation, "<no value>")
	}

	_, _, conditions := ask(p, http.MethodGet, "/docs/conditions.md", "")
	require.NotContains(t, conditions, "**Signing.**", "it is about conditions")
	require.Contains(t, conditions, "previewCampaigns")
	_, _, reward := ask(p, http.MethodGet, "/docs/entities/rewards/reward.md", "")
	require.Contains(t, reward, "required*\n    - `amount`: ", "a list in a description is one")
	for _, path := range []string{"/docs", "/docs/apis", "/docs/events", "/docs/entities", "/docs/modules", "/docs/conditions", "/docs/signing", "/docs/webhooks", "/docs/errors"} {
		_, _, page := ask(p, http.MethodGet, path, "", "Accept-Language", "hu")
		require.Regexp(t, `<h1>[^<]+</h1>`, page, path)
		require.NotContains(t, page, `"></a></li>`, "each section has a name")
	}
}
