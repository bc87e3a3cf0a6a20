package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// requireBrowser turns a missing browser into a failure.
const requireBrowser = "LOYALTY_REQUIRE_BROWSER"

// dawdling, when it is set, has the pages' requests answered late.
const dawdling = "LOYALTY_BROWSER_DAWDLES"

// browsed is a page of a real browser, and what it did that it must not.
type browsed struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu       sync.Mutex
	wrong    []string // exceptions, errors of the console, violations of the policy
	requests []asked
}

// browse opens a browser that knows one host.
func browse(t *testing.T, base string) *browsed {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}

	if path == "" {
		if os.Getenv(requireBrowser) != "" {
			t.Fatal("there is no chromium: apt-get install chromium")
		}
		t.Skip("SKIPPED, NOT PASSED: there is no chromium; the console was not looked at (apt-get install chromium)")
	}

	b := &browsed{t: t, base: base}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1280, 900), // tests run as root
		chromedp.Flag("force-prefers-reduced-motion", true)) // what fades in has no contrast yet
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b.ctx = ctx
	require.NoError(t, chromedp.Do(ctx))
	require.NoError(t, chromedp.Listen(ctx, b.heard))
	b.dawdle()
	return b
}

// dawdle has what the page asks answered late, by another while each time, and what a test asks at once: a test that
// compares before the page has come to it fails then, not only on a busy machine.
func (b *browsed) dawdle() {
	if os.Getenv(dawdling) == "" {
		return
	}

	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `(() => {
			const asked = window.fetch
			window.fetch = async (what, how) => {
				const answer = await asked(what, how)
				if (!new Headers(how?.headers).has('` + byTest + `')) await new Promise((late) => setTimeout(late, 600 * Math.random()))
				return answer
			}
		})()`})
		return err
	})))
}

func (b *browsed) heard(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text, _ := json.Marshal(e.ExceptionDetails)
		b.wrong = append(b.wrong, "exception: "+string(text))
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError {
			b.wrong = append(b.wrong, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}

	case *network.EventRequestWillBeSent:
		_, test := e.Request.Headers[byTest]
		b.requests = append(b.requests, asked{e.Request.Method, e.Request.URL, test})
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			text, _ := json.Marshal(e.Args)
			b.wrong = append(b.wrong, "told: "+string(text))
		}
	}
}

// faults gives what went wrong since it was last asked.
func (b *browsed) faults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	wrong := b.wrong
	b.wrong = nil
	return wrong
}

func evaluate[T any](b *browsed, script string) T {
	b.t.Helper()
	limited, stop := context.WithTimeout(b.ctx, patience) // a question of the page holds its scripts
	defer stop()
	v, err := chromedp.Run(limited, chromedp.Evaluate[T](script))
	require.NoError(b.t, err, script)
	return v
}

// until waits for a state of the page.
func (b *browsed) until(condition string) {
	b.t.Helper()
	limited, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	for pause := time.Millisecond; limited.Err() == nil; time.Sleep(pause) {
		pause = min(2*pause, 50*time.Millisecond)
		if v, err := chromedp.Run(limited, chromedp.Evaluate[bool]("Boolean("+condition+")")); err == nil && v {
			return
		}
	}
	require.Fail(b.t, "the page never came to it", "%s\n%s\n%v", condition, evaluate[string](b, "document.body.innerText.slice(0, 2000)"), b.faults())
}

