package main

import (
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestConsoleSettings: what cannot be an address of the console, or a host of pictures, is named.
func TestConsoleSettings(t *testing.T) {
	read := func(name, value string) (*settings, error) {
		s, f := &settings{}, pflag.NewFlagSet("", pflag.ContinueOnError)
		s.flags(f)
		return s, s.read(f, func(asked string) (string, bool) {
			if asked != name {
				return "", false
			}
			return value, true
		})
	}

	for value, want := range map[string]string{"": "", "on": "", "off": "", "127.0.0.1:8082": "127.0.0.1:8082", "0.0.0.0:0": "0.0.0.0:0"} {
		s, err := read("LOYALTY_CONSOLE", value)
		require.NoError(t, err, value)
		require.Equal(t, want, consoleApart(s), value)
		require.Equal(t, value != "off", hasConsole(s), value)
	}

	s, err := read("LOYALTY_CONSOLE_IMAGES", "cdn.shop.test,*.shop.test,localhost:9000")
	require.NoError(t, err)
	require.Len(t, s.consoleImages, 3)
	for _, bad := range [][2]string{
		{"LOYALTY_CONSOLE", "yes"}, {"LOYALTY_CONSOLE", "127.0.0.1"}, {"LOYALTY_CONSOLE", "127.0.0.1:8080"}, {"LOYALTY_CONSOLE", "127.0.0.1:99999"},
		{"LOYALTY_CONSOLE_IMAGES", "https://cdn.shop.test"}, {"LOYALTY_CONSOLE_IMAGES", "*"}, {"LOYALTY_CONSOLE_IMAGES", "cdn.shop.test; script-src *"}, {"LOYALTY_CONSOLE_IMAGES", "a b"},
	} {
		_, err := read(bad[0], bad[1])
		require.ErrorContains(t, err, bad[0]+":", bad)
	}
}

// TestConsoleLinkByItsURL: where it is known under which address people reach the console, the links
// have it, nothing is said of another one, and no cookie is made for an open line.
func TestConsoleLinkByItsURL(t *testing.T) {
	dir, env := t.TempDir(), []string{"LOYALTY_CONSOLE=on", "LOYALTY_CONSOLE_URL=https://console.shop.test"}
	s := serve(t, dir, env)
	require.Eventually(t, func() bool {
		return strings.Contains(s.said(), "Console: open https://console.shop.test/console/#enter/")
	}, patience, 20*time.Millisecond, s.said())
	made := command(t, dir, env, "users", "create", "one")

	// a proxy beside it that tells nothing of its callers: the cookie goes over no open line
	token := regexp.MustCompile(`#enter/(\S+)`).FindStringSubmatch(made.out)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+"/console/enter", strings.NewReader(`{"token":"`+token[1]+`"}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Len(t, resp.Cookies(), 2)
	for n, name := range []string{"__Host-loyalty", "__Host-loyalty-browser"} {
		c := resp.Cookies()[n]
		require.Equal(t, []any{name, true, true, "/"}, []any{c.Name, c.Secure, c.HttpOnly, c.Path})
	}

	require.Contains(t, made.out, "https://console.shop.test/console/#enter/")
	require.NotContains(t, made.out, "replace the address")
	require.Contains(t, command(t, dir, nil, "users", "create", "two").out, "replace the address")
}

// TestConsoleApart: with an address of its own the console is there with what its pages read, not
// where the API is; and the API is not there.
func TestConsoleApart(t *testing.T) {
	s := serve(t, t.TempDir(), []string{"LOYALTY_CONSOLE=127.0.0.1:0"})
	require.Eventually(t, func() bool { return consoleLink.MatchString(s.said()) }, patience, 20*time.Millisecond)
	link := consoleLink.FindStringSubmatch(s.said())[1]
	apart, token, _ := strings.Cut(link, "/console/#enter/")
	require.NotEqual(t, s.address, apart)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, target, body string, cookies ...*http.Cookie) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		for _, c := range cookies {
			r.AddCookie(c)
		}
		resp, err := client.Do(r)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp, string(text)
	}

	for target, status := range map[string]int{
		apart + "/console/": http.StatusOK, apart + "/openapi/customers.json": http.StatusOK, apart + "/docs": http.StatusOK, apart + "/livez": http.StatusOK, apart + "/": http.StatusSeeOther,
		apart + "/customers": http.StatusNotFound, apart + "/readyz": http.StatusNotFound, s.address + "/docs": http.StatusOK, s.address + "/customers": http.StatusUnauthorized,
		s.address + "/console/": http.StatusUnauthorized,
	} {
		resp, _ := ask(http.MethodGet, target, "")
		require.Equal(t, status, resp.StatusCode, target)
	}

	for target, status := range map[string]int{apart + "/docs/try": http.StatusNotFound, apart + "/events": http.StatusNotFound, s.address + "/console/enter": http.StatusUnauthorized} {
		resp, _ := ask(http.MethodPost, target, `{}`)
		require.Equal(t, status, resp.StatusCode, target)
	}

	resp, _ := ask(http.MethodPost, apart+"/console/enter", `{"token":"`+token+`"}`)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	resp, text := ask(http.MethodGet, apart+"/console/api/admin/me", "", resp.Cookies()...)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, text, `"role":"owner"`)
}

// TestWithoutConsole: the build tag leaves the console and the portal out, and their libraries.
func TestWithoutConsole(t *testing.T) {
	list := func(tags string) string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", tags, ".").Output()
		require.NoError(t, err)
		return string(out)
	}
	const left = `(?m)^github.com/(loyalty-platform/loyalty/server/(console|portal)|coreos/go-oidc/v3/oidc|yuin/goldmark)$`
	require.Len(t, regexp.MustCompile(left).FindAllString(list(""), -1), 4)
	require.Empty(t, regexp.MustCompile(left).FindAllString(list("no_console"), -1))
}
