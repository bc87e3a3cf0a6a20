package main

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestPortalInABrowser signs and sends a request from a page of the portal, as a reader
// does, sees a wrong secret explained, finds a page by the search, and sends one from the
// reference. No page throws, breaks its policy or asks another host.
func TestPortalInABrowser(t *testing.T) {
	t.Parallel()
	g := newGround(t, storetest.SQLiteForProgram(t))
	g.env = append(g.env, "LOYALTY_SIGNING_DEBUG=true")
	s := g.start(t)
	b := browse(t, s.address)
	visit := func(path, until string) {
		require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(s.address+path)))
		b.until(until)
	}

	const outcome = "document.querySelector('#try .outcome')?.innerText"
	visit("/docs/events/opt_in", "document.querySelector('#try:not([hidden])') && document.querySelector('.tabs button')")
	require.Equal(t, len(sampleLanguages), evaluate[int](b, "document.querySelectorAll('.tabs button').length"), "a tab for each language")
	b.fill(map[string]string{"#try [name=key]": g.key.KeyID, "#try [name=secret]": "wrong"})
	b.press("#try button[type=submit]")
	b.until(outcome + "?.includes('What error 101024 means')")
	require.Contains(t, evaluate[string](b, outcome), "canonicalised the request as this page did")
	evaluate[bool](b, `(() => { const send = window.fetch; window.fetch = (to, how) => { window.fetch = send; return send(to, {...how, body: how.body.replace('member-1001', 'member-1002')}) }; return true })()`)
	b.press("#try button[type=submit]")
	b.until("document.querySelector('#try mark')") // changed on its way: the hash of the body is another one
	require.Regexp(t, "^[0-9a-f]{64}\\n$", evaluate[string](b, "document.querySelector('#try mark').textContent"))
	require.Contains(t, evaluate[string](b, outcome), "the hash of the body")
	b.faults() // the browser tells of a 401 that it got by way of the relay: it did not
	b.fill(map[string]string{"#try [name=secret]": g.key.Secret})
	b.press("#try button[type=submit]")
	b.until(outcome + "?.startsWith('200 in')")
	require.Equal(t, 200, newCaller(t, g.key).get(s.address+"/customers/member-1001").status, "it is done")
	require.Contains(t, evaluate[string](b, "[...document.querySelectorAll('#try details')].map((d) => d.textContent).join()"), "idempotency-key:", "the canonical request is shown")
	require.NotContains(t, evaluate[string](b, "document.documentElement.outerHTML"), g.key.Secret, "the secret is nowhere in the page")

	b.refusals(outcome)

	b.fill(map[string]string{"#search": "points expire"})
	b.until("document.querySelector('#found a')")

	visit("/docs/reference?api=customers", "document.querySelectorAll('.opblock').length > 5")
	b.fill(map[string]string{"#choice [name=key]": g.key.KeyID, "#choice [name=secret]": g.key.Secret})
	evaluate[bool](b, `[...document.querySelectorAll('.opblock-summary-path')].find((e) => e.dataset.path === '/customers').closest('.opblock').querySelector('button').click(), true`)
	b.press(".try-out__btn")
	b.press(".execute")
	b.until("document.querySelector('.live-responses-table')?.innerText.includes('member-1001')")
	assert.Empty(t, b.faults())
	for _, page := range []string{"/", "/docs/apis", "/docs/signing", "/docs/errors/190010", "/docs/entities/rewards/reward", "/docs/webhooks"} {
		visit(page, "document.querySelector('main h1')")
		assert.Empty(t, b.faults(), page)
		assert.Equal(t, "[]", b.violations(), page)
	}

	b.within()
}

// refusals sends requests whose path was changed on its way, whose path does not exist, and whose
// date is wrong: the page says what it was.
func (b *browsed) refusals(outcome string) {
	b.t.Helper()
	evaluate[bool](b, `(() => { const send = window.fetch; window.fetch = (to, how) => { window.fetch = send; return send(to, {...how, body: how.body.replace('"/events"', '"/events/preview"')}) }; return true })()`)
	b.press("#try button[type=submit]")
	b.until("document.querySelector('#try mark')?.textContent === '/events/preview\\n'")
	require.Contains(b.t, evaluate[string](b, outcome), "Line 2 of what the server canonicalised differs, the path. The page signed: /events The server got:")
	assert.Equal(b.t, "[]", b.violations())

	b.fill(map[string]string{"#try [name=method]": "GET", "#try [name=target]": "/customer/member-1001"})
	b.press("#try button[type=submit]")
	b.until("[...document.querySelectorAll('#try .outcome li a')].some((a) => a.textContent === 'GET /customers/{customer_id}')")
	require.Contains(b.t, evaluate[string](b, outcome), "What error 190066 means")

	b.fill(map[string]string{"#try [name=target]": "/customers/member-1001"})
	evaluate[bool](b, "window.Clock = Date, window.Date = class extends Date { constructor(...at) { at.length ? super(...at) : super(Clock.now() - 7 * 3600000) } }, true")
	b.press("#try button[type=submit]")
	b.until(outcome + "?.includes('What error 101022 means')")
	require.Regexp(b.t, `by the clock of this machine. It is 0[67]:[05][09]:\d\d behind the server's`, evaluate[string](b, outcome))
	evaluate[bool](b, "window.Date = Clock, true")
	b.press("#try button[type=submit]")
	b.until(outcome + "?.startsWith('200 in')")
	b.faults() // the browser tells of refusals that it got by way of the relay
}