// open goes to a place of the console and waits until it has loaded.
func (b *browsed) open(place string) {
	b.t.Helper()
	// Until the console has heard of it, what is there still belongs to the place before.
	evaluate[bool](b, `(() => { const was = location.hash; addEventListener('hashchange', () => setTimeout(() => { window.moved = true }), {once: true}); location.hash = `+quoted("#"+place)+`; window.moved = location.hash === was; return true })()`)
	b.until("window.moved && document.querySelector('main h1') && !document.querySelector('main .loading')")
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// fill writes into fields of a form as a person does; press clicks what a selector finds.
func (b *browsed) fill(fields map[string]string) {
	b.t.Helper()
	for selector, value := range fields {
		evaluate[bool](b, `(() => { const f = document.querySelector(`+quoted(selector)+`); f.value = `+quoted(value)+`; f.dispatchEvent(new Event('input', {bubbles: true})); f.dispatchEvent(new Event('change', {bubbles: true})); return true })()`)
	}
}

func (b *browsed) press(selector string) {
	b.t.Helper()
	b.until("document.querySelector(" + quoted(selector) + ")")
	evaluate[bool](b, "document.querySelector("+quoted(selector)+").click(), true")
}

// text presses a button by what stands on it.
func (b *browsed) text(words string) {
	b.t.Helper()
	find := `[...document.querySelectorAll('dialog[open] button, main button')].find((e) => e.textContent.includes(` + quoted(words) + `))`
	b.until(find)
	evaluate[bool](b, find+".click(), true")
}

// api asks an operation as the page may, and gives its answer.
func (b *browsed) api(path string) string {
	b.t.Helper()
	evaluate[bool](b, "window.said = null; fetch("+quoted("/console/api"+path)+", {headers: {'"+byTest+"': '1'}}).then((r) => r.text()).then((t) => { window.said = t }), true")
	b.until("window.said !== null")
	return evaluate[string](b, "window.said")
}

// violations has axe look at the page, if it is there: what a person without a mouse, or one
// who hears the page, would stumble over.
// rules narrow it to some.
func (b *browsed) violations(rules ...string) string {
	b.t.Helper()
	axe, err := os.ReadFile("../../../.bin/axe.min.js")
	if err != nil {
		if os.Getenv("LOYALTY_REQUIRE_TOOLS") == "1" {
			require.NoError(b.t, err, "axe is needed: make tools")
		}
		b.t.Log("SKIPPED: there is no axe to look at the pages; make tools installs it")
		return "[]"
	}

	if !evaluate[bool](b, "'axe' in window") {
		evaluate[bool](b, string(axe)+"\n; true")
	}

	only := ""
	if len(rules) > 0 {
		only = ", runOnly: ['" + strings.Join(rules, "', '") + "']"
	}

	evaluate[bool](b, `window.found = null; axe.run(document, {resultTypes: ['violations']`+only+`}).then((r) => { window.found = JSON.stringify(r.violations.map((v) => [v.id, v.nodes.slice(0, 4).map((n) => n.html.slice(0, 200) + n.failureSummary)])) }), true`)
	b.until("window.found !== null")
	return evaluate[string](b, "window.found")
}

// scheme is light or dark, as the person's system is set.
func (b *browsed) scheme(name string) {
	b.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})))
	// a page that sets its colours by a script, as the reference does, hears of it before the next frame
	evaluate[bool](b, "window.drawn = false, requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = true })), true")
	b.until("window.drawn")
}

var consoleLink = regexp.MustCompile(`Console: open (http://\S+)`)

// demonstrate fills a database with the demonstration that every screen is looked at over.
func demonstrate(t *testing.T, database string) {
	t.Helper()
	filled := command(t, t.TempDir(), onConsole(database), "demo", "--customers", "40", "--events", "600", "--quiet")
	require.Zero(t, filled.code, filled.errors)
}

// demonstration is such a database in a file, made once.
var demonstration struct {
	sync.Mutex
	file []byte
}

func demonstrated(t *testing.T) []byte {
	t.Helper()
	demonstration.Lock()
	defer demonstration.Unlock()
	if demonstration.file == nil {
		url := storetest.SQLiteForProgram(t)
		demonstrate(t, url)
		path := strings.TrimPrefix(url, "sqlite:")
		require.NoFileExists(t, path+"-wal", "all is in the file")
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		demonstration.file = file
	}
	return demonstration.file
}

// onConsole is the environment of a program with the console.
func onConsole(database string) []string {
	return []string{"LOYALTY_DATABASE_URL=" + database, "LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32), "LOYALTY_CONSOLE=on"}
}

// openConsole starts a server with the demonstration in it and signs in by its link.
func openConsole(t *testing.T, database string) *browsed {
	t.Helper()
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		require.NoError(t, os.WriteFile(path, demonstrated(t), 0o600))
	} else {
		demonstrate(t, database)
	}

	s := serve(t, t.TempDir(), onConsole(database))
	require.Eventually(t, func() bool { return consoleLink.MatchString(s.said()) }, patience, 20*time.Millisecond)
	b := browse(t, s.address)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(consoleLink.FindStringSubmatch(s.said())[1])))
	b.until("document.querySelector('main h1') && document.querySelector('.cards')")
	evaluate[bool](b, "window.said = null; fetch('/console/self/password', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: "+quoted(`{"password":"`+proven+`"}`)+"}).then((r) => { window.said = r.status }), true")
	b.until("window.said !== null")
	require.Less(t, evaluate[int](b, "window.said"), 300, "a password is chosen")
	return b
}

