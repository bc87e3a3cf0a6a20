package list

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

var thingColumns = map[string]Column[thing]{
	"id":     {Field{Kind: Text}, func(t thing) any { return t.id }},
	"points": {Field{Kind: Integer}, func(t thing) any { return t.points }},
	"tags":   {Field{Kind: Text}, func(t thing) any { return t.tags }},
	"ends_at": {Field{Kind: Instant}, func(t thing) any {
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
		order Order
		want  string
	}{
		{"", Order{}, "a b c d"},
		{"points.gte=20", Order{}, "a c d"},
		{"points.gte=15&points.lt=30", Order{}, "c d"},
		{"points=10", Order{}, "b"},
		{"points.in=10,30", Order{}, "a b"},
		{"points.nin=10,30", Order{}, "c d"},
		{"points.gte=many", Order{}, ""},
		{"id.ne=a", Order{}, "b c d"},
		{"tags.in=coffee,tea", Order{}, "a c d"},
		{"tags.nin=coffee", Order{}, "b c"},
		{"ends_at=2026-03-01", Order{}, "a d"},
		{"ends_at.gt=2026-03-01", Order{}, "c"},
		{"ends_at.lte=2026-03-01", Order{}, "a d"},
		{"ends_at.ne=2026-03-01", Order{}, "b c"},
		{"ends_at.in=2026-03-01,2026-03-02", Order{}, "a c d"},
		{"ends_at=2026-02-30", Order{}, ""},
		{"", Order{Column: "points"}, "b c d a"},
		{"", Order{Column: "points", Descending: true}, "a c d b"},
		{"", Order{Column: "ends_at"}, "a d c b"},
		{"", Order{Column: "ends_at", Descending: true}, "c d a b"},
		{"", Order{Descending: true}, "d c b a"},
	} {
		p := Page{Limit: 10}
		for part := range strings.SplitSeq(c.query, "&") {
			if name, value, ok := strings.Cut(part, "="); ok {
				p.Query = append(p.Query, Pair{name, value})
			}
		}
		var got []string
		for _, e := range Choose(p, all, thingColumns, c.order, day).Entries {
			got = append(got, e.id)
		}
		require.Equal(t, c.want, strings.Join(got, " "), "%s %v", c.query, c.order)
	}

	cut := Choose(Page{path: "/things", Limit: 2, Offset: 1}, all, thingColumns, Order{}, day)
	require.Len(t, cut.Entries, 2)
	require.Equal(t, "/things?limit=2&offset=3", *cut.Next)
	require.Equal(t, "/things?limit=2&offset=0", *cut.Previous)
}
