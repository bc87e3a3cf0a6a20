package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// digits gives the figure that the page shows there, without what groups it.
func (b *browsed) digits(find string) int {
	b.t.Helper()
	b.until(find)
	shown := evaluate[string](b, "("+find+").textContent.replace(/[^0-9-]/g, '')")
	figure, err := strconv.Atoi(shown)
	assert.NoError(b.t, err, find)
	return figure
}

// overview reads on Today what the API says, goes on from there to what waits, and asks the
// statistics for a figure by its form: the table has what the API answers.
func (b *browsed) overview() {
	type ledger struct{ Totals map[string]int }
	type count struct{ Count int }
	b.open("/")
	card := func(to string) string {
		return `document.querySelector('main .card a[href="#` + to + `"]')?.closest('.card').querySelector('b')`
	}
	assert.Equal(b.t, data[count](b, "/customers/-/count").Count, b.digits(card("/customers")))
	assert.Equal(b.t, data[ledger](b, "/admin/ledger").Totals["outstanding"], b.digits(card("/ledger")))
	b.trends()
	b.send("/events", `{"customer":"member-0006","action":"point_add","data":{"points":40,"reason":"Seen on Today"}}`)
	b.open("/customers")
	b.open("/")
	assert.Equal(b.t, data[ledger](b, "/admin/ledger").Totals["outstanding"], b.digits(card("/ledger")), "what was given just now is in it")
	b.press(`main .card a[href="#/administration?tab=system"]`)
	b.until("location.hash.includes('tab=system') && document.querySelector('main h1') && !document.querySelector('main .loading')")

	type series struct {
		Name  string
		Total float64
	}

	type figures struct{ Series []series }
	b.open("/statistics")
	b.fill(map[string]string{"main select[name=metric]": "campaign_points"})
	b.until("[...document.querySelectorAll('main figcaption')].some((e) => e.textContent === 'Points by campaigns')")
	b.fill(map[string]string{"main select[name=by]": "campaign", "main select[name=interval]": "month"})
	b.press("main form.filters button")
	b.until("location.hash.includes('by=campaign') && [...document.querySelectorAll('main .scroll th')].some((e) => e.textContent === 'Campaign')")
	query := evaluate[string](b, "location.hash.split('?')[1]")
	all := data[figures](b, "/admin/statistics?"+strings.ReplaceAll(query, "compare=&", "")).Series
	assert.NotEmpty(b.t, all)
	for _, s := range all {
		row := `[...document.querySelectorAll('main .scroll tbody tr')].find((r) => r.firstElementChild.textContent === ` + quoted(s.Name) + ` && r.firstElementChild.tagName === 'TD')?.children[1]`
		assert.Equal(b.t, int(s.Total), b.digits(row), s.Name)
	}

	assert.Empty(b.t, b.faults())
}

// trends finds on the cards of Today what the statistics say of the last seven days, of today and of the seven days before, and how
// many requests a minute there were.
func (b *browsed) trends() {
	type series struct{ Values []int }
	type figures struct{ Series []series }
	for metric, label := range map[string]string{"points_earned": "Earned in seven days", "points_burned": "Spent in seven days", "points_expired": "Expired in seven days"} {
		values := make([]int, 91)
		if all := data[figures](b, "/admin/statistics?metric="+metric+"&interval=day").Series; len(all) > 0 {
			values = all[0].Values
		}

		sum := func(days []int) (n int) {
			for _, v := range days {
				n += v
			}
			return n
		}

		card := "[...document.querySelectorAll('main .card')].find((e) => e.firstElementChild.textContent === " + quoted(label) + ")"
		last := len(values)
		assert.Equal(b.t, sum(values[last-7:]), b.digits(card+"?.querySelector('b')"), label)
		assert.Equal(b.t, fmt.Sprintf("%d today · %d in the week before", values[last-1], sum(values[last-14:last-7])), strings.ReplaceAll(evaluate[string](b, card+".querySelector('.small').textContent"), ",", ""))
	}

	assert.Regexp(b.t, `^[\d.,]+$`, evaluate[string](b, "[...document.querySelectorAll('main .card')].find((e) => e.firstElementChild.textContent === 'Requests a minute').querySelector('b').textContent"))
	assert.Contains(b.t, evaluate[string](b, `document.querySelector('main .card a[href="#/customers"]').closest('.card').textContent`), "active in 30 days")
}

