package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ofTheApp gives what evaluates a script with a module of the console.
func ofTheApp(name, script string) string {
	return "(import(document.querySelector('script[type=module]').src.replace('main.js', " + quoted(name) + ")).then((m) => { " + script + "; window.done = true }), true)"
}

// known takes all that is kept of a customer as a file: as many lines of each table as the API gives, with their name in it.
func (b *browsed) known() {
	b.prove()
	b.open("/customer/member-0007")
	evaluate[bool](b, "(() => { const real = URL.createObjectURL; window.saved = null; URL.createObjectURL = (blob) => { blob.text().then((t) => { window.saved = t }); return real(blob) }; return true })()")
	b.text("All stored data")
	b.agree()
	b.until("window.saved")
	saved := evaluate[string](b, "window.saved")
	tables := map[string]int{}
	for line := range strings.Lines(saved) {
		var row struct{ Table, Customer string }
		require.NoError(b.t, json.Unmarshal([]byte(line), &row))
		assert.Equal(b.t, "member-0007", row.Customer)
		tables[row.Table]++
	}

	assert.Equal(b.t, 1, tables["customers"])
	assert.Equal(b.t, len(data[[]any](b, "/customers/member-0007/events?limit=1000")), tables["events"])
	assert.Contains(b.t, b.api("/admin/audit?action=export.personal&limit=1"), `"target":"customers/`)
}

// worth says what a point is worth, and finds it on Today and on the ledger; before, neither speaks of money.
func (b *browsed) worth() {
	b.open("/")
	card := `document.querySelector('main .card a[href="#/ledger"]').closest('.card').textContent`
	assert.Contains(b.t, evaluate[string](b, card), "what the programme owes")
	config := configOf(b, "points_economy")
	require.Contains(b.t, b.send("/admin/modules/points_economy", `{"config":`+strings.Replace(config, "{", `{"point_value":0.25,`, 1)+`}`), `"point_value":0.25`)
	type ledger struct {
		Totals struct{ Outstanding int }
		Value  struct{ Outstanding float64 }
	}

	b.open("/ledger")
	is := data[ledger](b, "/admin/ledger")
	assert.InDelta(b.t, float64(is.Totals.Outstanding)/4, is.Value.Outstanding, 0.001)
	value := "[...document.querySelectorAll('main .card')].find((e) => e.firstElementChild.textContent === 'Value')"
	b.until(value)
	assert.Equal(b.t, int(100*is.Value.Outstanding), b.digits(value+".querySelector('b')"), "in cents")
	assert.Contains(b.t, evaluate[string](b, value+".textContent"), "€0.25 a point")
	b.open("/")
	b.until(card + ".includes('worth €')")
	require.NotContains(b.t, b.send("/admin/modules/points_economy", `{"config":`+config+`}`), `"point_value"`)
}

// usedUp finds the lots of which nothing is left in the table and their spent points in the bars.
func (b *browsed) usedUp() {
	type lot struct{ Remaining, Spent int }
	type lots struct{ Lots []lot }
	all, who := data[lots](b, "/customers/member-0001/points").Lots, ""
	for n := 1; n <= 40 && who == ""; n++ {
		who = fmt.Sprintf("member-%04d", n)
		if all = data[lots](b, "/customers/"+who+"/points?used_up=true").Lots; !slices.ContainsFunc(all, func(l lot) bool { return l.Spent > 0 && l.Remaining == 0 }) {
			who = ""
		}
	}

	require.NotEmpty(b.t, who, "the demonstration has some that are used up")
	b.open("/customer/" + who + "?tab=points")
	b.until("document.querySelector('.lots .lot b.spent')")
	rows := "[...[...document.querySelectorAll('main h2')].find((e) => e.textContent.startsWith('In the order')).parentElement.querySelectorAll('h2 + .scroll tbody tr')]"
	b.until(fmt.Sprintf("%s.length === %d", rows, len(all)))
	sum, shown := 0, 0
	for i, l := range all {
		sum += l.Spent
		shown += b.digits(fmt.Sprintf("%s[%d].cells[3]", rows, i))
	}

	assert.Equal(b.t, sum, shown)
	for i := range all { // earned = spent + expired + taken back + reserved + left
		cell := func(n int) int { return b.digits(fmt.Sprintf("%s[%d].cells[%d]", rows, i, n)) }
		assert.Equal(b.t, cell(2), cell(3)+cell(4)+cell(5)+cell(6)+cell(7))
	}

	assert.Equal(b.t, "[]", b.violations())
}

