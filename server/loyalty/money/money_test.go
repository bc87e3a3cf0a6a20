package money_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]money.Amount{
		"0": 0, "-0": 0, "0.0000": 0, "1": money.Unit, "-1": -money.Unit, "+1": money.Unit,
		"99.99": 999_900, "0.0001": 1, "-0.0001": -1, "12.34560": 123_456, "33.33": 333_300,
		"1e2": 100 * money.Unit, "1E2": 100 * money.Unit, "1e+2": 100 * money.Unit, "12300e-2": 123 * money.Unit,
		"1e-4": 1, "10e-5": 1, "0e30": 0, "1.5e1": 15 * money.Unit, ".5": 5_000,
		"900000000000": 900_000_000_000 * money.Unit,
		// The two ends of a bigint.
		"922337203685477.5807":  math.MaxInt64,
		"-922337203685477.5808": math.MinInt64,
		// Needless zeros are no precision.
		"1.00000000000000000000000000000000000000": money.Unit,
		// What binary fractions make of 0.3 and 3.3, and every half: away from zero.
		"0.30000000000000004": 3_000, "3.3000000000000003": 33_000, "0.00001": 0, "1e-5": 0, "-0.00001": 0, "1e-60": 0,
		"99.99999": 100 * money.Unit, "-99.99999": -100 * money.Unit,
		"0.00005": 1, "-0.00005": -1, "0.00004999999999999999": 0, "-0.00004999999999999999": 0, "5e-5": 1,
		"0.00015": 2, "0.00025": 3, "1.99995": 2 * money.Unit, "0.99994999": 9_999,
		"922337203685477.58074": math.MaxInt64, "-922337203685477.58084": math.MinInt64,
		// An exponent costs nothing, however far it goes.
		"1e-61": 0, "1e-400": 0, "-1e-400": 0, "1e-999999999": 0, "0e999999999": 0, "1e-99999999999999999999": 0,
		strings.Repeat("0", 100_000) + "1":               money.Unit,
		"0." + strings.Repeat("0", 100_000) + "1e100001": money.Unit,
		"1" + strings.Repeat("0", 100_000) + "e-100000":  money.Unit,
		"1." + strings.Repeat("0", 100_000) + "1":        money.Unit,
	} {
		got, err := money.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"922337203685477.5808":  money.ErrRange,
		"922337203685477.58075": money.ErrRange,
		"-922337203685477.5809": money.ErrRange,
		"1e15":                  money.ErrRange, "1e30": money.ErrRange, "1e31": money.ErrRange,
		"1e400": money.ErrRange, "-1e400": money.ErrRange, "1e999999999": money.ErrRange,
		"1e99999999999999999999": money.ErrRange,
		strings.Repeat("9", 64):  money.ErrRange, strings.Repeat("9", 100_000): money.ErrRange,
	} {
		_, err := money.Parse(text)
		require.ErrorIs(t, err, want, text)
	}

	for _, text := range []string{
		"", " ", ".", "-", "e1", "1e", "1e1.5", "1,5", "1 000", "1_000", "0x10", "NaN", "Inf", "-Infinity",
		"--1", "+-1", "1-1", ".-5", ".+5", "1.-5", "1.2.3", "٣", "12a", "\x00", "−5", "1e−5", "true", `"1"`, "1\n",
	} {
		_, err := money.Parse(text)
		require.Error(t, err, text)
		require.NotErrorIs(t, err, money.ErrRange, text)
	}
}

// TestWhole: a whole number is one however it is written.
func TestWhole(t *testing.T) {
	for text, want := range map[string]int64{
		"2": 2, "2.0": 2, "2e0": 2, "20e-1": 2, "0.2e1": 2, "-2.00": -2, "0": 0, "-0.0": 0, "0e400": 0, "1e18": 1e18,
		"9223372036854775807.0": math.MaxInt64, "-9223372036854775808e0": math.MinInt64,
	} {
		n, err := money.ParseNumber(text)
		require.NoError(t, err, text)
		got, err := n.Whole()
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}

	for text, want := range map[string]error{
		"2.5": money.ErrPrecision, "1e-400": money.ErrPrecision, "0.0001": money.ErrPrecision,
		"1e400": money.ErrRange, "9223372036854775808": money.ErrRange, "-9223372036854775809.0": money.ErrRange,
	} {
		n, err := money.ParseNumber(text)
		require.NoError(t, err, text)
		_, err = n.Whole()
		require.ErrorIs(t, err, want, text)
	}
}

