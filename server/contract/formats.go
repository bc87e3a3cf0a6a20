package contract

import (
	"errors"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"
)

// formats are the text formats of the documents. They are passed to each validation, because kin-openapi's own table is
// a global of the process and accepts 2023-02-30 as a date.
var formats = map[string]openapi3.StringFormatValidator{
	"birth-date":     openapi3.NewCallbackValidator(isBirthDate),
	"cidr":           openapi3.NewCallbackValidator(isNetwork),
	"date":           openapi3.NewCallbackValidator(isDate),
	"date-time":      openapi3.NewCallbackValidator(isInstant),
	"day-or-instant": openapi3.NewCallbackValidator(isDateOrInstant),
	"email":          openapi3.NewCallbackValidator(isEmail),
	"instant":        openapi3.NewCallbackValidator(isInstant),
	"uri":            openapi3.NewCallbackValidator(isURL),
}

// errFormat says only that a text is not in its format: the message is made from the schema, and no part of the text
// may appear in it.
var errFormat = errors.New("not in the format")

// isDate accepts YYYY-MM-DD, a day of the calendar.
func isDate(s string) error {
	if t, err := time.Parse(time.DateOnly, s); err != nil || t.Year() < 1 {
		return errFormat
	}
	return nil
}

// oldest is the earliest accepted date of birth.
const oldest = "1900-01-01"

// newest is the latest accepted date of birth: today in the time zone where the day begins first.
func newest() string { return time.Now().UTC().Add(14 * time.Hour).Format(time.DateOnly) }

// isBirthDate accepts a plausible date of birth.
func isBirthDate(s string) error {
	if err := isDate(s); err != nil || s < oldest || s > newest() {
		return errFormat
	}
	return nil
}

// isInstant accepts RFC 3339 with any offset, in years that can be written back.
func isInstant(s string) error {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		return errFormat
	}
	return nil
}

func isDateOrInstant(s string) error {
	if isDate(s) == nil {
		return nil
	}
	return isInstant(s)
}

// isEmail accepts a bare address. Blanks around it are allowed: addresses are compared trimmed.
func isEmail(s string) error {
	s = strings.TrimSpace(s)
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s {
		return errFormat
	}
	return nil
}

// isURL accepts a complete address: scheme and host, of any scheme.
func isURL(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return errFormat
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Hostname() == "" {
		return errFormat
	}
	return nil
}

// isNetwork accepts an IP address or a network.
func isNetwork(s string) error {
	if _, ok := ParseNetwork(s); !ok {
		return errFormat
	}
	return nil
}

// ParseNetwork reads a text of the format cidr: a network, or one address as a network of its own. It is false for any
// other text.
func ParseNetwork(text string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	a = a.Unmap()
	return netip.PrefixFrom(a, a.BitLen()), true
}
