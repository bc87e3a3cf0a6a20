package statistics

import (
	"fmt"
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
	v := view{Query: &q, periods: q.periods(), known: make([]bool, 3660)}
	for i := range v.known {
		v.known[i] = true
	}
	figures := make([]loyalty.Figure, 5000)
	for i := range figures {
		figures[i].Key, figures[i].Day = loyalty.FigureKey{By: "channel", Name: fmt.Sprint(i)}, i%3660
		figures[i].Value.SetInt64(int64(i))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list, leftOff := v.series(figures)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
	require.Len(t, list, maxSeries)
	require.Equal(t, 4900, leftOff)
	require.Equal(t, "4999", list[0].Key.Name)
	require.EqualValues(t, 4999, list[0].Total.N.Int64())
	require.EqualValues(t, 4999, list[0].Values[4999-3660].N.Int64())
}
