package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// send posts to an operation as the page may, and gives its answer.
func (b *browsed) send(path, body string) string {
	b.t.Helper()
	return b.own("api"+path, body)
}

// own posts to the console itself.
func (b *browsed) own(path, body string) string {
	b.t.Helper()
	evaluate[bool](b, "window.said = null; fetch("+quoted("/console/"+path)+", {method: 'POST', headers: {'Content-Type': 'application/json', '"+byTest+"': '1'}, body: "+quoted(body)+"}).then((r) => r.text()).then((t) => { window.said = t }), true")
	b.until("window.said !== null")
	return evaluate[string](b, "window.said")
}

// agree answers the question that stands open.
func (b *browsed) agree() {
	b.t.Helper()
	b.until("document.querySelector('dialog[open] .actions button:last-child')")
	evaluate[bool](b, "document.querySelector('dialog[open] .actions button:last-child').click(), true")
}

// data gives what an operation answers under data.
func data[T any](b *browsed, path string) T {
	b.t.Helper()
	var answer struct{ Data T }
	said := b.api(path)
	require.NoError(b.t, json.Unmarshal([]byte(said), &answer), said)
	return answer.Data
}

// proven is the password that the tests' owner chooses.
const proven = "a password of the tests"

// prove proves again who the user is: some deeds want a proof of the last ten minutes.
func (b *browsed) prove() {
	b.t.Helper()
	evaluate[bool](b, "window.said = null; fetch('/console/session/confirm', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: "+quoted(`{"password":"`+proven+`"}`)+"}).then((r) => { window.said = r.status }), true")
	b.until("window.said !== null")
	require.Less(b.t, evaluate[int](b, "window.said"), 300)
}

