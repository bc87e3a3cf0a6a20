package main

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConsoleNewcomer goes the way of a person who has read nothing: the link that the first start
// prints, in an empty folder; then only what the pages themselves offer, from one button to the
// next: a reward, a campaign, a sample customer, a purchase previewed and why it gives what it
// gives. It says where one stands after each step, and nothing on the way is a mistake.
func TestConsoleNewcomer(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), nil)
	require.Eventually(t, func() bool { return consoleLink.MatchString(s.said()) }, patience, 20*time.Millisecond)
	b := browse(t, s.address)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(consoleLink.FindStringSubmatch(s.said())[1])))
	next := func(words string) { // the one button that is marked as what comes next
		t.Helper()
		find := `[...document.querySelectorAll('main .primary')].find((e) => e.textContent.trim() === ` + quoted(words) + `)`
		b.until(find)
		require.Equal(t, 1, evaluate[int](b, `[...document.querySelectorAll('main .steps .primary, main .notice .primary')].length || 1`), "one thing is next")
		evaluate[bool](b, find+".click(), true")
	}
	b.until("document.querySelector('main .steps')")
	next("New reward")
	b.until("document.querySelector('form.editor textarea[lang=en]')")
	b.fill(map[string]string{"form.editor textarea[lang=en]": "Coffee mug"})
	b.fill(map[string]string{"#f-points": "100"})
	next("Save")
	b.until("document.querySelector('main h1')?.textContent === 'Coffee mug'")

	next("New campaign")
	b.until("document.querySelector('#f-name')")
	b.fill(map[string]string{"#f-name": "Ten more"})
	b.fill(map[string]string{"#f-effects-0-points": "10"})
	next("Save")
	b.until("document.querySelector('main h1')?.textContent === 'Ten more'")

	next("Open the tester")
	b.text("Enrol a sample customer")
	b.until("document.querySelector('input[name=customer]')?.value === 'sample-1' && !document.querySelector('.tester .notice')")
	next("Preview")
	b.until("document.querySelectorAll('.explain .rule.applied').length >= 3")
	why := evaluate[string](b, "document.querySelector('.explain').innerText")
	require.Contains(t, why, "+70 points")
	assert.Regexp(t, `(?s)Earning.*\+60.*Campaign Ten more.*\+10`, why)
	assert.Contains(t, why, "Nothing is recorded yet")
	assert.Contains(t, b.api("/customers/sample-1/points"), `"spendable":0`)

	b.fill(map[string]string{"#f-items-0-subtotal": "45.5"}) // the total goes with the line
	b.until("document.querySelector('#f-total').value === '45.5'")
	next("Preview")
	b.until("document.querySelector('.explain')?.innerText.includes('+55 points')")

	b.open("/")
	b.until("document.querySelector('main .cards')")
	assert.Equal(t, 0, evaluate[int](b, "document.querySelectorAll('main .steps').length"), "all three are done")
	assert.Contains(t, strings.Join(strings.Fields(evaluate[string](b, "document.querySelector('main .cards').innerText")), " "), "Active campaigns 1")
	assert.Empty(t, b.faults())
	b.within()
}
