package main

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// holdPasskeys gives the browser a device that knows its user.
func (b *browsed) holdPasskeys() {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}})
		return err
	})))
}

// TestConsolePasskeys: who came by a link and never chose a password adds a passkey in a real
// browser, signs in by it, proves by it who they are, and takes it off.
func TestConsolePasskeys(t *testing.T) {
	dir := t.TempDir()
	env := onConsole(storetest.SQLiteForProgram(t))
	s := serve(t, dir, env)
	require.Eventually(t, func() bool { return consoleLink.MatchString(s.said()) }, patience, 20*time.Millisecond)
	named := func(link string) string { return strings.Replace(link, "127.0.0.1", "localhost", 1) }
	b := browse(t, named(s.address))
	enter := func(link string) {
		require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(named(link))))
		b.until("document.querySelector('main h1') && document.querySelector('nav')")
	}

	leave := func() {
		evaluate[bool](b, "fetch('/console/session/end', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'}).then(() => location.reload()), true")
		b.until("document.querySelector('main.sign')")
	}

	b.holdPasskeys()
	enter(consoleLink.FindStringSubmatch(s.said())[1])
	b.open("/self")
	b.text("Set up")
	b.until("document.querySelector('svg.qr path')?.getAttribute('d').startsWith('M4 4h7')") // the corner that readers look for
	b.fill(map[string]string{"main form.filters input[name=name]": "Laptop"})
	b.text("Add a passkey")
	b.until("document.querySelector('main ul.tree li')?.textContent.includes('Laptop')")
	assert.Equal(t, "[]", b.violations())

	leave()
	b.text("Sign in with a passkey")
	b.until("document.querySelector('nav')")
	assert.Contains(t, b.api("/admin/me"), `"confirmed_until"`)

	leave()
	invited := command(t, dir, env, "users", "invite", "owner")
	require.Zero(t, invited.code, invited.errors)
	enter(s.address + "/console/#enter/" + regexp.MustCompile(`#enter/([\w-]+)`).FindStringSubmatch(invited.out)[1])
	require.NotContains(t, b.api("/admin/me"), `"confirmed_until"`, "a link proves nothing of who has a passkey")
	b.faults()
	b.open("/administration?tab=users")
	b.fill(map[string]string{"main input[name=login]": "sample.editor"})
	b.press("main form button.primary")
	b.text("Confirm with a passkey")
	b.until("[...document.querySelectorAll('td')].some((e) => e.textContent === 'sample.editor')")
	b.faults() // the browser notes that a proof was asked for

	b.open("/self")
	b.text("Remove")
	b.agree()
	b.until("document.querySelector('.toasts p') && !document.querySelector('main ul.tree li')")
	assert.Contains(t, b.api("/admin/audit?limit=20"), "user.remove_passkey")
	assert.Empty(t, b.faults())

	leave() // who tries too often is told how long to wait, second by second
	evaluate[bool](b, "window.said = null; Promise.all(Array.from({length: 21}, () => fetch('/console/passkey/enter', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'}))).then(() => { window.said = true }), true")
	b.until("window.said !== null")
	b.text("Sign in with a passkey")
	b.until("/[0-9]/.test(document.querySelector('.wait span')?.textContent) && document.querySelector('main form button').disabled")
	first := evaluate[string](b, "document.querySelector('.wait span').textContent")
	b.until("document.querySelector('.wait span').textContent !== " + quoted(first))
	assert.Equal(t, "[]", b.violations())
}
