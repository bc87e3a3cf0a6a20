package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// screens are those that are always there; what stands on others, hostile.js tells.
var screens = []string{
	"/", "/customers", "/stream", "/tester", "/programme", "/statistics", "/campaigns", "/campaigns?view=calendar", "/rewards", "/rewards?tab=pools", "/rewards?tab=coupons", "/rewards?tab=bulk",
	"/levels", "/ledger", "/webhooks", "/configuration", "/self", "/administration", "/administration?tab=settings", "/administration?tab=jobs", "/administration?tab=keys", "/administration?tab=users",
	"/administration?tab=sessions", "/administration?tab=audit", "/administration?tab=failed", "/administration?tab=imports", "/administration?tab=exports", "/administration?tab=system",
}

// TestConsoleHostileTexts fills every field that a screen shows with markup, with signs that turn
// writing around, with 255 emoji and with formulas, and opens every screen at 320 px with all that
// is folded away unfolded: no script runs, no element or address of another host comes into
// being, nothing is wider than the window, and nothing of ours is turned around.
func TestConsoleHostileTexts(t *testing.T) {
	t.Parallel()
	b := openConsole(t, storetest.EmptySQLite(t))
	script, err := os.ReadFile("testdata/hostile.js")
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(320, 640)))
	b.prove()
	evaluate[bool](b, string(script)+"\n; true")
	evaluate[bool](b, "window.filled = null; hostile.fill().then((all) => { window.filled = all }, (error) => { window.filled = JSON.stringify({refused: [String(error)]}) }), true")
	b.until("window.filled !== null")
	var filled struct{ Refused, Places []string }
	require.NoError(t, json.Unmarshal([]byte(evaluate[string](b, "window.filled")), &filled))
	require.Empty(t, filled.Refused, "every text is one that the API takes")
	require.Greater(t, len(filled.Places), 150)
	b.faults() // the browser notes what was refused on purpose
	seen := 0
	for _, place := range append(screens, filled.Places...) {
		b.open(place)
		if strings.HasPrefix(place, "/customer") && evaluate[bool](b, "Boolean(document.querySelector('main .sight button'))") {
			b.show()
		}
		evaluate[bool](b, "document.querySelectorAll('main details:not([open])').forEach((d) => { d.open = true }), true")
		assert.Empty(t, evaluate[string](b, "hostile.look()"), place)
		if evaluate[bool](b, "/onerror|gnp[.]exe|HYPERLINK|\\u{1F600}{40}/u.test(document.querySelector('main').innerText)") {
			seen++
		}
	}

	assert.Greater(t, seen, 100, "screens on which such a text is seen")
	b.open("/tester?customer=hostile-1&action=checkout")
	b.press("main form button.primary")
	b.until("document.querySelector('.explain .rule')")
	evaluate[bool](b, "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'r', bubbles: true})), true") // the drawer "as a request"
	b.until("document.querySelector('.drawer')")
	assert.Empty(t, evaluate[string](b, "hostile.look()"))
	for _, fault := range b.faults() { // what is not there is answered 404, and the browser notes it
		assert.Contains(t, fault, "404", fault)
	}

	b.within()
}
