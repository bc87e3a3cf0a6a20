package statistics

import (
	"fmt"
	"math/big"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestManyPartsCostWhatIsShown: a channel is any text that a caller sends, so that there
// can be thousands of them; ten years of days of each would take gigabytes.
func TestManyPartsCostWhatIsShown(t *testing.T) {
	metric, ok := Find("purchases")
	require.True(t, ok)
	q := Query{Metric: metric, By: "channel", Range: Range{Last: 3659}, Interval: Day}
	v := view{Query: &q, periods: q.periods(), known: make([]bool, 3660), totals: map[loyalty.FigureKey]*big.Int{}}
	for i := range v.known {
		v.known[i] = true
	}

	const parts = 100_000
	give := func(each func(*loyalty.Figure)) {
		for i := range parts {
			f := loyalty.Figure{Key: loyalty.FigureKey{By: "channel", Name: fmt.Sprint(i)}, Day: i % 3660}
			f.Value.SetInt64(int64(i))
			each(&f)
		}
	}

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	give(v.weigh)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, after.HeapAlloc-before.HeapAlloc, uint64(parts*256), "of a part that may not be shown its total alone is kept")
	keys, leftOff := v.choose()
	require.Len(t, keys, maxSeries)
	give(v.count)
	list := v.series()
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, after.HeapAlloc-before.HeapAlloc, uint64(64<<20))
	require.Len(t, list, maxSeries)
	require.Equal(t, parts-maxSeries, leftOff)
	require.Equal(t, fmt.Sprint(parts-1), list[0].Key.Name)
	require.EqualValues(t, parts-1, list[0].Total.N.Int64())
	require.EqualValues(t, parts-1, list[0].Values[(parts-1)%3660].N.Int64())
	runtime.KeepAlive(list)
}

// TestMoneyWithoutACurrency: what was bought without a currency is shown, and read, under the
// programme's.
func TestMoneyWithoutACurrency(t *testing.T) {
	metric, ok := Find("revenue")
	require.True(t, ok)
	q := Query{Metric: metric, By: "store", Range: Range{Last: 1}, Interval: Day}
	v := view{Query: &q, periods: q.periods(), known: []bool{true, true}, currency: "EUR", totals: map[loyalty.FigureKey]*big.Int{}}
	give := func(each func(*loyalty.Figure)) {
		for i, currency := range []string{"", "EUR", "HUF"} {
			f := loyalty.Figure{Key: loyalty.FigureKey{By: "store", Currency: currency, Name: "north"}, Day: i % 2}
			f.Value.SetInt64(int64(10 + i))
			each(&f)
		}
	}

	give(v.weigh)
	keys, leftOff := v.choose()
	require.Zero(t, leftOff)
	require.ElementsMatch(t, []loyalty.FigureKey{{By: "store", Name: "north"}, {By: "store", Currency: "EUR", Name: "north"}, {By: "store", Currency: "HUF", Name: "north"}}, keys)
	give(v.count)
	list := v.series()
	require.Equal(t, []string{"EUR", "HUF"}, []string{list[0].Key.Currency, list[1].Key.Currency})
	require.Equal(t, []int64{21, 12}, []int64{list[0].Total.N.Int64(), list[1].Total.N.Int64()})
}

// TestFewPartsAreReadOnce: what fits into an answer needs no second look, and comes out as from two.
func TestFewPartsAreReadOnce(t *testing.T) {
	for _, name := range []string{"purchases", "revenue", "members_by_tier"} {
		metric, ok := Find(name)
		require.True(t, ok)
		q := Query{Metric: metric, By: metric.By[0], Range: Range{Last: 9}, Interval: Week}
		for parts, looks := range map[int]int{0: 1, 1: 1, maxSeries: 1, maxSeries + 1: 2} {
			give := func(each func(*loyalty.Figure)) {
				for i := range parts {
					for day := range 10 {
						f := loyalty.Figure{Key: loyalty.FigureKey{By: q.By, Name: fmt.Sprint(i)}, Day: day}
						f.Value.SetInt64(int64(i * (day + 1)))
						each(&f)
					}
				}
			}

			tell := func(once bool) []Series {
				v := view{Query: &q, periods: q.periods(), currency: "EUR", totals: map[loyalty.FigureKey]*big.Int{}}
				v.known = make([]bool, len(v.periods))
				for i := range v.known {
					v.known[i] = true
				}

				if metric.State {
					v.lastDays = make([]int, len(v.periods))
					give(v.photographed)
				}

				if once {
					v.byKey = map[loyalty.FigureKey]*Series{}
				}

				give(v.weigh)
				keys, _ := v.choose()
				if once {
					require.Equal(t, looks == 2, len(keys) > 0, "%s, %d parts", name, parts)
				}
				if len(keys) > 0 {
					give(v.count)
				}

				return v.series()
			}

			require.Equal(t, tell(false), tell(true), "%s, %d parts", name, parts)
		}
	}
}
