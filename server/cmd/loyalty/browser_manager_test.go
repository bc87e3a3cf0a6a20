package main

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manager does what a programme manager tries and changes besides single things: which offers fit a cart, what a campaign
// adds to a purchase, what a pool's coupons came to, and several things at once.
func (b *browsed) manager() {
	b.quoted()
	b.basket()
	b.usage()
	b.many()
	b.edited()
	b.known()
	b.worth()
	b.usedUp()
	b.runs()
	b.headers()
	b.told()
	assert.Empty(b.t, b.faults())
}

// quoted asks in the tester which offers fit, and finds each with what it takes off, or why not, as the API has it.
func (b *browsed) quoted() {
	require.Contains(b.t, b.send("/entities/offers/offer", `{"id":"tried-cart","name":{"en":"Tried: five off"},"type":"cart","discount":{"type":"fixed_discount","value":5}}`), "tried-cart")
	require.Contains(b.t, b.send("/entities/offers/offer", `{"id":"tried-large","name":{"en":"Tried: from a million"},"type":"cart","min_total":1000000,"discount":{"type":"fixed_discount","value":5}}`), "tried-large")
	b.open("/tester?action=checkout")
	b.fill(map[string]string{"input[name=customer]": "member-0001"})
	b.text("Show matching offers")
	row := func(name string) string {
		return `[...document.querySelectorAll('.quote .rule')].find((e) => e.textContent.includes('` + name + `'))`
	}
	b.until(row("Tried: five off") + "?.classList.contains('applied')")
	assert.Contains(b.t, evaluate[string](b, row("Tried: five off")+".textContent"), "€5.00")
	assert.Contains(b.t, evaluate[string](b, row("Tried: from a million")+".textContent"), "is below the minimum total")
	assert.Equal(b.t, "[]", b.violations())
}

// basket sees on a campaign's screen its part of what a purchase would earn.
func (b *browsed) basket() {
	require.Contains(b.t, b.send("/entities/automation/campaign", `{"id":"tried-seven","name":"Tried: seven more","trigger":"checkout","status":"active","effects":[{"type":"points","points":7}]}`), "tried-seven")
	b.open("/campaigns/tried-seven")
	b.fill(map[string]string{"main input[name=customer]": "member-0001", "main input[name=total]": "10"})
	b.text("Preview")
	b.until(`document.querySelector('.basket a[href="#/tester?action=checkout&customer=member-0001"]')`)
	assert.Contains(b.t, evaluate[string](b, "document.querySelector('.basket').textContent"), "This campaign gives 7 points.")
	assert.GreaterOrEqual(b.t, b.digits("document.querySelectorAll('.basket .card b')[1]"), 7)
	assert.Equal(b.t, "[]", b.violations())
	require.Contains(b.t, b.send("/entities/automation/campaign/tried-seven/archive", `{}`), "archived_at")
}

// usage reads on a pool's screen how many of its coupons there are and where they stand, as the API counts them.
func (b *browsed) usage() {
	type count struct {
		Status string
		Count  int
	}

	sums := map[string]int{}
	for _, c := range data[[]count](b, "/coupons/-/usage?pool=coffee-codes&limit=1000&created_at.gte=2020-01-01") {
		sums[c.Status] += c.Count
	}

	require.NotEmpty(b.t, sums)
	b.open("/entity/coupons/pool/coffee-codes")
	rows := `[...document.querySelectorAll('main .usage tbody tr')].filter((r) => r.querySelector('.badge'))`
	b.until(fmt.Sprintf("%s.length === %d", rows, len(sums)))
	shown := 0
	for i := range len(sums) {
		shown += b.digits(fmt.Sprintf("%s[%d].cells[1]", rows, i))
	}

	all := 0
	for _, n := range sums {
		all += n
	}

	assert.Equal(b.t, all, shown)
	b.text("By the day they were used")
	b.until("[...document.querySelectorAll('main .usage button')].find((e) => e.textContent === 'By the day they were used').getAttribute('aria-pressed') === 'true' && !document.querySelector('main .usage .loading')")
	b.open("/rewards?tab=pools")
	b.until("document.querySelector('main .usage tbody tr')")
}

// edited changes one thing and puts it away, and changes a setting: each is shown before it is done.
func (b *browsed) edited() {
	require.Contains(b.t, b.send("/entities/stores/store", `{"id":"edited","name":"Before"}`), "edited")
	b.open("/entity/stores/store/edited")
	b.fill(map[string]string{"#f-name": "Afterwards"})
	b.press("form.editor .save button.primary:enabled")
	b.until("document.querySelector('dialog[open] tbody')?.innerText.includes('Before')")
	b.agree()
	b.until("document.querySelector('main h1')?.textContent === 'Afterwards'")
	assert.Contains(b.t, b.api("/entities/stores/store/edited"), "Afterwards")
	b.until("document.querySelector('main .tree summary time')?.title") // the history comes after the entity
	at := evaluate[string](b, "document.querySelector('main .tree summary time').title")
	assert.Regexp(b.t, `^\d{4}-\d\d-\d\dT[\d:.]+Z · `, at, "the history says the exact instant")
	b.press("main button.danger")
	b.agree()
	b.until("location.hash.startsWith('#/programme')")
	assert.Contains(b.t, b.api("/entities/stores/store/edited"), "archived_at")

	b.open("/administration?tab=settings")
	b.fill(map[string]string{"#f-acceptance_window_seconds": "299"})
	b.press("main form button.primary:enabled")
	b.agree()
	b.until("document.querySelector('main form button.primary:disabled')")
	assert.Contains(b.t, b.api("/admin/settings"), `"acceptance_window_seconds":299`)
	require.Contains(b.t, b.send("/admin/settings", `{"acceptance_window_seconds":300}`), "300")
}

// many marks things in a list, sees what one property of each becomes, and has it done; one that is refused leaves all as they were.
func (b *browsed) many() {
	for _, id := range []string{"many-a", "many-b", "many-c"} {
		require.Contains(b.t, b.send("/entities/stores/store", `{"id":"`+id+`","name":"Many `+id[5:]+`"}`), id)
	}

	b.open("/programme?type=stores/store&search=Many")
	mark := func() {
		b.until("document.querySelectorAll('main tbody input[type=checkbox]').length === 3")
		evaluate[bool](b, "document.querySelector('main thead input').click(), true")
	}

	change := func(property, value string) {
		mark()
		b.text("Change")
		b.until("document.querySelector('form.many select[name=property]')")
		b.fill(map[string]string{"form.many select[name=property]": property})
		b.until("document.querySelector('#f-" + property + "')")
		b.fill(map[string]string{"#f-" + property: value})
	}

	change("name", "One name")
	b.until("[...document.querySelectorAll('form.many tbody tr')].filter((r) => r.textContent.includes('Many ') && r.textContent.includes('One name')).length === 3") // before and after, of each
	assert.Equal(b.t, "[]", b.violations())
	assert.NotContains(b.t, b.api("/entities/stores/store?limit=100"), "One name", "what is shown is not done yet")
	b.press("form.many button.primary")
	b.agree()
	b.until("!document.querySelector('form.many')")
	assert.Equal(b.t, 3, strings.Count(b.api("/entities/stores/store?limit=100"), `"One name"`))
	b.open("/programme?type=stores/store&search=One+name")
	mark()
	b.press("main .foot button.danger")
	b.agree()
	b.until("!document.querySelector('main tbody input[type=checkbox]')")
	assert.NotContains(b.t, b.api("/entities/stores/store?limit=100"), "many-")
}
