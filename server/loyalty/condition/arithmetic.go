package condition

import (
	"math"
	"math/bits"

	"github.com/expr-lang/expr/ast"
)

const noResult = "%s has no result: it divides by zero or is too large"

// calculate is + - * / % of numbers, + - of durations, and the sums and differences of instants. Kinds are checked at
// compilation, so that 3 days and 3 points cannot be added by mistake.
func (c *compiler) calculate(n ast.Node, operator string, left, right term) (term, error) {
	result, err := number, error(nil)
	switch {
	case left.kind == instant && right.kind == instant && operator == "-":
		result = duration
	case left.kind == instant && right.kind == duration && (operator == "+" || operator == "-"),
		left.kind == duration && right.kind == instant && operator == "+":
		result = instant
	case left.kind == duration && right.kind == duration && (operator == "+" || operator == "-"):
		result = duration
	case left.kind == text && operator == "+", right.kind == text && operator == "+":
		return term{}, c.fault(n, "texts cannot be added")
	default:
		if left, err = c.want(left, number); err != nil {
			return term{}, err
		}
		if right, err = c.want(right, number); err != nil {
			return term{}, err
		}
	}

	l, r, compute := left.eval, right.eval, operations[operator]
	return term{node: n, kind: result, eval: func(f *frame) value {
		a, b := l(f), r(f)
		if a.kind == absent || b.kind == absent || !f.step(1) {
			return nothing
		}
		v, fits := compute(a, b)
		if !fits {
			return f.fail(noResult, describe(n))
		}
		v.kind, v.exact = result, v.exact || result != number
		return v
	}}, nil
}

// operations compute with numbers; instants and durations count as exact ones. False: the operation divides by zero or
// leaves the range.
var operations = map[string]func(a, b value) (value, bool){
	// A sum of whole numbers that is too large wraps around, which shows in its direction.
	"+": func(a, b value) (value, bool) {
		if sum := a.n + b.n; whole(a, b) {
			return integer(sum), (sum > a.n) == (b.n > 0)
		}
		return rounded(a.float() + b.float())
	},
	"-": func(a, b value) (value, bool) {
		if rest := a.n - b.n; whole(a, b) {
			return integer(rest), (rest < a.n) == (b.n > 0)
		}
		return rounded(a.float() - b.float())
	},
	"*": func(a, b value) (value, bool) {
		if whole(a, b) {
			return product(a.n, b.n)
		}
		return rounded(a.float() * b.float())
	},
	"/": func(a, b value) (value, bool) { return rounded(a.float() / b.float()) },
	"%": func(a, b value) (value, bool) {
		// a division by -1 leaves no remainder, and the smallest integer cannot be divided by it
		if !whole(a, b) || b.n == 0 || b.n == -1 {
			return integer(0), whole(a, b) && b.n == -1
		}
		return integer(a.n % b.n), true
	},
}

// whole reports whether both values are exact. Instants and durations always are.
func whole(a, b value) bool { return a.kind != number || a.exact && b.exact }

// product multiplies in 128 bits and reports whether the result fits into 63.
func product(a, b int64) (value, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	return integer(a * b), high == 0 && low <= math.MaxInt64
}

// magnitude is the number without its sign, unsigned, so that it exists for the smallest integer too.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// rounded keeps six digits after the point, so that 0.7 + 0.1 is 0.8 as people expect. Money has four at most.
func rounded(f float64) (value, bool) {
	const digits, most = 1e6, 1e9
	if math.Abs(f) < most {
		f = math.Round(f*digits) / digits
	}
	return decimal(f), !math.IsNaN(f) && !math.IsInf(f, 0)
}