// balance finds the steps of a customer's balance: they end with what the API says there is to spend.
func (b *browsed) balance() {
	type points struct{ Spendable int }
	b.open("/customer/member-0001?tab=points")
	b.until("document.querySelector('main .balance svg path')")
	assert.Equal(b.t, data[points](b, "/customers/member-0001/points").Spendable, b.digits("document.querySelector('main .balance .ends span:last-child')"))
	assert.Equal(b.t, data[points](b, "/customers/member-0001/points").Spendable, b.digits("document.querySelector('main .balance tbody td:last-child')"))
	assert.Empty(b.t, b.faults())
}

// proved finds on the ledger the proof that was just made at the head of the earlier ones, as the
// API has it.
func (b *browsed) proved() {
	type proof struct {
		KeyID string `json:"key_id"`
		Held  int
	}
	rows := `[...[...document.querySelectorAll('main h2')].find((e) => e.textContent === 'History of proofs').parentElement.querySelectorAll('h2 + .scroll tbody tr')].filter((r) => r.cells.length === 6)`
	all := data[[]proof](b, "/admin/ledger/proofs")
	require.NotEmpty(b.t, all)
	b.until(fmt.Sprintf("%s.length === %d", rows, len(all))) // the earlier ones stand there until it has come
	assert.Contains(b.t, evaluate[string](b, rows+"[0].cells[1].textContent"), all[0].KeyID)
	assert.Equal(b.t, "holds", evaluate[string](b, rows+"[0].cells[2].textContent"))
	assert.Equal(b.t, all[0].Held, b.digits(rows+"[0].cells[3]"))
}

// owed reads on the ledger what is owed by origin, as the API has it: together it is all that
// is owed.
func (b *browsed) owed() {
	type origin struct {
		Origin string
		Points int
	}

	type ledger struct {
		Totals  map[string]int
		Origins []origin
		Months  []struct {
			Month   *string
			Origins []origin
		}
	}

	b.open("/ledger")
	l := data[ledger](b, "/admin/ledger")
	rows := `[...[...document.querySelectorAll('main h2')].find((e) => e.textContent === 'Liability by origin').parentElement.querySelectorAll('figure.panel + .scroll tbody tr')]`
	b.until(rows + ".length > 0")
	shown := map[string]int{}
	sum := 0
	for i, o := range l.Origins {
		shown[evaluate[string](b, fmt.Sprintf("%s[%d].cells[0].textContent", rows, i))] = b.digits(fmt.Sprintf("%s[%d]?.cells[1]", rows, i))
		assert.Equal(b.t, o.Points, b.digits(fmt.Sprintf("%s[%d]?.cells[1]", rows, i)), o.Origin)
		sum += o.Points
	}

	assert.Equal(b.t, l.Totals["outstanding"], sum)
	assert.Contains(b.t, shown, "Purchases")
	assert.Equal(b.t, len(l.Origins), evaluate[int](b, rows+".length"))
	assert.Equal(b.t, len(l.Origins), evaluate[int](b, "document.querySelectorAll('main figure.panel .lot').length"))
	assert.Equal(b.t, 1, evaluate[int](b, "[...document.querySelectorAll('main h2, main figcaption')].filter((e) => e.textContent === 'Liability by origin').length"))

	b.until("document.querySelectorAll('main .panel .u-legend .u-series').length === " + strconv.Itoa(1+len(l.Origins))) // the month, and each part of its bar
	at := 0
	for _, m := range l.Months {
		if m.Month == nil {
			continue
		}
		given := map[string]int{}
		for _, o := range m.Origins {
			given[o.Origin] = o.Points
		}
		for i, o := range l.Origins {
			cell := fmt.Sprintf("document.querySelectorAll('main .panel details.data tbody tr')[%d]?.cells[%d]", at, i+1)
			assert.Equal(b.t, given[o.Origin], b.digits(cell), "%s %s", *m.Month, o.Origin)
		}
		at++
	}

	require.Positive(b.t, at)
}