// programme makes a reward and a campaign, tries the campaign on the past, adds codes to a
// pool and brings a configuration about.
func (b *browsed) programme() {
	b.open("/rewards")
	evaluate[bool](b, "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'n', bubbles: true})), true")
	b.until("location.hash === '#/entity/rewards/reward' && document.querySelector('form.editor')")
	b.fill(map[string]string{"form.editor fieldset textarea[lang=en]": "Sticker", "#f-points": "5"})
	b.press("form.editor .save button.primary")
	b.until("location.hash.startsWith('#/entity/rewards/reward/') && document.querySelector('main h1')?.textContent === 'Sticker'")
	sticker := strings.TrimPrefix(evaluate[string](b, "location.hash"), "#/entity/rewards/reward/")
	assert.Contains(b.t, b.api("/entities/rewards/reward/"+sticker), `"points":5`)

	assert.Empty(b.t, b.faults())
	b.open("/entity/automation/campaign")
	b.fill(map[string]string{"#f-name": "Three more", "#f-condition": "event.data.totl >="})
	b.until("document.querySelector('#f-condition')?.getAttribute('aria-invalid') === 'true'") // told while it is written
	b.faults()                                                                                 // the browser notes the refusal
	b.fill(map[string]string{"#f-condition": "event.data.total >= 1", "#f-effects-0-points": "3"})
	b.until("!document.querySelector('form.editor .wrong')")
	b.press("form.editor .save button.primary")
	b.until("location.hash.startsWith('#/entity/automation/campaign/') && document.querySelector('main h1')?.textContent === 'Three more'")
	made := strings.TrimPrefix(evaluate[string](b, "location.hash"), "#/entity/automation/campaign/")
	assert.Contains(b.t, b.api("/automation/campaigns/"+made), `"status":"active"`)
	b.open("/tester?action=checkout")
	b.press("main form button.primary")
	b.until("[...document.querySelectorAll('.explain .rule.applied')].some((r) => r.textContent.includes('Three more'))")

	b.open("/campaigns/double-saturday")
	evaluate[bool](b, "(() => { const real = window.fetch; window.fetch = (to, how) => { if (String(to).endsWith('/backtest')) window.asked = how.body; return real(to, how) }; return true })()")
	b.fill(map[string]string{"main input[name=from]": "2026-03-01", "main input[name=to]": "2026-03-29"})
	b.press("main form.filters button.primary")
	b.until("window.asked")
	var stretch struct{ From, To time.Time }
	require.NoError(b.t, json.Unmarshal([]byte(evaluate[string](b, "window.asked")), &stretch))
	zone, err := time.LoadLocation(data[struct {
		TimeZone string `json:"time_zone"`
	}](b, "/admin/settings").TimeZone)
	require.NoError(b.t, err)
	require.NotEqual(b.t, time.UTC.String(), zone.String())
	assert.Equal(b.t, time.Date(2026, 3, 1, 0, 0, 0, 0, zone).UTC(), stretch.From.UTC(), "a day is one of the programme's zone")
	assert.Equal(b.t, time.Date(2026, 3, 30, 0, 0, 0, 0, zone).UTC(), stretch.To.UTC(), "its last day is in it")
	b.until("[...document.querySelectorAll('main .badge')].some((e) => e.textContent === 'done')")
	tried := evaluate[string](b, "performance.getEntriesByType('resource').map((e) => e.name).filter((n) => /backtest\\/./.test(n)).pop() ?? ''")
	if tried == "" { // it was done at once
		tried = b.base + "/console/api/automation/campaigns/double-saturday/statistics"
	}

	_, path, _ := strings.Cut(tried, "/console/api")
	assert.NotContains(b.t, b.api(path), `"error"`)
	b.until("[...document.querySelectorAll('main .card')].some((e) => e.textContent.includes('Actually given'))")

	b.open("/entity/coupons/pool/coffee-codes")
	b.text("Find uses")
	b.until("document.querySelector('main a[href=\"#/entity/rewards/reward/free-coffee\"]')") // where it is used

	type pool struct{ Total int }
	before := data[pool](b, "/coupon-pools/coffee-codes").Total
	b.open("/rewards?tab=pools&pool=coffee-codes")
	b.fill(map[string]string{"main input[name=generate]": "7"})
	b.press("main form.panel button.primary")
	b.agree()
	b.until("document.querySelector('main form.panel [role=status]')?.textContent.includes('7')")
	assert.Equal(b.t, before+7, data[pool](b, "/coupon-pools/coffee-codes").Total)

	require.Contains(b.t, b.send("/coupon-pools", `{"id":"few","name":"Few","source":"uploaded","coupon":{"type":"free_shipping"}}`), `"given_30_days":0`)
	require.Contains(b.t, b.send("/coupon-pools/few/codes", `{"codes":["FEW-1","FEW-2","FEW-3","FEW-4","FEW-5","FEW-6","FEW-7","FEW-8"]}`), `"added":8`)
	for _, code := range []string{"FEW-1", "FEW-2"} {
		require.Contains(b.t, b.send("/events", `{"customer":"member-0009","action":"coupon_redeem","data":{"code":"`+code+`"}}`), "coupon_redeem")
	}

	b.open("/rewards")
	b.open("/rewards?tab=pools")
	row := `[...document.querySelectorAll('main tbody tr')].find((r) => r.textContent.includes('Few'))`
	b.until(row + "?.querySelector('.lasts')")
	assert.Contains(b.t, evaluate[string](b, row+".textContent"), "6 / 8lasts another 3 days", "two went on its first day")
	assert.Equal(b.t, 2, b.digits(row+".cells[5]"))
	b.configure()
}

// configure drops a file, sees what it would change, and has it done.
func (b *browsed) configure() {
	b.open("/configuration")
	evaluate[bool](b, `(() => { const files = new DataTransfer(); files.items.add(new File(['{"entities":{"stores/store":{"kiosk":{"name":"Kiosk"}}}}'], 'programme.json', {type: 'application/json'}));
		const f = document.querySelector('main input[type=file]'); f.files = files.files; f.dispatchEvent(new Event('change', {bubbles: true})); return true })()`)
	b.until("[...document.querySelectorAll('main details.rule')].some((e) => e.textContent.includes('kiosk'))")
	assert.NotContains(b.t, b.api("/entities/stores/store?limit=100"), "kiosk", "a plan changes nothing")
	b.prove()
	b.press("main section button.danger")
	b.agree()
	b.until("document.querySelector('.toasts p')")
	b.until("!document.querySelector('main details.rule')")
	assert.Contains(b.t, b.api("/entities/stores/store/kiosk"), "Kiosk")
}

