package importer

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
)

var (
	scientific = regexp.MustCompile(`^[+-]?\d+([.,]\d+)?[eE][+-]?\d+$`)
	plainPoint = regexp.MustCompile(`^-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$`)
	plainComma = regexp.MustCompile(`^-?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$`)
	numeric    = regexp.MustCompile(`^(\d{1,4})[./-] ?(\d{1,2})[./-] ?(\d{1,4})\.?$`)
)

// isBlank reports whether a character around a value is no part of it.
func isBlank(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(blanks, r) }

// id reads an identifier: text, with leading zeros.
func (s *sheet) id(column string, told *[]Finding) string {
	text := s.cell(column)
	if text == "" {
		*told = append(*told, s.finding(column, "", say("empty", nil)))
	}
	s.unrounded(column, text, told)
	return text
}

// unrounded reports an identifier that a spreadsheet turned into a number.
func (s *sheet) unrounded(column, text string, told *[]Finding) {
	if scientific.MatchString(text) {
		*told = append(*told, s.finding(column, text, say("id_exponent", nil)))
	}
}

// parts are the values of a cell with several, separated by |.
func (s *sheet) parts(column string) (list []string) {
	for part := range strings.SplitSeq(s.cell(column), "|") {
		if part = trimmed(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// decimal reads a number and returns it as in JSON; empty for an empty cell.
func (s *sheet) decimal(column string, told *[]Finding) string {
	text := s.cell(column)
	bare := strings.Map(func(r rune) rune {
		if strings.ContainsRune(blanks, r) {
			return -1
		}
		return r
	}, text)

	if bare == "" {
		return ""
	}

	fault := func(w Words) string {
		*told = append(*told, s.finding(column, text, w))
		return ""
	}

	if scientific.MatchString(bare) {
		return fault(say("number_exponent", nil))
	}

	decimal := s.options.Decimal
	if decimal == "" && s.comma == ',' {
		decimal = "."
	}

	switch {
	case decimal == "" && strings.ContainsAny(bare, ".,"):
		return fault(say("decimal_unsaid", args{"flag": s.options.Flag}))
	case decimal == "," && plainComma.MatchString(bare):
		bare = strings.ReplaceAll(strings.ReplaceAll(bare, ".", ""), ",", ".")
	case decimal != "," && plainPoint.MatchString(bare):
		bare = strings.ReplaceAll(bare, ",", "")
	default:
		return fault(say("number", nil))
	}

	return normal(bare)
}

// normal is a number without leading zeros, which JSON does not allow.
func normal(number string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		sign, number = "-", rest
	}
	if number = strings.TrimLeft(number, "0"); number == "" || number[0] == '.' {
		number = "0" + number
	}
	return sign + number
}

// whole reads a whole number above zero.
func (s *sheet) whole(column string, told *[]Finding) int64 {
	before := len(*told)
	text := s.decimal(column, told)
	if len(*told) > before {
		return 0
	}
	digits, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || strings.Trim(fraction, "0") != "" {
		*told = append(*told, s.finding(column, s.cell(column), say("whole_number", nil)))
	}
	return n
}

// instant reads a day or an instant. A day begins in the programme's time zone; with through it is the day's last
// millisecond. Zero for an empty cell.
func (s *sheet) instant(column string, through bool, told *[]Finding) time.Time {
	text := s.cell(column)
	if text == "" {
		return time.Time{}
	}

	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Truncate(time.Millisecond)
		}
	}

	day, clock := text, ""
	if at := strings.LastIndexAny(text, " T"); at > 0 && strings.Contains(text[at:], ":") {
		day, clock = strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
	}

	date, fault := s.day(day)
	if fault != nil {
		*told = append(*told, s.finding(column, text, *fault))
		return time.Time{}
	}

	if clock == "" {
		if through {
			return date.Ends(s.zone)
		}
		return date.Begins(s.zone) // not always midnight: in some zones the clocks skip it
	}

	for _, layout := range []string{"15:04:05", "15:04", "15:04:05.999"} {
		if t, err := time.Parse(layout, clock); err == nil {
			year, month, dom := date.Date()
			return time.Date(year, month, dom, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), s.zone).UTC().
				Truncate(time.Millisecond)
		}
	}

	*told = append(*told, s.finding(column, text, say("clock", nil)))
	return time.Time{}
}

// day reads a day: the year first, or in the configured order. It never guesses.
func (s *sheet) day(text string) (day calendar.Day, fault *Words) {
	m := numeric.FindStringSubmatch(trimmed(text))
	if m == nil {
		return day, new(say("day", nil))
	}

	year, month, date := m[1], m[2], m[3]
	if len(year) != 4 {
		switch {
		case len(m[3]) != 4:
			return day, new(say("day_year", nil))
		case s.options.Dates == "dmy":
			year, month, date = m[3], m[2], m[1]
		case s.options.Dates == "mdy":
			year, month, date = m[3], m[1], m[2]
		default:
			return day, new(say("dates_unsaid", args{"flag": s.options.Flag}))
		}
	}

	number := func(t string) int { n, _ := strconv.Atoi(t); return n } // the pattern has digits only
	day = calendar.Civil(number(year), time.Month(number(month)), number(date))
	if _, m, d := day.Date(); d != number(date) || int(m) != number(month) {
		return 0, new(say("calendar", nil))
	}

	return day, nil
}
