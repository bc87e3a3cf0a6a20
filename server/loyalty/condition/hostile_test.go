package condition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
)

// basket is a purchase of n lines and an event with n codes and n bytes of text.
func basket(t testing.TB, n int) *condition.Facts {
	t.Helper()
	f := purchase(t)
	f.Transaction.Items = make([]condition.Item, n)
	codes := make([]any, n)
	for i := range n {
		f.Transaction.Items[i] = condition.Item{ProductID: fmt.Sprintf("SKU-%d", i), Quantity: 1, Subtotal: 1}
		codes[i] = float64(i)
	}
	data := f.Event.Data.(map[string]any)
	data["codes"], data["text"] = codes, strings.Repeat("a", n)
	return f
}

// nested puts each function into the next: depth loops over one list.
func nested(function, over, innermost string, depth int) string {
	return strings.Repeat(function+"("+over+", ", depth) + innermost + strings.Repeat(")", depth)
}

// TestBudget runs what would take for ever, or all memory, were it let.
func TestBudget(t *testing.T) {
	f := basket(t, 5000)

	for name, source := range map[string]string{
		"nested all":    nested("all", "transaction.items", "true", 20),
		"nested none":   nested("none", "event.data.codes", "false", 20),
		"nested count":  `count(event.data.codes, count(event.data.codes, count(event.data.codes, true) > 0) > 0) > 0`,
		"filter in any": `any(transaction.items, len(filter(transaction.items, .quantity == 2)) == 1)`,
		"filters":       nested("none", "filter(event.data.codes, true)", "false", 10),
		"sum of sums":   `sum(transaction.items, sum(transaction.items, sum(transaction.items, 1))) == 1`,
		"in, in a loop": `all(event.data.codes, # not in event.data.codes or true)`,
		"text":          `none(event.data.codes, event.data.text contains "b")`,
		"copies":        `none(event.data.codes, upper(lower(event.data.text)) == "b")`,
		"pattern":       `none(event.data.codes, event.data.text matches "(a?){50}b$")`,
	} {
		t.Run(name, func(t *testing.T) {
			holds, err := mustCompile(t, source).Holds(f)
			require.ErrorIs(t, err, condition.ErrBudget)
			require.False(t, holds)
		})
	}
}

// TestWithinBudget is a large purchase asked ordinary questions.
func TestWithinBudget(t *testing.T) {
	f := basket(t, 5000)
	for _, source := range []string{
		`none(transaction.items, .product_id in ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"])`,
		`sum(filter(transaction.items, .quantity == 1), .subtotal) == 5000`,
		`count(event.data.codes, # in 10..19) == 10 and 4999 in event.data.codes`,
		`1 in -9000000000000000000..9000000000000000000`, // a range is never counted out
		`event.data.text matches "a$"`,
	} {
		holds, err := mustCompile(t, source).Holds(f)
		require.NoError(t, err, source)
		require.True(t, holds, source)
	}
}

// TestDeep is nesting that a recursive reader pays for with its stack.
func TestDeep(t *testing.T) {
	for name, source := range map[string]string{
		"parentheses": strings.Repeat("(", 1000) + strings.Repeat(")", 1000),
		"brackets":    strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
		"not":         strings.Repeat("!", 1999) + "1",
		"minus":       strings.Repeat("-", 1999) + "1",
		"members":     "event.data" + strings.Repeat(".a", 900),
		"indexes":     "event.data" + strings.Repeat("[0]", 600),
		"ternary":     strings.Repeat("true?", 400),
		"or":          strings.Repeat("true or ", 240) + "1",
		"any":         strings.Repeat("any(", 499),
		"closures":    strings.Repeat("any({", 390),
		"pipes":       "1" + strings.Repeat("|a()", 490),
		"repetition":  `customer.id matches "` + strings.Repeat("(", 90) + "a" + strings.Repeat(")*", 50) + `"`,
		"alternation": `customer.id matches "((a{0,100}){0,100}){0,100}"`,
		"classes":     `customer.id matches "` + strings.Repeat(`\\pL{1000}`, 20) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := condition.Compile(source)
			require.Nil(t, c)
			var refused *condition.Error
			require.ErrorAs(t, err, &refused)
		})
	}
}

// FuzzCompile feeds arbitrary text. What compiles is within the limits, prints
// itself, compiles again to the same, and can be asked of facts that are full
// and of facts that are empty.
func FuzzCompile(f *testing.F) {
	for _, source := range []string{
		`customer.score >= 1 and event.data.channel == "web"`, `any(transaction.items, .data.size in 1..2)`,
		`sum(filter(event.data.codes, # != nil), number(#)) % 2 == 0`, `now - date("2026-03-01") < days(1) ? true : false`,
		`(event.data["a"][0]?.b ?? 1) != -1.5e3`, `customer.email matches "^[a-z]{2,}$"`, `if true { 1 == 1 } else { not (2 > 1) }`,
		`1 < 2 <= 3 | min(4) `, "let a = b\"x\"; {a: #}[1:2] // c", `"\u00e9" in ['a', "b"] /* x */ or ::any([], #index)`,
	} {
		f.Add(source)
	}

	full := purchase(f)
	f.Fuzz(func(t *testing.T, source string) {
		c, err := condition.Compile(source)
		if err != nil {
			var refused *condition.Error
			require.ErrorAs(t, err, &refused)
			require.Nil(t, c)
			return
		}
		for _, facts := range []*condition.Facts{full, {}} {
			holds, err := c.Holds(facts)
			require.False(t, holds && err != nil)
		}
		require.LessOrEqual(t, len(c.String()), condition.MaxBytes)
	})
}

// BenchmarkHolds is a condition of three comparisons, over facts that are there.
func BenchmarkHolds(b *testing.B) {
	f := purchase(b)
	c := mustCompile(b, `transaction.total >= 50 and event.data.channel == "web" and customer.score > 1000`)
	b.ReportAllocs()
	for b.Loop() {
		if holds, err := c.Holds(f); err != nil || !holds {
			b.Fatal(err)
		}
	}
}

// BenchmarkLines asks each of 20 lines for its category.
func BenchmarkLines(b *testing.B) {
	f := basket(b, 20)
	c := mustCompile(b, `none(transaction.items, .product_category == "shoes")`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Holds(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mustCompile(b, `transaction.total >= 50 and event.data.channel == "web" and customer.score > 1000`)
	}
}