func TestAmountOnTheWire(t *testing.T) {
	for text, canonical := range map[string]string{
		"0": "0", "99.99": "99.99", "99.9900": "99.99", "1e2": "100", "-0.5": "-0.5", "0.0001": "0.0001",
		"922337203685477.5807": "922337203685477.5807", "100.10": "100.1",
	} {
		var v struct{ Amount money.Amount }
		require.NoError(t, json.Unmarshal([]byte(`{"Amount":`+text+`}`), &v), text)
		require.Equal(t, canonical, v.Amount.String())
		again, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, `{"Amount":`+canonical+`}`, string(again), "a number, not text")
	}

	for text, want := range map[string]error{
		`{"Amount":1e20}`: money.ErrRange, `{"Amount":"1"}`: nil,
		`{"Amount":true}`: nil, `{"Amount":{}}`: nil, `{"Amount":[1]}`: nil,
	} {
		var v struct{ Amount money.Amount }
		err := json.Unmarshal([]byte(text), &v)
		require.Error(t, err, text)
		if want != nil {
			require.ErrorIs(t, err, want, "the cause survives the decoder: %s", text)
		}
		require.Zero(t, v.Amount)
	}

	kept := struct{ Amount money.Amount }{7}
	require.NoError(t, json.Unmarshal([]byte(`{"Amount":null}`), &kept))
	require.EqualValues(t, 7, kept.Amount, "null counts as absent")
}

func TestRounding(t *testing.T) {
	for _, c := range []struct {
		value              string
		floor, round, ceil int64
	}{
		{"0", 0, 0, 0}, {"1", 1, 1, 1}, {"1.4999", 1, 1, 2}, {"1.5", 1, 2, 2}, {"2.5", 2, 3, 3}, {"0.0001", 0, 0, 1},
		{"-0.5", -1, -1, 0}, {"-0.4", -1, 0, 0}, {"-1.5", -2, -2, -1}, {"-2", -2, -2, -2}, {"9007199254740991", 1<<53 - 1, 1<<53 - 1, 1<<53 - 1},
	} {
		d := decimal.RequireFromString(c.value)
		for rounding, want := range map[money.Rounding]int64{money.Floor: c.floor, money.Round: c.round, money.Ceil: c.ceil, "": c.floor} {
			got, err := rounding.Whole(d)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s %s", rounding, c.value)
			require.Equal(t, want, money.Ratio(d, decimal.NewFromInt(1), rounding), "%s %s", rounding, c.value)
		}
	}

	for _, huge := range []string{"9223372036854775807.5", "1e30", "-9223372036854775809"} {
		_, err := money.Ceil.Whole(decimal.RequireFromString(huge))
		require.ErrorIs(t, err, money.ErrRange, huge)
	}
}

func TestShare(t *testing.T) {
	third := money.Amount(333_300)

	for _, c := range []struct {
		whole              int64
		part, total        money.Amount
		floor, round, ceil int64
	}{
		{99, third, 999_900, 33, 33, 33},
		{30, third, 999_900, 10, 10, 10},
		{10, 1, 3, 3, 3, 4}, {10, 2, 3, 6, 7, 7}, {10, 3, 3, 10, 10, 10}, {10, 0, 3, 0, 0, 0},
		{1, 1, 2, 0, 1, 1}, {0, 1, 2, 0, 0, 0},
		{7, 0, 0, 7, 7, 7}, // a purchase of nothing is given back as a whole
		{1<<53 - 1, math.MaxInt64 - 1, math.MaxInt64, 1<<53 - 2, 1<<53 - 1, 1<<53 - 1},
	} {
		require.Equal(t, c.floor, money.Floor.Share(c.whole, c.part, c.total), "%v", c)
		require.Equal(t, c.round, money.Round.Share(c.whole, c.part, c.total), "%v", c)
		require.Equal(t, c.ceil, money.Ceil.Share(c.whole, c.part, c.total), "%v", c)
	}
}

