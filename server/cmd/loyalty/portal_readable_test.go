package main

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// kindsOfPages are one page of each kind that the portal has, and one of each that is made by hand.
var kindsOfPages = []string{
	"/docs", "/docs/apis", "/docs/apis/customers", "/docs/operations/submitEvent", "/docs/operations/listCustomers", "/docs/events", "/docs/events/checkout", "/docs/entities", "/docs/entities/custom",
	"/docs/entities/rewards/reward", "/docs/modules", "/docs/modules/automation", "/docs/conditions", "/docs/signing", "/docs/webhooks", "/docs/webhooks/event.opt_in", "/docs/errors", "/docs/errors/190010",
}

// TestPortalIsReadable: axe finds nothing on a page of any kind, in light and in dark, with what opens there: what was found, the
// steps of a signature. At 320 px, in each language, no page is wider than the window and nothing is cut off; what is English
// there is marked so.
func TestPortalIsReadable(t *testing.T) {
	t.Parallel()
	s := newGround(t, storetest.SQLiteForProgram(t)).start(t)
	b := browse(t, s.address)
	for _, page := range kindsOfPages {
		require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(s.address+page)))
		b.until("document.querySelector('main h1')")
		if evaluate[bool](b, "Boolean(document.querySelector('#try'))") {
			b.until("document.querySelector('#try:not([hidden])')")
			b.fill(map[string]string{"#try [name=key]": "K", "#try [name=secret]": "S"})
			b.press("#try [name=only]")
			b.until("document.querySelectorAll('#try .outcome details[open]').length === 4")
		}
		b.fill(map[string]string{"#search": "points"})
		b.until("document.querySelector('#found a')")
		b.readable(page)
		assert.Empty(t, b.faults(), page)
	}

	require.NoError(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(320, 640)))
	for language, step := range map[string]string{"es": "La firma", "fr": "La signature", "hu": "Az aláírás", "en": "The signature"} {
		b.speaks(language)
		for _, page := range kindsOfPages {
			require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(s.address+page)))
			b.until("document.documentElement.lang === " + quoted(language) + " && document.querySelector('main h1')")
			assert.LessOrEqual(t, evaluate[int](b, "document.documentElement.scrollWidth"), 320, "%s %s", language, page)
			assert.Empty(t, evaluate[string](b, clipped), "%s %s", language, page)
			assert.Equal(t, "en", evaluate[string](b, "document.querySelector('main h2, main p:not(.tongue), main li').closest('[lang]').lang"), "%s %s: what the documents say", language, page)
		}

		b.fill(map[string]string{"#search": "points"})
		b.until("document.querySelector('#found a')?.closest('[lang=en]')")
		require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(s.address+"/docs/events/checkout")))
		b.until("document.querySelector('#try:not([hidden])')")
		b.fill(map[string]string{"#try [name=key]": "K", "#try [name=secret]": "S"})
		b.press("#try button[type=submit]") // no such key
		b.until("[...document.querySelectorAll('#try summary')].some((e) => e.textContent === " + quoted("3 · "+step) + ")")
		assert.Equal(t, "en", evaluate[string](b, "document.querySelector('#try .outcome p[lang]').lang"), "the platform's own message")
		assert.LessOrEqual(t, evaluate[int](b, "document.documentElement.scrollWidth"), 320, language)
		b.faults() // the browser tells of a 401 that it got by way of the relay: it did not
	}

	b.within()
}

// speaks has the browser ask for a language.
func (b *browsed) speaks(language string) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": language}})
		return err
	})))
}
