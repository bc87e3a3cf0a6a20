package list

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

var testFields = map[string]Field{
	"status": {Kind: Choice, Choices: []string{"active", "inactive"}},
	"at":     {Kind: Instant},
	"name":   {Kind: Text},
	"points": {Kind: Integer},
	"limit":  {Kind: Integer},
}

func TestFilterGrammar(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one := func(field string, op loyalty.Operator, values ...any) []loyalty.Condition {
		return []loyalty.Condition{{Field: field, Operator: op, Values: values}}
	}

	for name, c := range map[string]struct {
		parameter, value string
		want             []loyalty.Condition
	}{
		"bare is eq":             {"points", "5", one("points", loyalty.Eq, int64(5))},
		"eq":                     {"points.eq", "-5", one("points", loyalty.Eq, int64(-5))},
		"ne":                     {"points.ne", "5", one("points", loyalty.Ne, int64(5))},
		"gte":                    {"points.gte", "5", one("points", loyalty.Gte, int64(5))},
		"in":                     {"points.in", "1,2", one("points", loyalty.In, int64(1), int64(2))},
		"nin":                    {"points.nin", "1", one("points", loyalty.Nin, int64(1))},
		"an attribute limit":     {"limit.eq", "5", one("limit", loyalty.Eq, int64(5))},
		"a choice":               {"status", "active", one("status", loyalty.Eq, "active")},
		"choices":                {"status.in", "active,inactive", one("status", loyalty.In, "active", "inactive")},
		"text is not cut for eq": {"name", "a,b", one("name", loyalty.Eq, "a,b")},
		"a day": {"at", "2026-03-01", []loyalty.Condition{
			{Field: "at", Operator: loyalty.Gte, Values: []any{day(1)}}, {Field: "at", Operator: loyalty.Lt, Values: []any{day(2)}},
		}},
		"after a day":         {"at.gt", "2026-03-01", one("at", loyalty.Gte, day(2))},
		"from a day":          {"at.gte", "2026-03-01", one("at", loyalty.Gte, day(1))},
		"before a day":        {"at.lt", "2026-03-01", one("at", loyalty.Lt, day(1))},
		"until a day":         {"at.lte", "2026-03-01", one("at", loyalty.Lt, day(2))},
		"not on a day":        {"at.ne", "2026-03-01", one("at", loyalty.Nin, span{From: day(1), Before: day(2)})},
		"on one of days":      {"at.in", "2026-03-01,2026-03-05", one("at", loyalty.In, span{From: day(1), Before: day(2)}, span{From: day(5), Before: day(6)})},
		"on none of days":     {"at.nin", "2026-03-01,2026-03-05", one("at", loyalty.Nin, span{From: day(1), Before: day(2)}, span{From: day(5), Before: day(6)})},
		"after an instant":    {"at.gt", "2026-03-01T13:00:00+01:00", one("at", loyalty.Gte, noon.Add(time.Millisecond))},
		"a plus unescaped":    {"at.gt", "2026-03-01T13:00:00 01:00", one("at", loyalty.Gte, noon.Add(time.Millisecond))},
		"and with a fraction": {"at.gte", "2026-03-01T13:00:00.000 01:00", one("at", loyalty.Gte, noon)},
		"from an instant":     {"at.gte", "2026-03-01T12:00:00Z", one("at", loyalty.Gte, noon)},
		"without an offset":   {"at.gte", "2026-03-01T12:00:00", one("at", loyalty.Gte, noon)},
	} {
		t.Run(name, func(t *testing.T) {
			got, readable := Conditions([]Pair{{c.parameter, c.value}}, testFields)
			require.True(t, readable)
			require.Equal(t, c.want, got)
		})
	}
}

func TestFilterUnreadable(t *testing.T) {
	for _, p := range []Pair{
		{"points", "many"}, {"points", ""}, {"points", "1.5"}, {"points", "1e3"}, {"points.in", "1,x"}, {"points.nin", "1,"},
		{"points", "99999999999999999999"}, {"status", "dancing"}, {"status.in", "active,dancing"}, {"status.gt", "active"},
		{"name.lt", "a"}, {"at", "2023-02-30"}, {"at", "2023-13-01"}, {"at", "yesterday"}, {"at", ""}, {"at.in", "2026-03-01,x"},
		{"at", "2026-03-01T25:00:00Z"}, {"at", "2026-3-1"},
		{"at", "2026-03-01 12:00"}, {"at", "2026-03-01 12:00:00"}, {"at", "2026-03-01T12:00:00 "}, {"at", "2026-03-01T12:00:00 25:00"},
	} {
		_, readable := Conditions([]Pair{p}, testFields)
		require.False(t, readable, "%s=%s", p.Name, p.Value)
	}
}

func TestFiltersCombine(t *testing.T) {
	got, readable := Conditions([]Pair{{"points.gte", "10"}, {"fields", "id"}, {"points.lt", "20"}}, testFields)
	require.True(t, readable)
	require.Len(t, got, 2)
}

// FuzzFilter: no parameter makes the grammar panic, and what it reads has values
// of the kind that the store compares.
func FuzzFilter(f *testing.F) {
	f.Add("points.in", "1,2")
	f.Add("at.ne", "2026-03-01")
	f.Add("status.", "active")
	f.Add(".eq", "")
	f.Fuzz(func(t *testing.T, name, value string) {
		list, readable := Conditions([]Pair{{name, value}}, testFields)
		if !readable {
			require.Empty(t, list)
		}

		for _, c := range list {
			require.Contains(t, testFields, c.Field)
			require.NotEmpty(t, c.Values)
			for _, v := range c.Values {
				switch v := v.(type) {
				case int64, string, time.Time:
				case span:
					require.True(t, v.From.Before(v.Before))
				default:
					t.Fatalf("%T", v)
				}
			}
		}
	})
}
