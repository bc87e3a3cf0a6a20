package main

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestPortalInABrowser signs and sends a request from a page of the portal, as a reader
// does, sees a wrong secret explained, finds a page by the search, and sends one from the
// reference. No page throws, breaks its policy or asks another host.
func TestPortalInABrowser(t *testing.T) {
	t.Parallel()
	g := newGround(t, storetest.EmptySQLite(t))
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
	b.faults() // the browser tells of a 401 that it got by way of the relay: it did not
	b.fill(map[string]string{"#try [name=secret]": g.key.Secret})
	b.press("#try button[type=submit]")
	b.until(outcome + "?.startsWith('200 in')")
	require.Equal(t, 200, newCaller(t, g.key).get(s.address+"/customers/member-1001").status, "it is done")
	require.Contains(t, evaluate[string](b, "[...document.querySelectorAll('#try details')].map((d) => d.textContent).join()"), "idempotency-key:", "the canonical request is shown")
	require.NotContains(t, evaluate[string](b, "document.documentElement.outerHTML"), g.key.Secret, "the secret is nowhere in the page")

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
		assert.Equal(t, "[]", b.violations(""), page)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, request := range b.requests {
		assert.Regexp(t, "^("+s.address+"/|data:|about:|blob:)", request)
	}
}
