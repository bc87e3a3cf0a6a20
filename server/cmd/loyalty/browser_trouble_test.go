package main

import (
	"github.com/stretchr/testify/assert"
)

// answers has the next calls of a path answered as given, instead of by the server.
func (b *browsed) answers(path, list string) {
	b.t.Helper()
	evaluate[bool](b, `(() => {
		const left = `+list+`, real = window.fetch
		window.fetch = async (to, how) => {
			if (!String(to).includes(`+quoted(path)+`) || !left.length) return real(to, how)
			const one = left.shift()
			return new Response(JSON.stringify({error: {code: one.code, message: one.message ?? 'No', details: one.details ?? []}}), {status: one.status, headers: {'X-Request-Id': 'r-1', ...one.headers}})
		}
		return true
	})()`)
}

// trouble sees what the page makes of a server that is busy, one that says wait, a line that is cut, a module that is off and a
// fault of the sender's.
func (b *browsed) trouble() {
	b.open("/ledger")
	b.answers("/customers?", "[{status: 503}, {status: 503}]")
	b.open("/customers")
	b.until("document.querySelector('main tbody tr')") // read again by itself
	assert.Equal(b.t, 0, evaluate[int](b, "document.querySelectorAll('main .failure').length"))

	b.open("/ledger")
	b.answers("/customers?", "[{status: 429, code: 190010, headers: {'Retry-After': '2'}}]")
	b.open("/customers")
	b.until("document.querySelector('main .failure button:disabled') && document.querySelector('main .failure .wait')")
	b.readable("a failure")
	b.until("document.querySelector('main .failure > button:not(:disabled)')") // it counts down
	b.press("main .failure > button")
	b.until("document.querySelector('main tbody tr')")

	b.open("/ledger")
	evaluate[bool](b, "window.line = window.fetch, window.fetch = () => Promise.reject(new TypeError('Failed to fetch')), true")
	b.open("/customers")
	b.until("document.querySelector('p.bar[role=alert]') && !document.querySelector('dialog[open]') && document.querySelector('main .failure')")
	evaluate[bool](b, "window.fetch = window.line, true")
	b.press("main .failure > button")
	b.until("document.querySelector('main tbody tr') && !document.querySelector('p.bar[role=alert]')")

	b.open("/ledger")
	b.answers("/customers?", "[{status: 404, code: 160600, message: 'The module is off.', details: [{field: 'sort', message: 'not this one'}]}]")
	evaluate[bool](b, "navigator.clipboard.writeText = async (text) => { window.copied = text }, true")
	b.open("/customers")
	b.until("document.querySelector('main .failure a[href=\"#/administration?tab=modules\"]')")
	assert.Equal(b.t, "/docs/errors/160600", evaluate[string](b, "document.querySelector('main .failure a').getAttribute('href')"))
	b.text("Copy for support")
	b.until("window.copied")
	assert.Regexp(b.t, `(?s)^The module is off[.]\nsort: not this one\nstatus 404, code 160600, request r-1\nhttp://\S+ #/customers 20`, evaluate[string](b, "window.copied"))
	assert.Empty(b.t, b.faults())
}

// page is what is on the screen as CSV: a text that a spreadsheet would reckon is a text there.
func (b *browsed) page() {
	b.open("/ledger")
	evaluate[bool](b, `(() => { const real = window.fetch; window.fetch = (to, how) => String(to).includes('/customers?') ? Promise.resolve(new Response(JSON.stringify({data: [{id: '=1+1', first_name: '@SUM(A1)', last_name: 'b', email: '-2+3', status: 'a"b,c', spendable: -5, score: 0}], next: null, previous: null}))) : real(to, how)
		window.made = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((t) => { window.csv = t }); return window.made(blob) }
		HTMLAnchorElement.prototype.click = function () { window.file = this.download }; return true })()`)
	b.open("/customers")
	b.until("document.querySelector('main tbody tr')")
	b.press("main .foot .tiny:last-child")
	b.until("window.csv")
	assert.Equal(b.t, "customers.csv", evaluate[string](b, "window.file"))
	assert.Contains(b.t, evaluate[string](b, "window.csv"), "\n'=1+1,'@SUM(A1) b,'-2+3,\"a\"\"b,c\",-5,0,")
	evaluate[bool](b, "location.reload(), true") // with what is its own
	b.until("window.csv === undefined && document.querySelector('main h1') && !document.querySelector('main .loading')")
}
