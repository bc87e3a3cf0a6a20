package i18n

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNegotiate(t *testing.T) {
	c := mustLoad(t)
	all := []string{"en", "es", "fr", "hu"}
	pad := strings.Repeat("x", 8) + ","

	for name, tc := range map[string]struct {
		header   string
		enabled  []string
		fallback string
		want     string
	}{
		"plain":                     {"hu", all, "en", "hu"},
		"case":                      {"HU", all, "en", "hu"},
		"region":                    {"fr-CA", all, "en", "fr"},
		"underscore":                {"es_MX", all, "en", "es"},
		"three letters":             {"hun", all, "en", "hu"},
		"bibliographic letters":     {"fre;q=0.7, eng;q=0.6", all, "es", "fr"},
		"highest weight":            {"en;q=0.1, hu;q=0.9, fr;q=0.5", all, "es", "hu"},
		"a thousandth":              {"en;q=0.998,fr;q=0.999", all, "es", "fr"},
		"default weight":            {"en;q=0.9, fr", all, "es", "fr"},
		"first of equals":           {"fr;q=0.8, hu;q=0.8", all, "en", "fr"},
		"repeated":                  {"fr;q=0.8, hu;q=0.8, fr;q=0.8", all, "en", "fr"},
		"browser":                   {"hu-HU,hu;q=0.9,en-US;q=0.8,en;q=0.7", all, "en", "hu"},
		"not enabled":               {"hu, fr;q=0.3", []string{"en", "fr"}, "en", "fr"},
		"beyond the shipped":        {"de", []string{"de", "en"}, "en", "de"},
		"nothing fits":              {"de, pl", all, "hu", "hu"},
		"no cousin languages":       {"eu, br, ca", all, "hu", "hu"},
		"empty":                     {"", all, "hu", "hu"},
		"any":                       {"*", all, "hu", "hu"},
		"any, default not enabled":  {"*", []string{"fr", "es"}, "hu", "fr"},
		"any but the default":       {"hu;q=0, *;q=0.1", all, "hu", "en"},
		"named before any":          {"*;q=0.5, fr", all, "en", "fr"},
		"any before named":          {"*, fr;q=0.5", all, "en", "en"},
		"refused":                   {"hu;q=0", all, "en", "en"},
		"refused under a region":    {"en-GB;q=0, en;q=0.5, fr;q=0.2", all, "hu", "en"},
		"region refused, any wins":  {"en-GB;q=0, *;q=0.5", all, "en", "en"},
		"all refused":               {"*;q=0", all, "fr", "fr"},
		"bad element passed over":   {"x_y!z, ;q=1, hu", all, "en", "hu"},
		"bad weight passed over":    {"hu;q=2, es;q=-1, en;q=x, fr;q=0.1", all, "en", "fr"},
		"over one":                  {"hu;q=1.001, fr;q=0.1", all, "en", "fr"},
		"exponent":                  {"hu;q=1e0, fr;q=0.1", all, "en", "fr"},
		"many decimals":             {"hu;q=0.33333, fr;q=0.33299", all, "en", "hu"},
		"parameters":                {"fr;level=1;q=0.2, hu;Q=0.3;x", all, "en", "hu"},
		"blanks":                    {"\t hu ; q=0.4 , \tfr;q=0.2", all, "en", "hu"},
		"no enabled means shipped":  {"hu", nil, "en", "hu"},
		"no fallback means English": {"de", all, "", "en"},
		"spelling of the programme": {"hu", []string{"HU"}, "en", "HU"},
		"last within the cap":       {strings.Repeat(pad, 28) + "en,h,hu", all, "es", "en"},
		"element over the cap":      {strings.Repeat(pad, 28) + "a,hu-HU-x", all, "es", "es"},
		"element ends at the cap":   {strings.Repeat(pad, 28) + "b,hu,fr", all, "es", "hu"},
		"one endless element":       {"hu-" + strings.Repeat("a", 300), all, "es", "es"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, c.Negotiate(tc.header, tc.enabled, tc.fallback))
		})
	}
}

func FuzzNegotiate(f *testing.F) {
	for _, header := range []string{
		"", "*", "hu", "hu-HU,hu;q=0.9,en-US;q=0.8,en;q=0.7", "en;q=0,*", "fre;q=0.5,eng", "x_y!z,hu;q=0.1",
		"hu;q=1.0000000000000000000000000", ";;;,,,===", "\xff\xfe,hu", strings.Repeat("a,", 200) + "hu",
		"zh-Hant-TW-u-co-pinyin,iw,in,und,mul,sh", "hu;q=NaN,fr;q=+1,en;q=Inf",
	} {
		f.Add(header, "en hu", "en")
	}

	f.Add("de,*;q=0.1", "", "")
	c := mustLoad(f)
	f.Fuzz(func(t *testing.T, header, configured, fallback string) {
		enabled := strings.Fields(configured)
		got := c.Negotiate(header, enabled, fallback)

		allowed := append(slices.Clone(enabled), fallback)
		if len(enabled) == 0 {
			allowed = append(c.Languages(), fallback)
		}
		if fallback == "" {
			allowed = append(allowed, Default)
		}

		require.Contains(t, allowed, got)
		require.Equal(t, got, c.Negotiate(capHeader(header), enabled, fallback), "the rest beyond the cap was read")
		if len(header)+2 <= maxHeader {
			require.Equal(t, got, c.Negotiate("!,"+header, enabled, fallback), "a bad element changed the answer")
		}

		for _, r := range parseRanges(header, nil) {
			require.True(t, r.weight >= 0 && r.weight <= 1000, r.weight)
		}
	})
}

func BenchmarkNegotiate(b *testing.B) {
	c := mustLoad(b)
	enabled := []string{"en", "es", "fr", "hu"}
	b.ReportAllocs()
	for b.Loop() {
		c.Negotiate("hu-HU,hu;q=0.9,en-US;q=0.8,en;q=0.7", enabled, "en")
	}
}
