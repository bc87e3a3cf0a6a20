package administration

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPaceHoldsAnHour: the minutes of the last hour since the start, each once; those of an hour before count for nothing.
func TestPaceHoldsAnHour(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 30, 20, 0, time.UTC)
	p := NewPace(func() time.Time { return now })
	first := now.Unix() / 60
	require.Equal(t, []paceMinute{{minute: first}}, p.last(), "the minute of the start")
	for _, status := range []int{http.StatusOK, http.StatusNotFound, http.StatusBadRequest, http.StatusServiceUnavailable} {
		p.Answered(status)
	}

	now = now.Add(2 * time.Minute)
	p.Answered(http.StatusOK)
	require.Equal(t, []paceMinute{{first, 4, 2, 1}, {minute: first + 1}, {first + 2, 1, 0, 0}}, p.last())

	now = now.Add(57 * time.Minute)
	list := p.last()
	require.Len(t, list, 60)
	require.Equal(t, paceMinute{first, 4, 2, 1}, list[0])

	now = now.Add(time.Minute)
	list = p.last()
	require.Len(t, list, 60)
	require.Equal(t, paceMinute{minute: first + 1}, list[0])
	require.Equal(t, paceMinute{minute: first + 60}, list[59], "it has the first one's place, and nothing of it")
	p.Answered(http.StatusOK)
	require.Equal(t, paceMinute{first + 60, 1, 0, 0}, p.last()[59])

	now = now.Add(-time.Hour)
	p.Answered(http.StatusOK) // a clock that was set back
	now = now.Add(time.Hour)
	require.Equal(t, paceMinute{first + 60, 1, 0, 0}, p.last()[59])

	now = now.Add(3 * time.Hour)
	for i, m := range p.last() {
		require.Equal(t, paceMinute{minute: first + 240 - 59 + int64(i)}, m)
	}
}