// runs finds on a campaign's screen how often it ran, day by day.
func (b *browsed) runs() {
	type figures struct {
		Series []struct {
			Name  string
			Total int
		}
	}

	b.open("/campaigns/double-saturday")
	figure := "[...document.querySelectorAll('main figure')].find((e) => e.querySelector('figcaption').textContent === 'Runs a day')"
	b.until(figure + "?.querySelector('tbody tr')")
	_, asked, _ := strings.Cut(evaluate[string](b, "performance.getEntriesByType('resource').map((e) => e.name).filter((n) => n.includes('metric=campaign_runs')).pop()"), "/console/api")
	want := 0
	for _, s := range data[figures](b, asked).Series {
		if s.Name == "double-saturday" {
			want = s.Total
		}
	}

	require.Positive(b.t, want)
	assert.Equal(b.t, want, evaluate[int](b, "[..."+figure+".querySelectorAll('tbody td')].reduce((n, e) => n + Number(e.textContent.replace(/[^0-9]/g, '')), 0)"))
}

// headers opens a delivery and reads with which headers each attempt was made.
func (b *browsed) headers() {
	b.prove()
	said := b.send("/admin/webhooks", `{"label":"Headers","url":"https://headers.example.com/hook","types":["event.opt_out"]}`)
	var made struct {
		Data struct {
			ID     string `json:"webhook_id"`
			Secret string
		}
	}

	require.NoError(b.t, json.Unmarshal([]byte(said), &made), said)
	require.NotContains(b.t, b.send("/admin/webhooks/"+made.Data.ID+"/test", `{}`), `"error"`)
	b.open("/webhooks/" + made.Data.ID)
	type delivery struct {
		Attempts int
		EventID  string `json:"event_id"`
	}

	list := "/admin/webhooks/" + made.Data.ID + "/deliveries"
	require.Eventually(b.t, func() bool { return strings.Contains(b.api(list+"/1"), "webhook-timestamp") }, patience, 100*time.Millisecond)
	b.text("Show")
	b.until("document.querySelector('dialog[open] td pre')")
	shown := evaluate[string](b, "document.querySelector('dialog[open] td pre').textContent")
	assert.Contains(b.t, shown, "webhook-id: "+data[[]delivery](b, list)[0].EventID)
	assert.Regexp(b.t, `webhook-timestamp: \d{10}`, shown)
	assert.Regexp(b.t, `webhook-signature: v1,\S{9}…`, shown)
	assert.NotContains(b.t, evaluate[string](b, "document.querySelector('dialog[open]').textContent"), made.Data.Secret)
	b.press("dialog[open] .actions button")
	require.NotContains(b.t, b.send("/admin/webhooks/"+made.Data.ID+"/pause", `{}`), `"error"`)
}

// told is what a screen says of itself, and to which users it shows nothing: an empty list, a refused form that keeps
// what was typed, and a link that asks for more than the user may see.
func (b *browsed) told() {
	b.open("/administration")
	evaluate[bool](b, `(() => { window.really = window.fetch; window.fetch = (to, how) => /\/admin\/(audit|keys|users|sessions)\?/.test(to) ? Promise.resolve(new Response('{"data":[],"next":null,"previous":null}')) : window.really(to, how); return true })()`)
	for _, tab := range []string{"audit", "keys", "users", "sessions"} {
		b.open("/administration?tab=" + tab)
		b.until("document.querySelector('main .empty')")
		assert.True(b.t, evaluate[bool](b, "Boolean(document.querySelector('main p.lead').textContent.length > 40 && document.querySelector('main .empty p').textContent.length > 20 && document.querySelector('main .empty :is(a, button, code)'))"), "%s says what it is and offers the first step", tab)
		assert.Equal(b.t, "[]", b.violations(), tab)
	}

	evaluate[bool](b, "window.fetch = window.really, true")

	b.prove()
	b.open("/administration?tab=keys")
	b.fill(map[string]string{"main input[name=label]": "Kept", "main input[name=addresses]": "nowhere"})
	b.press("main form.filters button.primary")
	b.until("document.querySelector('main .failure')")
	assert.Equal(b.t, "Kept nowhere", evaluate[string](b, "[...document.querySelectorAll('main form.filters input:not([type=checkbox])')].map((e) => e.value).filter(Boolean).join(' ')"), "what was refused can be put right")
	b.fill(map[string]string{"main input[name=addresses]": "192.0.2.7"})
	b.press("main form.filters button.primary")
	b.until("document.querySelector('dialog[open] pre')")
	b.press("dialog[open] .actions button")
	b.until("document.querySelector('main input[name=label]').value === ''")
	b.faults() // the browser notes the refusal

	b.open("/")
	evaluate[bool](b, ofTheApp("api.js", "m.me.now.operations = m.me.now.operations.filter((o) => o !== 'listAudit')"))
	b.until("window.done")
	b.open("/stream?key_id=LKNOBODY")
	b.until("document.querySelector('main .notice')?.textContent.includes('operators and owners')")
	assert.Equal(b.t, 0, evaluate[int](b, "performance.getEntriesByType('resource').filter((e) => e.name.includes('/events/feed') && e.name.includes('LKNOBODY')).length"))
	b.until("document.querySelector('main .badge').textContent === 'paused'")
	b.press("main .notice button")
	b.until("!location.hash.includes('key_id') && !document.querySelector('main .notice')")
	evaluate[bool](b, "location.reload(), true")
	b.until("!window.done && document.querySelector('main h1')")
}
