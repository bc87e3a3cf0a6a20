package i18n

import (
	"cmp"
	"slices"
	"strings"
)

// maxHeader bounds how much of an Accept-Language header is read, in bytes. Browsers send under 100.
const maxHeader = 256

// Negotiate chooses the language of an answer: the enabled one with the highest weight in the Accept-Language header,
// the earlier of equals, else fallback.
//
// enabled and fallback are ISO 639-1 codes from the programme's configuration. Without enabled languages the shipped
// ones count; without a fallback Default does. A range stands for its language whatever its region (hu-HU is hu).
// Three-letter codes count as their two-letter ones. * stands for every language that the header does not name, and
// q=0 refuses one. Unreadable elements are skipped and only the first 256 bytes count, up to the last whole element.
// There is no error: a header never makes a request fail.
//
// This is the lookup of RFC 4647 and not x/text's matcher, because that one gives Basque readers Spanish and Breton
// readers French, drops the whole header for one bad element, and cannot refuse a language.
func (c *Catalogue) Negotiate(header string, enabled []string, fallback string) (lang string) {
	return c.Preferences(header, enabled, fallback)[0]
}

// Preferences is Negotiate with every acceptable language: the enabled languages that the header wants, the best
// first, then the fallback. A text that lacks the first language is shown in the next one it has.
func (c *Catalogue) Preferences(header string, enabled []string, fallback string) []string {
	if fallback == "" {
		fallback = Default
	}
	if len(enabled) == 0 {
		enabled = c.languages
	}

	ranges := parseRanges(header, make([]languageRange, 0, 16))
	list := make([]preference, 0, len(enabled)+1)
	for i, candidate := range enabled {
		if weight, place := weigh(ranges, candidate); weight > 0 {
			p := preference{candidate, weight, place, i}
			if candidate == fallback {
				p.order = -1 // among several under one *, the programme's default comes first
			}
			list = append(list, p)
		}
	}

	slices.SortFunc(list, preference.compare)
	wanted := make([]string, 0, len(list)+1)
	for _, p := range list {
		wanted = append(wanted, p.language)
	}

	if !slices.Contains(wanted, fallback) {
		wanted = append(wanted, fallback)
	}

	return wanted
}

// preference is a language, its weight and its place in the header.
type preference struct {
	language             string
	weight, place, order int
}

func (p preference) compare(o preference) int {
	return cmp.Or(cmp.Compare(o.weight, p.weight), cmp.Compare(p.place, o.place), cmp.Compare(p.order, o.order))
}

// languageRange is one element of the header.
type languageRange struct {
	code   string // the primary subtag, or *
	whole  bool   // no region or script followed
	weight int    // q in thousandths
}

// weigh gives the weight of a language in the header and its place there.
func weigh(ranges []languageRange, lang string) (weight, place int) {
	named := false
	for i, r := range ranges {
		if !strings.EqualFold(r.code, lang) {
			continue
		}
		// en-GB;q=0 refuses the British form, not English.
		named = named || r.whole || r.weight > 0
		if r.weight > weight {
			weight, place = r.weight, i
		}
	}

	if named {
		return weight, place
	}
	if i := slices.IndexFunc(ranges, func(r languageRange) bool { return r.code == "*" }); i >= 0 {
		return ranges[i].weight, i
	}

	return 0, 0
}

func parseRanges(header string, into []languageRange) []languageRange {
	for element := range strings.SplitSeq(capHeader(header), ",") {
		if r, ok := parseRange(element); ok {
			into = append(into, r)
		}
	}
	return into
}

// capHeader cuts between elements, because half an element would mean something else.
func capHeader(header string) string {
	if len(header) <= maxHeader {
		return header
	}
	end := strings.LastIndexByte(header[:maxHeader+1], ',')
	return header[:max(end, 0)]
}

func parseRange(element string) (languageRange, bool) {
	tag, params, _ := strings.Cut(element, ";")
	tag = strings.Trim(tag, " \t")
	r := languageRange{code: tag, whole: true, weight: 1000}
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		r.code, r.whole = tag[:i], false
	}
	if !isSubtag(r.code) && tag != "*" {
		return r, false
	}

	if len(r.code) == 3 {
		if base := baseLanguage(r.code); base != "" {
			r.code = base
		}
	}

	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.Trim(param, " \t"), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		var ok bool
		if r.weight, ok = parseWeight(value); !ok {
			return r, false
		}
	}

	return r, true
}

func isSubtag(code string) bool {
	for i := range len(code) {
		if c := code[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return len(code) >= 2 && len(code) <= 8
}

// parseWeight reads 0 to 1 as thousandths; it accepts decimals after the third and drops them.
func parseWeight(text string) (int, bool) {
	whole, decimals, _ := strings.Cut(text, ".")
	if whole != "0" && whole != "1" {
		return 0, false
	}

	weight, unit := int(whole[0]-'0')*1000, 100
	for i := range len(decimals) {
		digit := int(decimals[i]) - '0'
		if digit < 0 || digit > 9 {
			return 0, false
		}
		weight += digit * unit
		unit /= 10
	}

	return weight, weight <= 1000
}