// people puts customers on a list, gives many a reward, and merges two.
func (b *browsed) people() {
	require.Contains(b.t, b.send("/entities/core/customer-list", `{"id":"regulars","name":"Regulars"}`), "regulars")
	evaluate[bool](b, "location.reload(), true")
	b.until("window.said === undefined && document.querySelector('main h1')")
	b.open("/customers")
	evaluate[bool](b, `(() => { const rows = document.querySelectorAll('tbody tr'); rows[0].querySelector('input').click(); rows[2].dispatchEvent(new MouseEvent('click', {shiftKey: true, bubbles: true})); return true })()`)
	b.until("document.querySelectorAll('tr[aria-selected=true]').length === 3")
	b.text("Put on a list")
	b.until("document.querySelector('main select[name=to] option[value=regulars]')")
	b.fill(map[string]string{"main select[name=to]": "regulars"})
	b.press("main form.panel button.primary")
	b.agree()
	b.until("document.querySelector('main form.panel .gain')")
	assert.Contains(b.t, b.api("/customers/-/count?list=regulars"), `"count":3`)

	type count struct{ Count int }
	gold := data[count](b, "/customers/-/count?tier=gold").Count
	require.Positive(b.t, gold)
	b.open("/customers")
	b.until("document.querySelector('main select[name=tier] option[value=gold]')")
	b.fill(map[string]string{"main select[name=tier]": "gold"})
	b.press("main form.filters button")
	b.until(fmt.Sprintf("document.querySelectorAll('main tbody tr.link').length === %[1]d && [...document.querySelectorAll('main .soft')].some((e) => e.textContent === '%[1]d customers')", gold))

	b.open("/rewards?tab=bulk&reward=lucky-points")
	b.until("document.querySelector('main select[name=reward] option[value=lucky-points]')")
	b.fill(map[string]string{"main textarea[name=customers]": "member-0003\nno-such-customer"})
	b.press("main form.panel button.primary")
	b.agree()
	b.until("document.querySelector('main form.panel .gain') && document.querySelector('main td code')?.textContent === 'no-such-customer'")

	b.prove()
	b.open("/customer/member-0038")
	b.text("Merge")
	b.fill(map[string]string{"main input[name=target]": "member-0037"})
	b.press("main .acts form button.primary")
	b.agree()
	b.until("location.hash === '#/customer/member-0037'")
	assert.Contains(b.t, b.api("/customers/member-0038"), `"id":"member-0037"`)
}

// show shows personal data on the screen that is open, if it is not shown there already.
func (b *browsed) show() {
	b.t.Helper()
	b.until("document.querySelector('main .sight button')")
	if evaluate[bool](b, "document.querySelector('main .sight button').getAttribute('aria-pressed') === 'false'") {
		b.press("main .sight button")
	}
	b.until("document.querySelector('main .sight button').getAttribute('aria-pressed') === 'true' && !document.querySelector('main').innerText.includes('•••')")
}

// sight sees that persons are masked until they are shown, on this screen alone, and that the audit trail has who
// looked at which customer.
func (b *browsed) sight() {
	b.open("/customer/member-0002")
	const title = "document.querySelector('main h1').textContent"
	assert.Equal(b.t, "member-0002", evaluate[string](b, title))
	assert.NotContains(b.t, evaluate[string](b, "document.querySelector('main').innerText"), "@")
	b.show()
	assert.NotEqual(b.t, "member-0002", evaluate[string](b, title))
	assert.Contains(b.t, evaluate[string](b, "document.querySelector('main').innerText"), "@")
	assert.Equal(b.t, "[]", b.violations())
	noted := b.api("/admin/audit?limit=20&action=personal.show")
	assert.Contains(b.t, noted, `"operation":"getCustomer"`)
	assert.NotContains(b.t, noted, "member-0002", "it names nobody")
	b.open("/customers")
	b.until("document.querySelector('main .sight button')?.getAttribute('aria-pressed') === 'false'")
	assert.NotContains(b.t, evaluate[string](b, "document.querySelector('main tbody').innerText"), "@")
	b.show()
	assert.Contains(b.t, evaluate[string](b, "document.querySelector('main tbody').innerText"), "@")
	const sorted = "[...document.querySelectorAll('main tbody tr')].map((r) => r.children[3].textContent.toLowerCase()).every((t, i, all) => !i || all[i - 1] >= t)"
	for _, way := range []string{"asc", "desc"} {
		evaluate[bool](b, "[...document.querySelectorAll('main th button.sort')].find((e) => e.textContent.includes('mail')).click(), true")
		b.until("location.hash.includes('sort=email') && location.hash.includes('order=" + way + "')")
		b.until("document.querySelector('main th[aria-sort^=" + way + "]') && !document.querySelector('main .loading')")
	}

	b.until(sorted)
	assert.Empty(b.t, b.faults())
}

