// Package money holds exact amounts of money and the exact arithmetic on them.
//
// An amount is a whole number of ten-thousandths of a currency unit, so that decimal numbers of the wire are kept to
// the last digit and no binary fraction is involved.
package money

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// Scale is the number of decimals an Amount keeps.
const Scale = 4

// Unit is one currency unit, in the 1/10,000 parts an Amount counts.
const Unit Amount = 10_000

// Amount is a sum of money in 1/10,000 of a currency unit. It is a bigint in
// both databases and a plain JSON number on the wire.
type Amount int64

// Parts is an Amount as the journal keeps it in its documents: JSON writes the whole
// number of 1/10,000 parts, where an Amount is written as a decimal number of units.
type Parts int64

// ErrPrecision is the failure of a number with more decimals than can be kept.
var ErrPrecision = errors.New("more decimals than can be kept")

// ErrRange is the failure of a number that is too large to be kept exactly.
var ErrRange = errors.New("number out of range")

// maxExponent bounds the exponent of a parsed number: without it a few bytes
// such as 1e999999999 would ask for gigabytes.
const maxExponent = 30

// number is the grammar of a decimal number: JSON's, and a leading plus, zeros or point. The library's own is wider and
// depends on its version.
var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// Parse reads a decimal number such as 99.99 or 1e2. A value between two amounts is rounded half away from zero:
// clients that compute in binary send 3.3000000000000003 for three times 1.10, and mean 3.3. It fails with ErrRange or
// a syntax error.
func Parse(text string) (Amount, error) {
	a, _, err := ParseRounded(text)
	return a, err
}

// ParseRounded is Parse, and reports whether nothing had to be rounded.
func ParseRounded(text string) (a Amount, exact bool, err error) {
	n, err := ParseNumber(text)
	if err != nil {
		return 0, false, err
	}
	v, exact, err := n.scaled(Scale)
	return Amount(v), exact, err
}

func parseDecimal(text string) (decimal.Decimal, error) {
	if len(text) > 64 {
		return decimal.Decimal{}, ErrRange
	}
	if !number.MatchString(text) {
		return decimal.Decimal{}, fmt.Errorf("not a decimal number: %q", text)
	}
	d, err := decimal.NewFromString(text)
	if err != nil || d.Exponent() > maxExponent || d.Exponent() < -2*maxExponent {
		return decimal.Decimal{}, ErrRange
	}
	return d, nil
}

// FromDecimal turns a decimal into an amount, exactly.
// It fails with ErrPrecision or ErrRange.
func FromDecimal(d decimal.Decimal) (Amount, error) {
	shifted := d.Shift(Scale)
	if !shifted.IsInteger() {
		return 0, ErrPrecision
	}
	if !shifted.BigInt().IsInt64() {
		return 0, ErrRange
	}
	return Amount(shifted.IntPart()), nil
}

// Decimal returns the amount as a decimal number of currency units.
func (a Amount) Decimal() decimal.Decimal { return decimal.New(int64(a), -Scale) }

// String writes the amount in currency units without needless zeros.
func (a Amount) String() string { return string(a.Append(nil)) }

// Append appends the amount to b, as String writes it.
func (a Amount) Append(b []byte) []byte {
	units, rest := int64(a)/int64(Unit), int64(a)%int64(Unit)
	if rest == 0 {
		return strconv.AppendInt(b, units, 10)
	}
	if a < 0 {
		b, units, rest = append(b, '-'), -units, -rest
	}
	b = append(strconv.AppendInt(b, units, 10), '.')
	for scale := int64(Unit / 10); rest > 0; scale /= 10 {
		b = append(b, byte('0'+rest/scale))
		rest %= scale
	}
	return b
}

// MarshalJSON writes the amount as a JSON number of currency units.
func (a Amount) MarshalJSON() ([]byte, error) { return a.Append(nil), nil }

// UnmarshalJSON reads a JSON number of currency units; null leaves it as it is.
func (a *Amount) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	if strings.HasPrefix(text, `"`) {
		return fmt.Errorf("a number is expected, not text: %s", text)
	}
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// Rounding names how a fraction of a point becomes whole points.
type Rounding string

