package server

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type thing struct {
	id     string
	points int64
	tags   []string
	ends   time.Time
}

var thingColumns = map[string]column[thing]{
	"id":     {field{kind: textField}, func(t thing) any { return t.id }},
	"points": {field{kind: integerField}, func(t thing) any { return t.points }},
	"tags":   {field{kind: textField}, func(t thing) any { return t.tags }},
	"ends_at": {field{kind: instantField}, func(t thing) any {
		if t.ends.IsZero() {
			return nil
		}
		return t.ends
	}},
}

// TestChoose filters and sorts a catalogue that is held in memory.
func TestChoose(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	all := []thing{
		{"a", 30, []string{"new", "coffee"}, day},
		{"b", 10, nil, time.Time{}},
		{"c", 20, []string{"tea"}, day.AddDate(0, 0, 1)},
		{"d", 20, []string{"coffee"}, day.Add(5 * time.Hour)},
	}
	for _, c := range []struct {
		query string
		order order
		want  string
	}{
		{"", order{}, "a b c d"},
		{"points.gte=20", order{}, "a c d"},
		{"points.gte=15&points.lt=30", order{}, "c d"},
		{"points=10", order{}, "b"},
		{"points.in=10,30", order{}, "a b"},
		{"points.nin=10,30", order{}, "c d"},
		{"points.gte=many", order{}, ""},
		{"id.ne=a", order{}, "b c d"},
		{"tags.in=coffee,tea", order{}, "a c d"},
		{"tags.nin=coffee", order{}, "b c"},
		{"ends_at=2026-03-01", order{}, "a d"},
		{"ends_at.gt=2026-03-01", order{}, "c"},
		{"ends_at.lte=2026-03-01", order{}, "a d"},
		{"ends_at.ne=2026-03-01", order{}, "b c"},
		{"ends_at.in=2026-03-01,2026-03-02", order{}, "a c d"},
		{"ends_at=2026-02-30", order{}, ""},
		{"", order{column: "points"}, "b c d a"},
		{"", order{column: "points", descending: true}, "a c d b"},
		{"", order{column: "ends_at"}, "a d c b"},
		{"", order{column: "ends_at", descending: true}, "c d a b"},
		{"", order{descending: true}, "d c b a"},
	} {
		p := page{limit: 10}
		for part := range strings.SplitSeq(c.query, "&") {
			if name, value, ok := strings.Cut(part, "="); ok {
				p.query = append(p.query, pair{name, value})
			}
		}
		var got []string
		for _, e := range choose(p, all, thingColumns, c.order, day).entries {
			got = append(got, e.id)
		}
		require.Equal(t, c.want, strings.Join(got, " "), "%s %v", c.query, c.order)
	}
	cut := choose(page{path: "/things", limit: 2, offset: 1}, all, thingColumns, order{}, day)
	require.Len(t, cut.entries, 2)
	require.Equal(t, "/things?limit=2&offset=3", *cut.next)
	require.Equal(t, "/things?limit=2&offset=0", *cut.previous)
}