// modules sets a module by its form, and finds in the audit trail, in words, that it was done.
func (b *browsed) modules() {
	b.open("/administration?tab=modules")
	row := `[...document.querySelectorAll('main .rule')].find((r) => r.querySelector('code')?.textContent === 'points_economy')`
	b.until(row)
	evaluate[bool](b, row+".querySelector('details').open = true, true")
	b.until(row + ".querySelector('#f-config-negative')")
	b.fill(map[string]string{"#f-config-negative": "refuse"})
	b.until(row + ".querySelector('details button.primary:enabled')")
	evaluate[bool](b, row+".querySelector('details button.primary').click(), true")
	b.agree()
	type module struct {
		Config struct{ Negative string }
	}
	require.Eventually(b.t, func() bool { return data[module](b, "/admin/modules/points_economy").Config.Negative == "refuse" }, patience, 100*time.Millisecond)
	b.until(row + ".querySelector('details button.primary:disabled')") // the page knows it, too, and asks no more
	b.open("/administration?tab=audit")
	b.until("document.querySelector('main tbody tr')?.textContent.includes('Module changed')")
	b.fill(map[string]string{"main select[name=action]": "module.update"})
	b.press("main form.filters button")
	b.until("location.hash.includes('action=module.update') && [...document.querySelectorAll('main tbody tr')].filter((r) => r.cells.length === 5).every((r) => r.cells[2].textContent === 'Module changed')")

	require.Contains(b.t, b.send("/admin/modules/points_economy", `{"config":`+strings.ReplaceAll(configOf(b, "points_economy"), `"refuse"`, `"allow"`)+`}`), `"allow"`)
}

// configOf is how a module is set.
func configOf(b *browsed, module string) string {
	return string(data[struct{ Config json.RawMessage }](b, "/admin/modules/"+module).Config)
}

// operation watches what happens and runs a job.
func (b *browsed) operation() {
	b.open("/stream")
	b.until("document.querySelector('main .badge')?.textContent === 'live'")
	require.Contains(b.t, b.send("/events", `{"customer":"member-0005","action":"point_add","data":{"points":4,"reason":"Seen live"}}`), "point_add")
	b.until("[...document.querySelectorAll('main details.rule')].some((e) => e.textContent.includes('member-0005'))")
	type event struct {
		Action string
		Points int
	}

	// what came of it, such as a tier, is newer
	assert.Contains(b.t, data[[]event](b, "/customers/member-0005/events?limit=10"), event{Action: "point_add", Points: 4})

	type job struct {
		Name string `json:"name"`
		Last string `json:"last_run_at"`
	}

	last := func() string {
		for _, j := range data[[]job](b, "/admin/jobs?limit=100") {
			if j.Name == "answers" {
				return j.Last
			}
		}
		return ""
	}

	before := last()
	b.open("/administration?tab=jobs")
	evaluate[bool](b, "[...document.querySelectorAll('main tbody tr')].find((r) => r.textContent.includes('answers')).querySelector('button').click(), true")
	for end := time.Now().Add(patience); last() == before && time.Now().Before(end); { // a toast may be an earlier one
		time.Sleep(50 * time.Millisecond)
	}

	assert.NotEqual(b.t, before, last())
	b.until("!document.querySelector('main .failure')")
}

// attempted sends a test to the webhook that is shown, and looks at what became of it.
func (b *browsed) attempted() {
	b.t.Helper()
	b.until("document.querySelector('main').innerText.includes('No attempts in the last hour.')")
	b.text("Send a test")
	path := strings.TrimPrefix(evaluate[string](b, "location.hash"), "#/webhooks")
	require.Eventually(b.t, func() bool { return strings.Contains(b.api("/admin/webhooks"+path+"/attempts"), `"unanswered":1`) }, patience, 100*time.Millisecond)
	b.open("/webhooks")
	b.open("/webhooks" + path)
	b.until("[...document.querySelectorAll('main figcaption')].some((e) => e.textContent === 'Attempts in the last hour, by minute')")
	b.until("document.querySelectorAll('main figure canvas').length === 2")
}

// removed removes the webhook that is shown: it asks first, and goes back to the list.
func (b *browsed) removed() {
	b.t.Helper()
	path := strings.TrimPrefix(evaluate[string](b, "location.hash"), "#/webhooks")
	b.text("Remove")
	b.until("document.querySelector('dialog[open]')?.innerText.includes('“CRM” is deleted for good')")
	b.agree()
	b.until("location.hash === '#/webhooks' && document.querySelector('main h1') && !document.querySelector('main .loading')")
	b.until("!document.querySelector('main').innerText.includes('CRM')")
	assert.NotContains(b.t, b.api("/admin/webhooks"), strings.TrimPrefix(path, "/"))
}
