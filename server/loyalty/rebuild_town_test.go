package loyalty_test

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestRebuildOfEverything plays a history of all kinds of events, and holds that
// the journal alone gives what is stored. It has 3,000 journal rows, or two
// hundred times what LOYALTY_TORTURE says.
func TestRebuildOfEverything(t *testing.T) {
	n := 3000
	if text := os.Getenv("LOYALTY_TORTURE"); text != "" {
		torture, err := strconv.Atoi(text)
		require.NoError(t, err, "LOYALTY_TORTURE is a number")
		n = max(n, 200*torture)
	}
	storetest.EachURL(t, func(t *testing.T, url string) {
		c := newTown(t, url, 3)
		began := time.Now()
		c.live(n)
		lived := time.Since(began)
		began = time.Now()
		found, done := rebuilt(t, c.db)
		t.Logf("figures: rebuild: %d journal rows of %d customers from %d submissions in %s; folded in %s, %d differences",
			done.Events, done.Customers, c.accepted, lived.Round(time.Millisecond), time.Since(began).Round(time.Millisecond), len(found))
		for i, d := range found {
			if i < 20 {
				t.Errorf("%+v", d)
			}
		}
		require.Equal(t, done.Of, done.Events)
		for _, fate := range slices.Sorted(maps.Keys(c.reached)) {
			t.Logf("%7d %s", c.reached[fate], fate)
		}
		for _, fate := range slices.Sorted(maps.Keys(c.refused)) {
			t.Logf("%7d refused: %s", c.refused[fate], fate)
		}
		proven(t, c.db)
	})
}
