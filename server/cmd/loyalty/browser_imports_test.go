package main

import (
	"strconv"
	"strings"

	"github.com/stretchr/testify/assert"
)

// imports takes a member and her points over from files: a faulty line is named and sent anew, then the
// files are checked, taken over and compared with the ledger. What the page says is what the API says.
func (b *browsed) imports() {
	b.open("/administration?tab=imports")
	b.until("document.querySelector('main .empty')")
	b.prove()
	b.fill(map[string]string{"main input[name=label]": "From the old till", "main textarea[name=columns]": "members: Card = customer"})
	b.press("main form.panel button.primary")
	b.until("location.hash.includes('import=') && document.querySelector('main input[name=chosen]')")
	assert.Equal(b.t, "[]", b.violations())
	_, id, _ := strings.Cut(evaluate[string](b, "location.hash"), "import=")

	b.hand("members", "Card,email\nold-1,old-1@example.com\nold-2,old-2@example.com\n")
	b.hand("lots", "customer,points,earned_at\nold-1,120,2026-02-30\nold-2,30,2026-02-01\n")
	b.text("Check")
	b.until("[...document.querySelectorAll('main tbody td')].some((e) => e.textContent === 'earned_at')")
	assert.Equal(b.t, "faulty", data[imported](b, "/admin/imports/"+id).Status)
	found := strings.Split(strings.TrimSpace(b.api("/admin/imports/"+id+"/findings")), "\n")
	const row = "[...document.querySelectorAll('main tbody tr')].find((r) => r.children[2]?.textContent === 'earned_at')"
	assert.Equal(b.t, found[1], evaluate[string](b, "[..."+row+".children].map((c) => c.textContent).join(',')"))
	assert.Equal(b.t, "[]", b.violations())

	b.hand("lots", "customer,points,earned_at\nold-1,120,2026-02-20\nold-2,30,2026-02-01\n")
	b.text("Check")
	b.until("document.querySelector('main h2 .badge')?.textContent === 'Ready'")
	planned := data[imported](b, "/admin/imports/"+id).Plan
	assert.Equal(b.t, 150, planned.Points)
	assert.Equal(b.t, []int{planned.Points, planned.NewMembers}, []int{b.digits(figure("Points")), b.digits(figure("New members"))})

	b.text("Take over")
	b.agree()
	b.until("document.querySelector('main h2 .badge')?.textContent === 'Done'")
	rows := data[imported](b, "/admin/imports/"+id).Rows
	assert.Equal(b.t, strconv.Itoa(rows.Done)+" / "+strconv.Itoa(rows.Total), evaluate[string](b, "document.querySelector('main [role=status] strong').textContent"))
	assert.Contains(b.t, b.api("/customers/old-1/points"), "120")

	b.text("Compare")
	b.until("document.querySelector('main h3 .badge')?.textContent === 'holds'")
	assert.True(b.t, data[imported](b, "/admin/imports/"+id).Account.Exact)
	assert.Equal(b.t, "[]", b.violations())
	b.open("/administration?tab=imports")
	assert.Equal(b.t, "4 / 4", evaluate[string](b, "document.querySelector('main tbody tr td:nth-child(4)').textContent"))
	assert.Empty(b.t, b.faults())
}

// imported is an import as the API tells of it.
type imported struct {
	Status string
	Files  []struct{ File string }
	Plan   struct {
		Points     int
		NewMembers int `json:"new_members"`
	}
	Rows    struct{ Total, Done int }
	Account struct{ Exact bool }
}

// figure is the card with a name.
func figure(name string) string {
	return `[...document.querySelectorAll('main .card')].find((c) => c.querySelector('span').textContent === ` + quoted(name) + `)?.querySelector('b')`
}

// hand gives the page a file to send, and waits until it has arrived.
func (b *browsed) hand(kind, text string) {
	b.t.Helper()
	was := evaluate[int](b, "performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/files')).length")
	b.fill(map[string]string{"main select[name=kind]": kind})
	evaluate[bool](b, `(() => { const files = new DataTransfer(); files.items.add(new File([`+quoted(text)+`], 'old.csv', {type: 'text/csv'}));
		document.querySelector('main input[name=chosen]').files = files.files; return true })()`)
	b.press("main form.filters button.primary")
	b.until("performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/files')).length > " + strconv.Itoa(was) + " && !document.querySelector('main form.filters button.primary').disabled")
	b.until("document.querySelector('main h2 .badge').textContent === 'Waiting for files'")
}
