package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestPortalSignsAsTheCommand: a page of the portal signs a request to the very letter as "loyalty sign" does, and what is tried from
// the page is answered as what the command sends.
func TestPortalSignsAsTheCommand(t *testing.T) {
	t.Parallel()
	g := newGround(t, storetest.EmptySQLite(t))
	s := g.start(t)
	key := append(g.env, "LOYALTY_KEY_ID="+g.key.KeyID, "LOYALTY_SECRET="+g.key.Secret)
	b := browse(t, s.address)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(s.address+"/docs/operations/listCustomers")))
	b.until("document.querySelector('#try:not([hidden])')")
	host := strings.TrimPrefix(s.address, "http://")
	for _, row := range []struct{ method, target, body, once string }{
		{"GET", "/customers?limit=1", "", ""}, {"GET", "/customers?search=a%20b&limit=2&email=x%2By@shop.test", "", ""}, {"GET", "/customers/-/count", "", ""},
		{"GET", "/customers?limit.x=1&limit=2&limit=10&flag&%C3%A9=%e2%98%95&from=2026-01-01T00:00:00.000Z&x=a+b!*()'&=1", "", ""},
		{"POST", "/events", `{"customer":"ada","action":"opt_in","data":{"first_name":"Zoë ☕"}}`, "till-17-1"}, {"POST", "/admin/jobs/answers/run", "{}", ""},
	} {
		args := []string{"sign", row.method, s.address + row.target}
		if row.body != "" {
			args = append(args, "--data", row.body)
		}
		if row.once != "" {
			args = append(args, "--header", "Idempotency-Key: "+row.once)
		}
		said := command(t, g.dir, key, args...)
		require.Zero(t, said.code, said.errors)
		header := func(name string) string {
			found := regexp.MustCompile("(?m)^" + name + ": (.*)$").FindStringSubmatch(said.out)
			require.NotNil(t, found, said.out)
			return strings.TrimSpace(found[1])
		}
		headers := map[string]string{}
		if row.body != "" {
			headers["content-type"] = "application/json"
		}
		if row.once != "" {
			headers["idempotency-key"] = row.once
		}
		given, err := json.Marshal(map[string]any{
			"method": row.method, "target": row.target, "host": host, "headers": headers, "body": row.body, "key": g.key.KeyID, "secret": g.key.Secret, "region": "local", "date": header("Date"),
		})
		require.NoError(t, err)
		evaluate[bool](b, "window.made = '', import('/docs/assets/sign.js').then((m) => m.sign("+string(given)+")).then((r) => { window.made = r.headers.at(-1)[1] }), true")
		b.until("window.made")
		assert.Equal(t, header("Authorization"), evaluate[string](b, "window.made"), row.target)
	}

	opted := command(t, g.dir, key, "sign", "POST", s.address+"/events", "--send", "--data", `{"customer":"ada","action":"opt_in","data":{"email":"ada@shop.test"}}`)
	require.Zero(t, opted.code, opted.errors)
	for target, status := range map[string]string{"/customers/ada": "200", "/customers/nobody": "404", "/customers?limit=0": "400"} {
		b.fill(map[string]string{"#try [name=target]": target, "#try [name=key]": g.key.KeyID, "#try [name=secret]": g.key.Secret})
		b.press("#try button[type=submit]")
		b.until("document.querySelector('#try .status')?.textContent.startsWith(" + quoted(status+" ") + ")")
		sent := command(t, g.dir, key, "sign", "GET", s.address+target, "--send")
		require.Contains(t, sent.out, " "+status+" ")
		_, body, found := strings.Cut(strings.ReplaceAll(sent.out, "\r\n", "\n"), "\n\n")
		require.True(t, found, sent.out)
		var want, got map[string]any
		require.NoError(t, json.Unmarshal([]byte(body), &want), body)
		require.NoError(t, json.Unmarshal([]byte(evaluate[string](b, "document.querySelector('#try .outcome > pre:last-of-type').textContent")), &got))
		for _, answer := range []map[string]any{want, got} { // what no two answers have in common
			delete(answer, "time")
			if meta, ok := answer["meta"].(map[string]any); ok {
				delete(meta, "time")
			}
		}
		assert.Equal(t, want, got, target)
	}
}
