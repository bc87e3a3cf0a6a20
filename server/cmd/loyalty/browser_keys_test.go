package main

import (
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// strike presses keys as a person does, where the focus is.
func (b *browsed) strike(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		require.NoError(b.t, chromedp.Do(b.ctx, chromedp.KeyEvent(key)))
	}
}

// keys goes about by keys alone: screens, what is found, rows, dialogs. The focus comes back from a dialog to where it was; a key in
// a field is a letter; all of them can be switched off. What opens over a screen is as readable as the screen.
func (b *browsed) keys() {
	b.open("/")
	for _, to := range [][2]string{{"c", "#/customers"}, {"s", "#/stream"}, {"p", "#/programme"}, {"e", "#/tester"}, {"t", "#/"}} {
		evaluate[bool](b, "document.activeElement.blur(), true")
		b.strike("g", to[0])
		b.until("location.hash === " + quoted(to[1]))
	}

	b.until("document.querySelector('main .cards')")
	evaluate[bool](b, "document.querySelector('nav a[href=\"#/customers\"]').focus(), true")
	b.strike("?")
	b.until("document.querySelector('dialog[open]')")
	b.readable("the list of keys")
	b.strike("\x1b")
	b.until("!document.querySelector('dialog[open]')")
	assert.Equal(b.t, "#/customers", evaluate[string](b, "document.activeElement.getAttribute('href')"), "the focus is where it was")

	b.open("/customers")
	evaluate[bool](b, "document.activeElement.blur(), true")
	for end := time.Now().Add(patience); !evaluate[bool](b, "Boolean(document.activeElement?.closest('main tbody tr'))") && time.Now().Before(end); { // a list hears keys a moment after it is seen
		b.strike("j")
	}

	b.strike("j", "k", "x")
	b.until("document.querySelector('main tbody tr')?.getAttribute('aria-selected') === 'true'")
	assert.True(b.t, evaluate[bool](b, "document.activeElement === document.querySelector('main tbody tr')"))
	assert.NotEqual(b.t, "none", evaluate[string](b, "getComputedStyle(document.activeElement).outlineStyle"), "the focus is seen")
	b.strike("r")
	b.until("[...document.querySelectorAll('.drawer pre')].some((e) => e.textContent.includes('/customers?limit=50'))")
	b.readable("the drawer")
	b.strike("\x1b")
	b.until("!document.querySelector('.drawer')")
	b.strike("\r")
	b.until("location.hash.startsWith('#/customer/')")

	evaluate[bool](b, "document.activeElement.blur(), true")
	b.strike("/")
	b.until("document.activeElement.name === 'q'")
	b.strike("r", "n", "g", "c", "?")
	assert.Regexp(b.t, `rngc[?]$`, evaluate[string](b, "document.activeElement.value"), "in a field they are letters")
	assert.False(b.t, evaluate[bool](b, "Boolean(document.querySelector('.drawer, dialog[open]'))"))

	evaluate[bool](b, "document.activeElement.value = '', document.activeElement.blur(), localStorage.setItem('loyalty.keys', 'off'), true")
	b.strike("r", "/", "g", "c", "n", "?")
	b.until("document.querySelector('dialog[open] input')?.checked") // which alone always opens: here they are switched on again
	assert.False(b.t, evaluate[bool](b, "Boolean(document.querySelector('.drawer')) || document.activeElement.name === 'q' || !location.hash.startsWith('#/customer/')"))
	b.press("dialog[open] input")
	b.strike("\x1b")
	b.until("!document.querySelector('dialog[open]')")

	b.open("/entity/stores/store")
	b.fill(map[string]string{"#f-name": "By keys"})
	evaluate[bool](b, "document.querySelector('#f-name').focus(), true")
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.KeyEvent("\r", chromedp.KeyModifiers(2)))) // Ctrl
	b.until("location.hash.startsWith('#/entity/stores/store/')")
	b.until("document.querySelector('main h1')?.textContent === 'By keys'")
	b.question()
	assert.Empty(b.t, b.faults())
}

// question looks at a dialog in which something is decided.
func (b *browsed) question() {
	b.t.Helper()
	evaluate[bool](b, "[...document.querySelectorAll('main button.danger')][0].focus(), true")
	b.press("main button.danger")
	b.until("document.querySelector('dialog[open] .danger')")
	b.readable("a question")
	b.strike("\x1b")
	b.until("!document.querySelector('dialog[open]')")
	assert.True(b.t, evaluate[bool](b, "document.activeElement.matches('main button.danger')"), "the focus is where it was")
}

// readable has axe look at what is open, in light and in dark.
func (b *browsed) readable(what string) {
	b.t.Helper()
	b.scheme("dark") // where nothing but the colours is another than in the light
	assert.Equal(b.t, "[]", b.violations("color-contrast", "link-in-text-block"), "%s, dark", what)
	b.scheme("light")
	assert.Equal(b.t, "[]", b.violations(), "%s, light", what)
}