// ladder makes a level on the screen of the levels, finds it on its ladder, and the board as the
// API has it.
func (b *browsed) ladder() {
	b.open("/levels")
	b.press(`main a[href="#/entity/tiers/tier"]`)
	b.until("document.querySelector('form.editor #f-threshold')")
	b.fill(map[string]string{"#f-structure": "club", "form.editor fieldset textarea[lang=en]": "Diamond", "#f-threshold": "90000"}) // at once
	b.press("form.editor .save button.primary")
	b.until("location.hash.startsWith('#/entity/tiers/tier/') && document.querySelector('main h1')?.textContent === 'Diamond'")
	assert.Contains(b.t, b.api("/levels?limit=100"), "Diamond")
	b.open("/levels")
	b.until("document.querySelector('main .rules .rule strong')")
	assert.Equal(b.t, 90000, b.digits("[...document.querySelectorAll('main .rules .rule')].find((r) => r.querySelector('strong').textContent === 'Diamond')?.querySelector('header > :last-child')"))
	b.reached()
	type place struct {
		ID    string `json:"id"`
		Score int    `json:"score"`
	}

	first := data[[]place](b, "/customers/leaderboard?limit=1")[0]
	assert.Equal(b.t, first.Score, b.digits("document.querySelector('main .board > .scroll tbody tr td:last-child')"))
	assert.Equal(b.t, first.ID, evaluate[string](b, "document.querySelector('main .board > .scroll tbody tr code').textContent"))
	b.bands()
	b.soon()
	b.fill(map[string]string{"main select[name=period]": "month", "main input[name=customer]": first.ID})
	b.press("main .board form.filters button")
	type standing struct{ Score int }
	month := data[standing](b, "/customers/"+first.ID+"/leaderboard?period=month")
	b.until("location.hash.includes('period=month') && document.querySelector('main .standing p:not(.loading)')")
	assert.Contains(b.t, strings.ReplaceAll(evaluate[string](b, "document.querySelector('main .standing p:not(.loading)').textContent"), ",", ""), strconv.Itoa(month.Score))
	assert.Empty(b.t, b.faults())
}

// bands finds the distribution of scores as the API has it: a bar for each band, and their figures.
func (b *browsed) bands() {
	type band struct{ From, To, Customers int }
	type scores struct {
		Customers int
		Bands     []band
	}

	all := data[scores](b, "/customers/leaderboard/scores?bands=20")
	require.NotEmpty(b.t, all.Bands)
	b.until("document.querySelector('main .scores .bars')")
	assert.Equal(b.t, len(all.Bands), evaluate[int](b, "document.querySelectorAll('main .scores .bars span').length"))
	sum := 0
	for i, one := range all.Bands {
		sum += one.Customers
		assert.Equal(b.t, one.Customers, b.digits(fmt.Sprintf("document.querySelectorAll('main .scores tbody td')[%d]", i)), one)
	}

	assert.Equal(b.t, all.Customers, sum)
}

// soon finds the same rising and falling customers as the API: nearly all, because nearly all are close to a change.
func (b *browsed) soon() {
	type entry struct {
		Customer string
		Missing  int
	}

	rows := "document.querySelectorAll('main .soon tbody tr')"
	for kind, much := range map[string][2]string{"rising": {"share", "95"}, "falling": {"days", "700"}} {
		all := data[[]entry](b, "/levels/club/"+kind+"?"+much[0]+"="+much[1]+"&limit=10")
		require.NotEmpty(b.t, all, kind)
		b.open("/levels?soon=" + kind)
		b.fill(map[string]string{"main .soon input[name=" + much[0] + "]": much[1]})
		b.press("main .soon form.filters button")
		b.until("location.hash.includes('" + much[0] + "=" + much[1] + "') && !document.querySelector('main .soon .loading') && " + rows + ".length >= " + strconv.Itoa(len(all)))
		for i, e := range all {
			assert.Equal(b.t, e.Customer, evaluate[string](b, fmt.Sprintf("%s[%d].querySelector('code').textContent", rows, i)), kind)
			assert.Equal(b.t, e.Missing, b.digits(fmt.Sprintf("%s[%d].lastElementChild", rows, i)), e.Customer)
		}
	}

	b.open("/levels")
	b.until("document.querySelector('main .board > .scroll tbody')")
}

