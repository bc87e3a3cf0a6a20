package histories_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestRebuildOfEverything plays a history of all kinds of events, and holds that
// the journal alone gives what is stored. It has 3,000 events, or two hundred times
// what LOYALTY_TORTURE says, those that follow from others among them.
func TestRebuildOfEverything(t *testing.T) {
	t.Parallel()
	n, seed := 3000, uint64(1)
	if text := os.Getenv("LOYALTY_TORTURE"); text != "" {
		torture, err := strconv.Atoi(text)
		require.NoError(t, err, "LOYALTY_TORTURE is a number")
		n, seed = max(n, 200*torture), rand.Uint64()
	}

	storetest.EachURL(t, func(t *testing.T, url string) {
		c := newTown(t, url, seed, n/10, false)
		began := time.Now()
		c.live(n)
		t.Logf("figures: rebuild: seed %d, %d submissions recorded in %s", seed, c.accepted, time.Since(began).Round(time.Millisecond))
		c.rebuild(t)
		for _, fate := range slices.Sorted(maps.Keys(c.reached)) {
			t.Logf("%7d %s", c.reached[fate], fate)
		}
		require.Greater(t, len(c.reached), 60, "kinds of events")
		for _, action := range slices.Compact(slices.Sorted(slices.Values(townActions))) {
			require.True(t, c.reached[action] > 0 || n < 20_000, "%s is never recorded", action)
		}
		loyaltytest.Proven(t, c.DB)
	})
}

// rebuild folds the town's journal, and says how long it took and how much memory
// was in use at the end of a page.
func (c *town) rebuild(t *testing.T) {
	var done store.RebuildProgress
	var memory runtime.MemStats
	var heap, differences uint64
	began := time.Now()
	err := c.DB.VerifyRebuild(ctx, func(d rebuild.Difference) {
		if differences++; differences <= 20 {
			t.Errorf("%+v", d)
		}
	}, func(p store.RebuildProgress) {
		runtime.ReadMemStats(&memory)
		heap, done = max(heap, memory.HeapAlloc), p
	})

	require.NoError(t, err)
	took := time.Since(began)
	t.Logf("figures: rebuild: %d events of %d customers folded in %s, %.0f a second, heap at most %d MB, %d differences",
		done.Events, done.Customers, took.Round(time.Millisecond), float64(done.Events)/took.Seconds(), heap>>20, differences)
	require.Equal(t, done.Of, done.Events)
	require.Zero(t, differences)
}
