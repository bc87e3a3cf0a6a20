package condition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
)

// TestAsExpr holds our evaluation against Expr's own, over facts that are there:
// where nothing is absent and kinds agree, both must say the same.
func TestAsExpr(t *testing.T) {
	f := purchase(t)
	items := make([]any, len(f.Transaction.Items))
	for i, item := range f.Transaction.Items {
		items[i] = map[string]any{"product_id": item.ProductID, "product_category": item.ProductCategory, "quantity": int(item.Quantity), "price": item.Price}
	}

	env := map[string]any{
		"event":       map[string]any{"action": "checkout", "points": 120, "data": map[string]any{"channel": "web", "gift": true, "count": 3.0, "sizes": []any{38.0, 39.5}}},
		"customer":    map[string]any{"id": "member-1001", "language": "hun", "labels": []string{"vip", "newsletter"}, "score": 1250, "spent": 300, "tiers": map[string]any{"main": "gold"}},
		"transaction": map[string]any{"original_total": 120.0, "earned": 99, "items": items},
	}

	rapid.Check(t, func(t *rapid.T) {
		source := drawTruth(t, 3)
		want, err := expr.Eval(source, env)
		require.NoError(t, err, source)
		c, err := condition.Compile(source)
		require.NoError(t, err, source)
		got, err := c.Holds(f)
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	})
}

func draw(t *rapid.T, what string, from ...string) string {
	return rapid.SampledFrom(from).Draw(t, what)
}

func drawTruth(t *rapid.T, depth int) string {
	forms := []func() string{
		func() string {
			return drawNumber(t) + draw(t, "order", " == ", " != ", " < ", " <= ", " > ", " >= ") + drawNumber(t)
		},
		func() string { return drawText(t) + draw(t, "order", " == ", " != ", " < ", " >= ") + drawText(t) },
		func() string {
			return drawText(t) + draw(t, "search", " contains ", " not contains ", " startsWith ", " endsWith ") + drawText(t)
		},
		func() string {
			return drawText(t) + draw(t, "in", " in ", " not in ") + draw(t, "list", "customer.labels", `["web", "gold", "x"]`, "customer.tiers")
		},
		func() string { return drawText(t) + " matches " + draw(t, "pattern", `"^m.*1$"`, `"[we]b?"`, `"^$"`) },
		func() string { return draw(t, "truth", "event.data.gift", "true", "false", `"gift" in event.data`) },
		func() string { return "event.points in " + draw(t, "range", "1..120", "121..200", "-5..120") },
	}

	if depth > 0 {
		forms = append(forms,
			func() string {
				return "(" + drawTruth(t, depth-1) + draw(t, "logic", " and ", " or ", " && ", " || ", " == ", " != ") + "(" + drawTruth(t, depth-1) + "))"
			},
			func() string { return draw(t, "not", "not (", "!(") + drawTruth(t, depth-1) + ")" },
			func() string {
				return fmt.Sprintf("(%s ? %s : %s)", drawTruth(t, depth-1), drawTruth(t, depth-1), drawTruth(t, depth-1))
			},
			func() string {
				return draw(t, "quantifier", "any", "all", "none", "one") + "(transaction.items, " + drawLine(t) + ")"
			},
		)
	}

	text := rapid.SampledFrom(forms).Draw(t, "form")()
	if strings.HasPrefix(text, "(") {
		return text
	}

	return "(" + text + ")"
}

func drawLine(t *rapid.T) string {
	return draw(t, "line", `.quantity > 1`, `.product_category == "shoes"`, `.price < 20 and .quantity == 3`, `.product_id endsWith "1"`,
		`any(customer.labels, # == "vip")`, `.price * .quantity == 60`, `true`)
}

func drawText(t *rapid.T) string {
	return draw(t, "text", `"web"`, `"gold"`, `"m"`, `"1"`, `"vip"`, "event.data.channel", "customer.id", "customer.language",
		`customer.tiers["main"]`, "event.action", `lower("WEB")`, `upper("vip")`, `trim(" m ")`)
}

// drawNumber draws numbers that a float holds exactly, and at most one
// operation on them: Expr neither rounds nor minds an overflow.
func drawNumber(t *rapid.T) string {
	left := drawFigure(t)
	if rapid.Bool().Draw(t, "plain") {
		return left
	}
	return "(" + left + draw(t, "operator", " + ", " - ", " * ") + drawFigure(t) + ")"
}

func drawFigure(t *rapid.T) string {
	return draw(t, "number", "0", "3", "120", "-7", "2.5", "99", "0.25", "customer.score", "customer.spent", "event.points",
		"event.data.count", "transaction.original_total", "transaction.earned", "len(customer.labels)",
		"count(transaction.items, .quantity > 1)", "sum(transaction.items, .quantity)", "sum(event.data.sizes)",
		"len(filter(transaction.items, .price > 20))", "abs(-3)", "floor(2.5)", "ceil(0.25)", "round(2.5)",
		"max(3, 2.5)", "min(customer.spent, 99)")
}