// TestConsoleInABrowser opens every screen over the demonstration, does the main deed of
// several and sees it through the API. No screen throws, breaks the policy, or asks
// another host. make browser looks at it on both databases, make test on the embedded one.
func TestConsoleInABrowser(t *testing.T) {
	databases := storetest.All
	if os.Getenv("LOYALTY_BROWSE_BOTH") == "" { // a screen sees no database, and the server's suite holds every list on both
		databases = databases[:1]
	}
	for _, database := range databases {
		t.Run(database.Name, func(t *testing.T) { everyScreen(openConsole(t, database.Empty(t))) })
	}
}

// places are every screen in each of its shapes.
var places = []string{
	"/", "/customers", "/customers?search=member-000", "/customer/member-0001", "/customer/member-0001?tab=points", "/customer/member-0001?tab=purchases",
	"/customer/member-0001?tab=coupons", "/customer/member-0001?tab=progress", "/customer/member-0001?tab=data", "/stream", "/tester", "/tester?action=point_add",
	"/programme", "/programme?type=offers/offer", "/entity/rewards/reward/free-delivery", "/entity/automation/campaign/double-saturday", "/entity/rewards/reward",
	"/statistics", "/statistics?metric=revenue&by=store&interval=month&compare=previous", "/statistics?metric=purchases&by=joined", "/campaigns", "/campaigns?sort=name&order=desc", "/campaigns?view=calendar", "/campaigns/double-saturday", "/rewards", "/rewards?tab=pools", "/rewards?tab=coupons", "/rewards?tab=bulk", "/levels", "/ledger", "/webhooks", "/configuration", "/self", "/nowhere",
	"/administration", "/administration?tab=settings", "/administration?tab=jobs", "/administration?tab=keys", "/administration?tab=users",
	"/administration?tab=sessions", "/administration?tab=audit", "/administration?tab=failed", "/administration?tab=imports", "/administration?tab=exports", "/administration?tab=system",
}

func everyScreen(b *browsed) {
	t := b.t
	for _, place := range places {
		b.open(place)
		assert.Empty(t, b.faults(), place)
		assert.Equal(t, 0, evaluate[int](b, "document.querySelectorAll('main .failure').length"), "%s: %s", place, evaluate[string](b, "document.querySelector('main').innerText.slice(0, 500)"))
		assert.Equal(t, 1, evaluate[int](b, "document.querySelectorAll('h1').length"), place)
		b.readable(place)
	}
	b.deeds()
	assert.Empty(t, b.faults())
	assert.Greater(t, b.within(), 200, "calls of the API")
	b.kept()
}

// deeds does what people come for, and looks at what came of it.
func (b *browsed) deeds() {
	b.open("/tester?action=checkout")
	b.fill(map[string]string{"input[name=customer]": "member-0001"})
	b.press("main form button.primary")
	b.until("document.querySelector('.explain .rule')")
	assert.Contains(b.t, evaluate[string](b, "document.querySelector('.explain').innerText"), "Earning")

	before := b.api("/customers/member-0001/points")
	b.open("/customer/member-0001")
	b.text("Correct points")
	b.until("document.querySelector('input[name=points]')")
	b.fill(map[string]string{"input[name=points]": "17", "input[name=reason]": "Apology"})
	b.press("form.filters button.primary")
	b.until("document.querySelector('.toasts p')")
	assert.NotEqual(b.t, before, b.api("/customers/member-0001/points"))
	b.corrected()

	b.open("/entity/stores/store")
	b.fill(map[string]string{"main input[name=id]": "corner", "#f-name": "Corner"})
	b.press("main form button.primary")
	b.until("location.hash === '#/entity/stores/store/corner'")
	assert.Contains(b.t, b.api("/entities/stores/store/corner"), "Corner")

	b.open("/ledger")
	b.text("Prove it now")
	b.until("document.querySelectorAll('.rule.applied').length >= 10")
	b.proved()

	b.owed()

	b.open("/statistics?metric=purchases&by=joined")
	b.until("document.querySelector('table.cohorts tbody tr')")
	assert.Regexp(b.t, `^\d{4}-\d\d$`, evaluate[string](b, "document.querySelector('table.cohorts tbody th').textContent"))
	assert.Contains(b.t, b.api("/admin/statistics?metric=purchases&by=joined&interval=month"), `"by":"joined"`)

	b.prove() // the way here may have taken more than the ten minutes that a sign-in proves
	b.open("/administration?tab=users")
	b.fill(map[string]string{"main input[name=login]": "sample.editor"})
	evaluate[bool](b, "document.querySelector('select[name=role]').value = 'editor', true")
	b.press("main form button.primary")
	b.until("[...document.querySelectorAll('td')].some((e) => e.textContent === 'sample.editor')")
	assert.Contains(b.t, b.api("/admin/users/sample.editor"), `"role":"editor"`)

	b.prove()
	b.open("/webhooks")
	b.fill(map[string]string{"main input[name=label]": "CRM", "main input[name=url]": "https://crm.example.com/hook", "main input[name=types]": "event.point_* event.opt_out"})
	b.press("main form button.primary")
	b.until("document.querySelector('dialog[open] pre')?.textContent.startsWith('whsec_')") // shown once
	b.press("dialog[open] button")
	b.until("document.querySelector('main a[href^=\"#/webhooks/\"]')")
	evaluate[bool](b, "document.querySelector('main a[href^=\"#/webhooks/\"]').click(), true")
	b.until("document.querySelector('main .cards') && !document.querySelector('main .loading')")
	b.attempted()
	b.text("Pause")
	b.until("[...document.querySelectorAll('main button')].some((e) => e.textContent.includes('Resume'))")
	assert.Contains(b.t, b.api("/admin/webhooks"), `"state":"paused"`)
	b.removed()

	b.programme()
	b.people()
	b.found()
	b.bought()
	b.sight()
	b.operation()
	b.modules()
	b.refused()
	b.keys()
	b.trouble()
	b.page()
	b.overview()
	b.manager()
	b.given()
	b.balance()
	b.ladder()
	b.exports()
	b.imports()
	assert.Empty(b.t, b.faults())

	b.narrow()
}

