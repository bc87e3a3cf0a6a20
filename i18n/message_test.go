package i18n

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMessage(t *testing.T) {
	c := mustLoad(t)
	property := map[string]any{"property": "total"}

	for name, tc := range map[string]struct {
		lang, name string
		args       map[string]any
		want       string
	}{
		"English":             {"en", "property_empty", property, "Property total cannot be empty"},
		"Spanish":             {"es", "property_empty", property, "La propiedad total no puede estar vacía"},
		"French":              {"fr", "property_empty", property, "La propriété total ne peut pas être vide"},
		"Hungarian":           {"hu", "property_empty", property, "A(z) total mező nem lehet üres"},
		"region":              {"hu-HU", "coupon_not_found", nil, "A kupon nem található"},
		"three letters":       {"fre", "coupon_not_found", nil, "Coupon introuvable"},
		"not shipped":         {"de", "coupon_not_found", nil, "Coupon not found"},
		"no language":         {"", "coupon_not_found", nil, "Coupon not found"},
		"no such name":        {"hu", "no_such_name", property, "no_such_name"},
		"value missing":       {"en", "property_empty", nil, "Property {property} cannot be empty"},
		"value too many":      {"en", "coupon_not_found", property, "Coupon not found"},
		"value like a holder": {"en", "forbidden_state_change", map[string]any{"from": "{to}", "to": "{from}"}, "The status cannot change from {to} to {from}"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, c.Message(tc.lang, tc.name, tc.args))
		})
	}
}

type status string

type nilStringer struct{}

func (s *nilStringer) String() string { panic("never reached with nil") }

func TestValuesArePrintedPlainly(t *testing.T) {
	budapest := time.FixedZone("CET", 3600)
	at := time.Date(2026, 2, 28, 0, 30, 0, 7_900_000, budapest)

	for name, tc := range map[string]struct {
		value any
		want  string
	}{
		"nil":             {nil, "null"},
		"int":             {-1234567, "-1234567"},
		"int64":           {int64(math.MaxInt64), "9223372036854775807"},
		"uint":            {uint64(math.MaxUint64), "18446744073709551615"},
		"float":           {1234567.89, "1234567.89"},
		"whole float":     {1e6, "1000000"},
		"small float":     {1e-7, "0.0000001"},
		"float32":         {float32(0.1), "0.1"},
		"not a number":    {math.NaN(), "NaN"},
		"huge float":      {math.MaxFloat64, "17976931348623157" + strings.Repeat("0", 183) + "…"},
		"decimal":         {decimal.RequireFromString("99.90"), "99.9"},
		"json number":     {json.Number("1e3"), "1e3"},
		"bool":            {true, "true"},
		"named text":      {status("a\nb"), "a b"},
		"instant":         {at, "2026-02-27T23:30:00.007Z"},
		"instant pointer": {&at, "2026-02-27T23:30:00.007Z"},
		"no instant":      {(*time.Time)(nil), "null"},
		"duration":        {5 * time.Minute, "300"},
		"part of second":  {1500 * time.Millisecond, "2"},
		"before":          {-1500 * time.Millisecond, "-2"},
		"texts":           {[]string{"a", "b\tc"}, "a, b c"},
		"mixed":           {[]any{"a", 1.5, nil}, "a, 1.5, null"},
		"long list":       {make([]int, 5000), strings.Repeat("0, ", 333) + "0…"},
		"error":           {errors.New("EOF\r\n"), "EOF  "},
		"nil stringer":    {(*nilStringer)(nil), "<nil>"},
		"nil pointer":     {(*int)(nil), "null"},
		"controls":        {"a\x00b\x1b[31mc\u2028d", "a b [31mc d"},
		"direction":       {"abc\u202edef", "abc def"},
		"broken UTF-8":    {"a\xffb", "a\ufffdb"},
		"long":            {strings.Repeat("é", 201), strings.Repeat("é", 200) + "…"},
		"just fits":       {strings.Repeat("é", 200), strings.Repeat("é", 200)},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, plain(tc.value))
		})
	}
}

// TestForeignTextStaysHarmless: whatever a caller sent, the message around it
// is untouched and what is inserted is one bounded line.
func TestForeignTextStaysHarmless(t *testing.T) {
	c := mustLoad(t)
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "value")
		got := c.Message("en", "unknown_parameter", map[string]any{"parameter": value})
		inserted, ok := strings.CutPrefix(got, "Unknown query parameter: ")
		require.True(t, ok)
		require.True(t, utf8.ValidString(got))
		require.False(t, strings.ContainsFunc(got, unicode.IsControl))
		require.Equal(t, min(utf8.RuneCountInString(value), maxValue+1), utf8.RuneCountInString(inserted))
	})
}

func BenchmarkMessage(b *testing.B) {
	c := mustLoad(b)
	args := map[string]any{"property": "transaction_id"}
	b.ReportAllocs()
	for b.Loop() {
		c.Message("hu", "property_empty", args)
	}
}
