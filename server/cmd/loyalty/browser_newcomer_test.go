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
// gives, in eight clicks and four fields at most. It says where one stands after each step, and nothing on the way is a mistake.
func TestConsoleNewcomer(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), nil)
	require.Eventually(t, func() bool { return consoleLink.MatchString(s.said()) }, patience, 20*time.Millisecond)
	b := browse(t, s.address)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(consoleLink.FindStringSubmatch(s.said())[1])))
	clicks, fields := 0, 0
	next := func(words string) { // the one button that is marked as what comes next
		t.Helper()
		find := `[...document.querySelectorAll('main .primary')].find((e) => e.textContent.trim() === ` + quoted(words) + `)`
		b.until(find)
		require.Equal(t, 1, evaluate[int](b, `[...document.querySelectorAll('main .steps .primary, main .notice .primary')].length || 1`), "one thing is next")
		clicks++
		evaluate[bool](b, find+".click(), true")
	}

	b.until("document.querySelector('main .steps')")
	for _, place := range []string{"/customers", "/stream", "/programme", "/campaigns", "/rewards", "/rewards?tab=pools", "/rewards?tab=coupons", "/levels"} {
		b.open(place)
		assert.True(t, evaluate[bool](b, "Boolean(document.querySelector('main .empty p').textContent.length > 20 && document.querySelector('main .empty :is(a, button, code)'))"), "%s says what it is for and offers the first step", place)
	}

	for _, place := range append(screens, places...) { // where next to nothing is, nothing is a mistake
		if !strings.Contains(place, "member-0001") && !strings.Contains(place, "/free-") && !strings.Contains(place, "double-saturday") {
			b.open(place)
			assert.Empty(t, b.faults(), place)
		}
	}

	b.open("/")
	b.until("document.querySelector('main .steps')")
	began := time.Now()
	fill := func(given map[string]string) {
		fields += len(given)
		b.fill(given)
	}

	next("New reward")
	b.until("document.querySelector('form.editor textarea[lang=en]')")
	fill(map[string]string{"form.editor textarea[lang=en]": "Coffee mug"})
	fill(map[string]string{"#f-points": "100"})
	next("Save")
	b.until("document.querySelector('main h1')?.textContent === 'Coffee mug'")

	next("New campaign")
	b.until("document.querySelector('#f-name')")
	fill(map[string]string{"#f-name": "Ten more"})
	fill(map[string]string{"#f-effects-0-points": "10"})
	next("Save")
	b.until("document.querySelector('main h1')?.textContent === 'Ten more'")

	next("Open the tester")
	b.text("Enrol a sample customer")
	clicks++
	b.until("document.querySelector('input[name=customer]')?.value === 'sample-1' && !document.querySelector('.tester .notice')")
	next("Preview")
	b.until("document.querySelectorAll('.explain .rule.applied').length >= 3")
	why := evaluate[string](b, "document.querySelector('.explain').innerText")
	require.Contains(t, why, "+70 points")
	assert.Regexp(t, `(?s)Earning.*\+60.*Campaign Ten more.*\+10`, why)
	assert.Contains(t, why, "Nothing is recorded yet")
	assert.Contains(t, b.api("/customers/sample-1/points"), `"spendable":0`)
	t.Logf("from the first page to a previewed purchase: %d clicks, %d fields, %.1f s of the browser's", clicks, fields, time.Since(began).Seconds())
	assert.LessOrEqual(t, clicks, 8)
	assert.LessOrEqual(t, fields, 4)

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
