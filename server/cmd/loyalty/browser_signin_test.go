package main

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestConsoleSignIn: who came by a link chooses a password and sets a second factor up, signs out, and comes back by login,
// password and code; a wrong password is refused in words, and a cookie of before the sign-out opens nothing. The page to sign in
// is looked at as every other is.
func TestConsoleSignIn(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), onConsole(storetest.SQLiteForProgram(t)))
	require.Eventually(t, func() bool { return consoleLink.MatchString(s.said()) }, patience, 20*time.Millisecond)
	b := browse(t, s.address)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(consoleLink.FindStringSubmatch(s.said())[1])))
	b.until("document.querySelector('main .steps')")
	login := data[struct{ Login string }](b, "/admin/me").Login

	b.open("/self")
	b.fill(map[string]string{"main input[name=password]": proven})
	b.press("main form button.primary")
	b.until("document.querySelector('.toasts p') && document.querySelector('main input[name=password]').value === ''")
	b.until("!document.querySelector('aside.bar')") // which asks for a password
	b.text("Set up")
	b.until("document.querySelector('main .panel pre')")
	assert.Equal(t, "[]", b.violations())
	secret := evaluate[string](b, "document.querySelector('main .panel pre').textContent")
	now := time.Now()
	code, err := user.CodeAt(secret, now)
	require.NoError(t, err)
	b.fill(map[string]string{"main input[name=code]": code})
	evaluate[bool](b, "document.querySelector('main input[name=code]').form.requestSubmit(), true")
	b.until("/^([a-z2-7]{4}-){3}/.test(document.querySelector('main .panel pre')?.textContent)") // the codes for when the telephone is lost
	recovery := strings.Fields(evaluate[string](b, "document.querySelector('main .panel pre').textContent"))
	assert.Len(t, recovery, 10)
	assert.Contains(t, b.api("/admin/users/"+login), `"second_factor":true`)

	b.press("header .quiet:last-child")
	b.until("document.querySelector('main.sign')")
	b.looked(func() {
		b.until("document.querySelector('main.sign')")
	})
	evaluate[bool](b, "location.hash = '#enter/"+strings.Repeat("a", 43)+"', true") // a link that is pasted where the page is open already is taken, too
	b.until("document.querySelector('main.sign [role=alert] .wrong') && !location.hash.includes('enter')")
	sign := func(password string) {
		b.fill(map[string]string{"main input[name=login]": login, "main input[name=password]": password})
		b.press("main.sign form button.primary")
	}

	b.faults() // what is asked without a session is refused, and the browser notes it
	sign("not this one")
	b.until("document.querySelector('main [role=alert] .wrong')")
	assert.NotContains(t, b.api("/admin/me"), login)
	b.until("!document.querySelector('main.sign form button.primary').disabled")
	sign(proven)
	b.until("document.querySelector('main input[name=code]')")
	assert.Equal(t, "code", evaluate[string](b, "document.activeElement.name"))
	assert.Equal(t, "[]", b.violations())
	b.fill(map[string]string{"main input[name=code]": code}) // a code is good once
	b.press("main.sign form button.primary")
	b.until("document.querySelector('main [role=alert] .wrong') && !document.querySelector('main.sign form button.primary').disabled")
	b.faults()
	b.fill(map[string]string{"main input[name=code]": recovery[0]})
	b.press("main.sign form button.primary")
	b.until("document.querySelector('nav') && document.querySelector('main h1')") // where one was
	assert.Contains(t, b.api("/admin/me"), `"login":"`+login+`"`)
	assert.Empty(t, b.faults())
	b.within()
}

// looked holds a page that is open to what holds for every one: axe finds nothing in light and in dark, and in each language,
// at 320 px, nothing is cut off or wider than the window. again waits for it after its language was changed.
func (b *browsed) looked(again func()) {
	b.t.Helper()
	b.readable("the page that is open")
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.EmulateViewport(320, 640)))
	for _, language := range []string{"es", "fr", "hu", "en"} {
		evaluate[bool](b, `(() => { const s = document.querySelector('header select, main.sign > select'); s.value = `+quoted(language)+`; s.dispatchEvent(new Event('change', {bubbles: true})); return true })()`)
		b.until("document.documentElement.lang === " + quoted(language))
		again()
		assert.LessOrEqual(b.t, evaluate[int](b, "document.documentElement.scrollWidth"), 320, language)
		assert.Empty(b.t, evaluate[string](b, clipped), language)
	}
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.EmulateViewport(1280, 900)))
}