// TestReferenceIsAccessible: axe finds nothing in the reference, of whichever API, nor in what opens there: operations,
// the form to try one, its answer, schemas; in light and in dark.
func TestReferenceIsAccessible(t *testing.T) {
	t.Parallel()
	g := newGround(t, storetest.SQLiteForProgram(t))
	s := g.start(t)
	b := browse(t, s.address)
	visit := func(api string) {
		require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(s.address+"/docs/reference?api="+api)))
		b.until("document.querySelectorAll('.opblock').length > 0")
	}

	for _, api := range openapi.Names() {
		visit(api)
		b.readable(api)
	}

	visit("events")
	b.fill(map[string]string{"#choice [name=key]": g.key.KeyID, "#choice [name=secret]": g.key.Secret})
	evaluate[bool](b, `document.querySelectorAll('.opblock-summary-control').forEach((e) => e.click()), document.querySelector('.models-control').click(), true`)
	b.until("document.querySelectorAll('.try-out__btn').length === document.querySelectorAll('.opblock').length && document.querySelector('.model-box-control')")
	evaluate[bool](b, `[...document.querySelectorAll('.model-box-control')].slice(0, 6).forEach((e) => e.click()), true`)
	evaluate[bool](b, `[...document.querySelectorAll('.opblock-summary-path')].find((e) => e.dataset.path === '/events' && e.closest('.opblock-post')).closest('.opblock').querySelector('.try-out__btn').click(), true`)
	b.press(".execute")
	b.until("document.querySelector('.live-responses-table')")
	b.readable("what opens")
}

// TestPortalOfAnOwner: an owner who is signed in to the console makes a key from a page of the
// portal, after a proof of who they are where one is asked for. It reads, it writes nothing, and
// it ends in an hour. A request goes by their session as well, with no key in the page.
func TestPortalOfAnOwner(t *testing.T) {
	t.Parallel()
	b := openConsole(t, storetest.EmptySQLite(t))
	visit := func(path string) {
		require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(b.base+path)))
		b.until("document.querySelector('#try:not([hidden])')")
	}

	const said, outcome = "document.querySelector('#try .made').innerText", "document.querySelector('#try .outcome').innerText"
	visit("/docs/operations/listCustomers")
	evaluate[bool](b, `(() => { const send = window.fetch; window.fetch = (to, how) => { if (to !== '/console/api/admin/keys') return send(to, how); window.fetch = send; return Promise.resolve(new Response('{"error":{"code":190641}}', {status: 403})) }; return true })()`)
	b.press("#try [name=hour]")
	b.until("document.querySelector('#try .made [type=password]')") // the last proof is too old
	b.fill(map[string]string{"#try .made [type=password]": "wrong"})
	b.press("#try .made button")
	b.until("document.querySelector('#try .made [role=alert]').textContent")
	b.faults() // the browser tells of the refusal
	b.fill(map[string]string{"#try .made [type=password]": proven})
	b.press("#try .made button")
	b.until(said + ".includes('reads only and ends at')")
	secret := evaluate[string](b, "document.querySelector('#try [name=secret]').value")
	require.NotEmpty(t, secret)
	require.NotContains(t, evaluate[string](b, "document.documentElement.outerHTML"), secret, "the secret is nowhere else in the page")
	assert.Equal(t, "[]", b.violations())

	type key struct {
		ID       string    `json:"key_id"`
		ReadOnly bool      `json:"read_only"`
		Ends     time.Time `json:"expires_at"`
	}

	made := data[[]key](b, "/admin/keys?limit=1")[0]
	assert.Equal(t, evaluate[string](b, "document.querySelector('#try [name=key]').value"), made.ID)
	assert.True(t, made.ReadOnly)
	assert.WithinDuration(t, time.Now().Add(time.Hour), made.Ends, 5*time.Minute)
	b.fill(map[string]string{"#try [name=target]": "/customers?limit=1"})
	b.press("#try button[type=submit]")
	b.until(outcome + ".startsWith('200 in')")
	assert.Empty(t, b.faults())
	b.fill(map[string]string{"#try [name=method]": "POST", "#try [name=target]": "/events", "#try [name=body]": `{"customer":"member-0001","action":"point_add","data":{"points":3,"reason":"By key"}}`})
	b.press("#try button[type=submit]")
	b.until(outcome + ".includes('What error 190060 means')")
	b.faults()
	b.press("#try [name=session]")
	b.fill(map[string]string{"#try [name=key]": "", "#try [name=secret]": ""})
	b.press("#try button[type=submit]")
	b.until(outcome + ".startsWith('200 in')")
	assert.Empty(t, b.faults())
	assert.Contains(t, b.api("/admin/me"), `"kind":"user"`)

	require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(b.base+"/console/")))
	b.until("document.querySelector('.cards')")
	require.Contains(t, b.own("session/end", "{}"), "{")
	visit("/docs/operations/listCustomers")
	b.press("#try [name=hour]")
	b.until(said + ".includes('Sign in to the console')")
}