func TestRate(t *testing.T) {
	for _, c := range []struct {
		rate, amount       string
		floor, round, ceil int64
	}{
		{"1", "99.99", 99, 100, 100}, {"0.1", "99.99", 9, 10, 10}, {"0.0025", "19990", 49, 50, 50}, {"0.0025", "20000", 50, 50, 50},
		{"0", "99.99", 0, 0, 0}, {"0.1", "0.3", 0, 0, 1}, {"3", "0.3333", 0, 1, 1}, {"1.1", "10", 11, 11, 11},
		{"0.333333333333333333333333333333", "3", 0, 1, 1}, // no digit of a rate is lost
		{"1e3", "0.0001", 0, 0, 1}, {"10000", "0.0001", 1, 1, 1},
	} {
		var rate money.Rate
		require.NoError(t, json.Unmarshal([]byte(c.rate), &rate))
		amount, err := money.Parse(c.amount)
		require.NoError(t, err)
		for rounding, want := range map[money.Rounding]int64{money.Floor: c.floor, money.Round: c.round, money.Ceil: c.ceil} {
			got, err := rate.Points(amount, rounding)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s × %s, %s", c.rate, c.amount, rounding)
		}
	}

	rate, err := money.ParseRate("1e30")
	require.NoError(t, err)
	_, err = rate.Points(money.Unit, money.Floor)
	require.ErrorIs(t, err, money.ErrRange)
}

func TestRateOnTheWire(t *testing.T) {
	var rate money.Rate
	require.Equal(t, "0", rate.String())
	require.Zero(t, rate.Sign())
	require.NoError(t, json.Unmarshal([]byte("0.00250"), &rate))
	require.Equal(t, 1, rate.Sign())
	raw, err := json.Marshal(rate)
	require.NoError(t, err)
	require.Equal(t, "0.0025", string(raw))
	require.NoError(t, json.Unmarshal([]byte("-2"), &rate))
	require.Equal(t, -1, rate.Sign())

	for _, text := range []string{`"1"`, `true`, `{}`, `1e31`, `1e-61`} {
		require.Error(t, json.Unmarshal([]byte(text), &rate), text)
		require.Equal(t, "-2", rate.String(), "a fault changes nothing")
	}
}

func TestAdd(t *testing.T) {
	for _, c := range []struct{ a, b, sum money.Amount }{
		{1, 2, 3}, {math.MaxInt64, 0, math.MaxInt64}, {math.MaxInt64 - 1, 1, math.MaxInt64},
		{math.MinInt64 + 1, -1, math.MinInt64}, {math.MinInt64, math.MaxInt64, -1},
	} {
		sum, err := money.Add(c.a, c.b)
		require.NoError(t, err)
		require.Equal(t, c.sum, sum)
	}
	for _, c := range [][2]money.Amount{{math.MaxInt64, 1}, {1, math.MaxInt64}, {math.MinInt64, -1}, {-1, math.MinInt64}} {
		_, err := money.Add(c[0], c[1])
		require.ErrorIs(t, err, money.ErrRange)
	}
}

// TestAmountIsWrittenAsItsDecimal: without needless zeros, whatever the amount.
func TestAmountIsWrittenAsItsDecimal(t *testing.T) {
	for _, a := range []money.Amount{0, 1, -1, 10, 9999, 10_000, -10_000, 10_001, 123_4500, -5, math.MaxInt64, math.MinInt64} {
		require.Equal(t, a.Decimal().String(), a.String())
	}
	rapid.Check(t, func(t *rapid.T) {
		a := money.Amount(rapid.Int64().Draw(t, "amount"))
		require.Equal(t, a.Decimal().String(), a.String())
	})
}