// reached finds on each step of the ladders how many were there when the figures were photographed.
func (b *browsed) reached() {
	type series struct {
		Name  string
		Total float64
	}

	type figures struct{ Series []series }
	type level struct{ ID, Name string }
	members := map[string]int{}
	for _, s := range data[figures](b, "/admin/statistics?metric=members_by_tier&by=tier").Series {
		members[s.Name] = int(s.Total)
	}

	assert.NotEmpty(b.t, members)
	for _, l := range data[[]level](b, "/levels?limit=100") {
		assert.Equal(b.t, members[l.ID], b.digits(`[...document.querySelectorAll('main .rules .rule')].find((r) => r.querySelector('strong').textContent === `+quoted(l.Name)+`)?.querySelector('.members')`), l.Name)
		assert.Equal(b.t, 1, evaluate[int](b, "document.querySelectorAll('main .rules .rule a.members[href=\"#/customers?tier="+l.ID+"\"]').length"), "who they are")
	}
}

// exports has a table given to the browser as a file, once the user has proved who they are.
func (b *browsed) exports() {
	b.prove()
	b.open("/administration?tab=exports")
	b.until("document.querySelector('main select[name=table]')")
	evaluate[bool](b, "HTMLAnchorElement.prototype.click = function () { window.file = [this.getAttribute('href'), this.download] }, true")
	b.fill(map[string]string{"main select[name=table]": "lots", "main input[name=from]": "2020-01-01"})
	b.press("main form.filters button.primary")
	b.until("window.file")
	assert.Equal(b.t, "lots.csv", evaluate[string](b, "window.file[1]"))
	lines := strings.Split(strings.TrimSpace(b.api(strings.TrimPrefix(evaluate[string](b, "window.file[0]"), "/console/api"))), "\n")
	assert.True(b.t, strings.HasPrefix(lines[0], "key,lot,customer_id,"), lines[0])
	assert.Greater(b.t, len(lines), 40)
	assert.Empty(b.t, b.faults())
}

// given reads on the list of campaigns what each gave, as the API says it, and how much of its budget is used.
func (b *browsed) given() {
	type total struct{ Limit, Used int }
	type did struct {
		Runs, Customers, Net int
		Limits               struct{ Total *total }
	}

	type campaign struct {
		ID         string
		Statistics did
	}

	require.Contains(b.t, b.send("/entities/automation/campaign", `{"id":"first-forty","name":"First forty","trigger":"review_submit","effects":[{"type":"points","points":5}],"limit":{"total":40}}`), "first-forty")
	require.Contains(b.t, b.send("/events", `{"customer":"member-0007","action":"review_submit","data":{"item":"p-1","review":"Good"}}`), "review_submit")
	all := data[[]campaign](b, "/automation/campaigns?include=statistics&limit=50")
	b.open("/campaigns")
	ran, limited := 0, 0
	for _, c := range all {
		require.Contains(b.t, b.api("/automation/campaigns/"+c.ID+"/statistics"), `"net":`+strconv.Itoa(c.Statistics.Net)+",")
		cell := func(at int) string {
			return `document.querySelector('main tbody a[href="#/campaigns/` + c.ID + `"]')?.closest('tr').children[` + strconv.Itoa(at) + `]`
		}
		assert.Equal(b.t, []int{c.Statistics.Runs, c.Statistics.Customers, c.Statistics.Net}, []int{b.digits(cell(2)), b.digits(cell(3)), b.digits(cell(4))}, c.ID)
		used := "–"
		if l := c.Statistics.Limits.Total; l != nil {
			used, limited = strconv.FormatFloat(math.Round(1000*float64(l.Used)/float64(l.Limit))/10, 'f', -1, 64)+" %", limited+1
		}
		assert.Equal(b.t, used, evaluate[string](b, cell(5)+".textContent"), c.ID)
		ran += c.Statistics.Runs
	}

	assert.Positive(b.t, ran)
	assert.Positive(b.t, limited)
	assert.Empty(b.t, b.faults())
}