// The roundings a programme may choose. Round is half away from zero.
const (
	Floor Rounding = "floor"
	Round Rounding = "round"
	Ceil  Rounding = "ceil"
)

// Apply rounds an exact number to whole points.
func (r Rounding) Apply(d decimal.Decimal) decimal.Decimal {
	switch r {
	case Ceil:
		return d.Ceil()
	case Round:
		return d.Round(0)
	default:
		return d.Floor()
	}
}

// Whole rounds an exact number to whole points. It fails with ErrRange when
// the result does not fit.
func (r Rounding) Whole(d decimal.Decimal) (int64, error) {
	n := r.Apply(d)
	if !n.BigInt().IsInt64() {
		return 0, ErrRange
	}
	return n.IntPart(), nil
}

// Share returns whole × part / total, rounded to whole points: the points that belong to part of a sum. With a total of
// zero it returns the whole.
func (r Rounding) Share(whole int64, part, total Amount) int64 {
	if total == 0 {
		return whole
	}
	return Ratio(decimal.NewFromInt(whole).Mul(decimal.NewFromInt(int64(part))), decimal.NewFromInt(int64(total)), r)
}

// Ratio rounds a/b by integer division, so that no digit is lost as it would be in a quotient cut after some decimals.
func Ratio(a, b decimal.Decimal, r Rounding) int64 {
	quotient, rest := a.QuoRem(b, 0)
	n := quotient.IntPart()
	if rest.IsZero() {
		return n
	}

	negative := a.Sign()*b.Sign() < 0
	switch r {
	case Ceil:
		if !negative {
			n++
		}
	case Round:
		if rest.Abs().Mul(decimal.NewFromInt(2)).GreaterThanOrEqual(b.Abs()) {
			n += sign(negative)
		}
	default:
		if negative {
			n--
		}
	}

	return n
}

func sign(negative bool) int64 {
	if negative {
		return -1
	}
	return 1
}

// Rate is an exact factor, such as points per currency unit, written as a
// JSON number and kept to the digit.
type Rate struct{ d decimal.Decimal }

// ParseRate reads an exact factor.
func ParseRate(text string) (Rate, error) {
	d, err := parseDecimal(text)
	return Rate{d}, err
}

// MarshalJSON writes the rate as a JSON number.
func (r Rate) MarshalJSON() ([]byte, error) { return []byte(r.d.String()), nil }

// UnmarshalJSON reads a JSON number.
func (r *Rate) UnmarshalJSON(data []byte) error {
	parsed, err := ParseRate(string(data))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// One is the exchange rate of a currency to itself.
var One = Rate{decimal.NewFromInt(1)}

// Convert returns an amount times this rate divided by another one, which is above zero: the amount in another
// currency, rounded half away from zero and bounded by most.
func (r Rate) Convert(a Amount, over Rate, most Amount) Amount {
	exact := decimal.NewFromInt(int64(a)).Mul(r.d)
	if limit := decimal.NewFromInt(int64(most)).Mul(over.d); exact.Abs().GreaterThanOrEqual(limit) {
		return Amount(sign(exact.Sign() < 0)) * most
	}
	return Amount(Ratio(exact, over.d, Round))
}

// Sign is -1, 0 or 1.
func (r Rate) Sign() int { return r.d.Sign() }

// String writes the rate as a decimal number.
func (r Rate) String() string { return r.d.String() }

// Points returns the points that an amount is worth at this rate. It fails with ErrRange when they do not fit.
func (r Rate) Points(a Amount, rounding Rounding) (int64, error) {
	return rounding.Whole(a.Decimal().Mul(r.d))
}

// Add sums two amounts and fails with ErrRange instead of overflowing.
func Add(a, b Amount) (Amount, error) {
	if (b > 0 && a > math.MaxInt64-b) || (b < 0 && a < math.MinInt64-b) {
		return 0, ErrRange
	}
	return a + b, nil
}
