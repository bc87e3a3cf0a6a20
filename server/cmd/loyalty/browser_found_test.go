package main

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seek writes into the field at the top and waits for the place it leads to.
func (b *browsed) seek(text, place string) {
	b.t.Helper()
	b.open("/")
	evaluate[bool](b, "(() => { const q = document.querySelector('header input[name=q]'); q.value = "+quoted(text)+"; q.form.requestSubmit(); return true })()")
	b.until("decodeURIComponent(location.hash) === " + quoted("#"+place))
}

// found opens a customer by each of their names, a coupon by its code and a screen by its name, from the field that is on every screen.
func (b *browsed) found() {
	require.Contains(b.t, b.send("/events", `{"customer":"member-0004","action":"profile","data":{"external_ids":{"crm":"000417"},"email":"seek.me@example.com"}}`), `"action":"profile"`)
	type coupon struct{ Code string }
	code := data[[]coupon](b, "/coupons?limit=1")[0].Code
	b.seek("member-0004", "/customer/member-0004")
	b.seek("seek.me@example.com", "/customer/member-0004")
	b.seek("crm:000417", "/customer/member-0004")
	b.seek(strings.ToLower(code), "/rewards?tab=coupons&code="+code)
	b.until("document.querySelector('main section.panel h2')?.textContent.includes(" + quoted(code) + ")")
	b.seek("campaigns", "/campaigns")
	b.seek("seek.me", "/customers?search=seek.me")
	b.until("document.querySelector('main tbody a')?.textContent === 'member-0004'")
	assert.Empty(b.t, b.faults())

	b.seek("Nobody At All", "/customers?search=Nobody At All")
	b.until("document.querySelector('main .empty button')")
	b.seek("no-such-0001", "/customers?search=no-such-0001")
	b.until("document.querySelector('main .empty button')")
	assert.Empty(b.t, b.faults(), "that there is no such id is an answer, too")

	b.open("/customer/member-0001")
	b.until("document.querySelector('main .badge.tier')")
	at := evaluate[string](b, "document.querySelector('main time').title")
	assert.Regexp(b.t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z · Europe/Budapest$`, at, "the exact instant, and the zone it is shown in")
	assert.Contains(b.t, evaluate[string](b, "document.querySelector('nav .zone').textContent"), "Europe/Budapest")
}

// bought looks into a purchase: its refund is told where the purchase is. A claimed reward is handed out.
func (b *browsed) bought() {
	require.Contains(b.t, b.send("/events", `{"customer":"member-0006","action":"checkout","data":{"transaction_id":"seen-1","total":20,"currency":"EUR","items":[{"product_id":"p-1","product_name":"Coffee","product_url":"https://shop.example.com/p-1","quantity":1,"subtotal":20}]}}`), "checkout_item")
	require.Contains(b.t, b.send("/events", `{"customer":"member-0006","action":"refund","data":{"transaction_id":"seen-1"}}`), "refund")
	b.open("/customer/member-0006?tab=purchases")
	row := `[...document.querySelectorAll('main tbody tr')].find((r) => r.textContent.includes('seen-1'))`
	evaluate[bool](b, row+".querySelector('details').open = true, true")
	b.until(row + ".querySelectorAll('.tree .event').length >= 3")
	assert.Contains(b.t, evaluate[string](b, row+".innerText"), "Refund")

	claimed := b.send("/customers/member-0001/activities/rewards/recipe-book/claim", `{}`)
	if strings.Contains(claimed, `"error"`) { // once for each customer
		claimed = b.send("/customers/member-0001/activities/rewards/free-coffee/claim", `{}`)
	}

	var claim struct{ ID string }
	require.NoError(b.t, json.Unmarshal([]byte(claimed), &claim), claimed)
	b.open("/customer/member-0001?tab=coupons")
	row = `[...document.querySelectorAll('main tbody tr')].find((r) => r.textContent.includes('` + claim.ID + `'))`
	b.until(row)
	evaluate[bool](b, row+".querySelector('button.tiny').click(), true")
	b.agree()
	b.until("!" + row + "?.querySelector('button.tiny')")
	assert.Contains(b.t, b.api("/rewards/claims/"+claim.ID), `"status":"redeemed"`)
	assert.Empty(b.t, b.faults())
}

// refused sees what callers did wrong put together by code, and what to do about it.
func (b *browsed) refused() {
	for range 2 {
		require.Contains(b.t, b.send("/events", `{"customer":"nobody-at-all","action":"point_add","data":{"points":3,"reason":"Sample"}}`), "160212")
	}

	b.faults()
	b.open("/administration?tab=failed")
	group := `[...document.querySelectorAll('main .rules .rule')].find((r) => r.textContent.includes('160212'))`
	b.until(group)
	assert.GreaterOrEqual(b.t, b.digits(group+".querySelector('header > strong')"), 2)
	evaluate[bool](b, group+".querySelector('details').open = true, true")
	b.until(group + ".innerText.includes('opt_in')")
	evaluate[bool](b, group+".querySelector('button.link').click(), true")
	b.until("location.hash.includes('code=160212') && document.querySelector('main tbody tr')?.textContent.includes('160212') && !document.querySelector('main .rules')")

	b.open("/administration?tab=settings")
	window := data[struct {
		Window int `json:"acceptance_window_seconds"`
	}](b, "/admin/settings").Window
	require.Positive(b.t, window)
	b.until("document.querySelector('main form button.primary:disabled')") // nothing has changed yet
	b.fill(map[string]string{"#f-acceptance_window_seconds": "301"})
	b.press("main form button.primary")
	b.until("document.querySelector('dialog[open] tbody th')?.textContent === 'acceptance_window_seconds'")
	evaluate[bool](b, "document.querySelector('dialog[open] .actions button').click(), true")
	assert.Contains(b.t, b.api("/admin/settings"), `"acceptance_window_seconds":300`, "who looks at it and steps back changes nothing")
	evaluate[bool](b, "window.confirm = () => true, true") // what was written is left behind
	b.open("/statistics?metric=redemption_rate")
	b.until("[...document.querySelectorAll('main figcaption')].some((e) => e.textContent.endsWith('(%)'))")
	b.open("/statistics?metric=revenue")
	b.until("[...document.querySelectorAll('main figcaption')].some((e) => e.textContent.endsWith('(EUR)'))")

	b.open("/administration?tab=audit&target=nothing-of-this-name")
	b.press("main .empty button")
	b.until("document.querySelector('main tbody tr') && !location.hash.includes('target')")
	b.open("/configuration")
	past := evaluate[string](b, "document.querySelector('main ul.tree').innerText")
	assert.Contains(b.t, past, "Created")
	assert.NotContains(b.t, past, "Password", "what people do about themselves is no change of the programme")
	assert.Empty(b.t, b.faults())
}
