package money

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number is a decimal number in parts: 0.Digits × 10^Point. It takes no more memory than its text, whatever its
// exponent is: 1e999999999 is one digit.
type Number struct {
	Negative bool
	Digits   string // without zeros at either end; empty for zero
	Point    int
}

// farPoint stands for every exponent beyond it. No text has as many digits, so digits cannot bring such a number back
// into range.
const farPoint = 1 << 40

// ParseNumber parses a JSON number; a leading plus, zeros or point are allowed too. It fails with a syntax error.
func ParseNumber(text string) (Number, error) {
	rest, negative := strings.CutPrefix(text, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}

	mantissa, exponent, scaled := cutExponent(rest)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || !isDigits(whole) || !isDigits(fraction) {
		return Number{}, notANumber(text)
	}

	n := Number{Negative: negative, Digits: whole + fraction, Point: len(whole)}
	if scaled {
		shift, ok := parseExponent(exponent)
		if !ok {
			return Number{}, notANumber(text)
		}
		n.Point += shift
	}

	leading := len(n.Digits) - len(strings.TrimLeft(n.Digits, "0"))
	n.Digits = strings.TrimRight(n.Digits[leading:], "0")
	n.Point -= leading
	return n, nil
}

func cutExponent(text string) (mantissa, exponent string, found bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

func parseExponent(text string) (int, bool) {
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	if digits == "" || !isDigits(digits) {
		return 0, false
	}

	n, err := strconv.Atoi(digits)
	if err != nil || n > farPoint {
		n = farPoint
	}
	if negative {
		n = -n
	}

	return n, true
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i]-'0' > 9 {
			return false
		}
	}
	return true
}

func notANumber(text string) error {
	return fmt.Errorf("not a decimal number: %.64q", text)
}

// Whole returns a whole number, however it is written: 2, 2.0, 2e0 and 20e-1 are equal. It fails with ErrPrecision if a
// fraction is left and with ErrRange beyond 64 bits.
func (n Number) Whole() (int64, error) {
	v, exact, err := n.scaled(0)
	if err == nil && !exact {
		err = ErrPrecision
	}
	if err != nil {
		return 0, err
	}
	return v, nil
}

// maxDigits is how many digits a number of 64 bits can have.
const maxDigits = 19

// scaled returns the number times 10^scale, rounded half away from zero, and whether the result is exact. It fails with
// ErrRange.
func (n Number) scaled(scale int) (v int64, exact bool, err error) {
	kept := n.Point + scale
	switch {
	case n.Digits == "":
		return 0, true, nil
	case kept < 0:
		return 0, false, nil
	case kept > maxDigits:
		return 0, false, ErrRange
	}

	head := n.Digits[:min(kept, len(n.Digits))]
	head += strings.Repeat("0", kept-len(head))
	var magnitude uint64 // 19 digits and one more always fit
	for i := range len(head) {
		magnitude = magnitude*10 + uint64(head[i]-'0')
	}

	exact = len(n.Digits) <= kept
	if !exact && n.Digits[kept] >= '5' {
		magnitude++
	}

	switch {
	case n.Negative && magnitude == 1<<63:
		return math.MinInt64, exact, nil
	case magnitude > math.MaxInt64:
		return 0, false, ErrRange
	case n.Negative:
		return -int64(magnitude), exact, nil
	}

	return int64(magnitude), exact, nil
}