// clipped are texts of which a part is cut off.
const clipped = `[...document.querySelectorAll('main *, header *')].filter((e) => e.scrollWidth > e.clientWidth + 1 && ['hidden', 'clip'].includes(getComputedStyle(e).overflowX) && e.innerText?.trim() && !e.closest('.hidden, .chart, .scroll, pre, textarea, select')).map((e) => e.tagName + ' ' + e.innerText.slice(0, 40)).join(' | ')`

// narrow looks at every screen as a telephone shows it, in each language: nothing is wider than
// the window, no text is cut off.
func (b *browsed) narrow() {
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.EmulateViewport(320, 640)))
	for _, language := range []string{"es", "fr", "hu", "en"} {
		evaluate[bool](b, `(() => { const s = document.querySelector('header select'); s.value = `+quoted(language)+`; s.dispatchEvent(new Event('change', {bubbles: true})); return true })()`)
		b.until("document.documentElement.lang === " + quoted(language))
		for _, place := range places {
			b.open(place)
			assert.LessOrEqual(b.t, evaluate[int](b, "document.documentElement.scrollWidth"), 320, "%s %s", language, place)
			assert.Empty(b.t, evaluate[string](b, clipped), "%s %s", language, place)
			if language != "en" {
				assert.Empty(b.t, evaluate[string](b, "[...document.querySelectorAll('main .help[lang=en]')].map((e) => e.textContent).join(' | ')"), "%s %s", language, place)
			}
		}
	}
}

// TestConsoleSizes holds the first load of the console to its budgets.
func TestConsoleSizes(t *testing.T) {
	s := serve(t, t.TempDir(), []string{"LOYALTY_CONSOLE=on"})
	read := func(path string) (string, int) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.address+path, nil)
		require.NoError(t, err)
		r.Header.Set("Accept-Encoding", "gzip") // by hand: the body stays as it was sent
		resp, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
		return resp.Header.Get("Cache-Control"), int(resp.ContentLength)
	}

	page, err := http.Get(s.address + "/console/")
	require.NoError(t, err)
	defer func() { _ = page.Body.Close() }()
	body := make([]byte, 1<<20)
	n, _ := page.Body.Read(body)
	sum, count := 0, 0
	for _, link := range regexp.MustCompile(`(?:href|src)="(/console/files/[^"]+)"`).FindAllStringSubmatch(string(body[:n]), -1) {
		keep, size := read(link[1])
		require.Contains(t, keep, "immutable")
		sum, count = sum+size, count+1
	}

	require.Greater(t, count, 8)
	require.Less(t, sum, 70<<10, "bytes of the first load, compressed")
	require.Less(t, count, 40)
}
