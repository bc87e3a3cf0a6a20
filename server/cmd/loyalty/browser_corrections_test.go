package main

import "github.com/stretchr/testify/assert"

// spendable is what a customer can spend.
func (b *browsed) spendable(customer string) int {
	b.t.Helper()
	return data[struct{ Spendable int }](b, "/customers/"+customer+"/points").Spendable
}

// correct fills in a correction of the customer whose page is open, and presses its button.
func (b *browsed) correct(points string) {
	b.t.Helper()
	b.until("!document.querySelector('input[name=points]')")
	b.text("Correct points")
	b.until("document.querySelector('input[name=points]')")
	b.fill(map[string]string{"input[name=points]": points, "input[name=reason]": "Apology"})
	b.press("form.filters button.primary")
}

// corrected presses one form several times on one page: each press is a deed, also where it says the
// same as the one before. A large correction is shown before it is done, and can be left.
func (b *browsed) corrected() {
	const who = "member-0001"
	first := b.spendable(who)
	for i, points := range []string{"17", "17", "-17", "-17"} {
		b.correct(points)
		b.until("!document.querySelector('input[name=points]')")
		assert.Equal(b.t, first+[]int{17, 34, 17, 0}[i], b.spendable(who), "press %d", i+1)
	}

	b.correct("-999999")
	b.until("document.querySelector('dialog[open] .balances')")
	assert.Contains(b.t, evaluate[string](b, "document.querySelector('dialog[open]').innerText"), "Balance after")
	b.press("dialog[open] .actions button:first-child")
	b.until("!document.querySelector('dialog[open]')")
	assert.Equal(b.t, first, b.spendable(who), "nothing is done before it is agreed to")
	b.press("form.filters button[type=button]")
	for i, points := range []string{"2000", "-2000"} {
		b.correct(points)
		b.agree()
		b.until("!document.querySelector('input[name=points]')")
		assert.Equal(b.t, first+[]int{2000, 0}[i], b.spendable(who))
	}
}
