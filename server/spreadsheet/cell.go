// Package spreadsheet protects texts in a CSV file from being taken for formulas by spreadsheet programs, and reads
// such texts back unchanged.
package spreadsheet

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// signs begin a formula; the full-width ones do in East Asian spreadsheets.
const signs = "=+-@＝＋－＠"

// Guard puts an apostrophe before a text that a spreadsheet could take for a formula. A text that begins with an
// apostrophe gets another one, so that Unguard restores it.
func Guard(text string) string {
	if risky(text) {
		return "'" + text
	}
	return text
}

// Unguard removes the apostrophe that Guard put before a text.
func Unguard(text string) string {
	if rest, marked := strings.CutPrefix(text, "'"); marked && risky(rest) {
		return rest
	}
	return text
}

// risky reports whether a text begins like a formula, also behind blanks, because some programs drop them.
func risky(text string) bool {
	if text == "" {
		return false
	}
	if strings.ContainsRune("\t\r\n'", rune(text[0])) {
		return true
	}

	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unseen))
	return strings.ContainsRune(signs, first)
}

// unseen reports whether a character is invisible at the beginning of a cell.
func unseen(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
