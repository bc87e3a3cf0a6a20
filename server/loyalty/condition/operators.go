package condition

import (
	"math"

	"github.com/expr-lang/expr/ast"
)

// unary is not, and the signs.
func (c *compiler) unary(n *ast.UnaryNode) (term, error) {
	of, err := c.term(n.Node)
	if err != nil {
		return term{}, err
	}

	if n.Operator == "not" || n.Operator == "!" {
		of, err = c.want(of, truth)
		eval := of.eval
		return term{node: n, kind: truth, eval: func(f *frame) value { return not(eval(f)) }}, err
	}

	// computed as 0 minus the duration, so that the range is checked in one place
	if of.kind == duration && n.Operator == "-" {
		return c.calculate(n, "-", term{node: n, kind: duration, eval: func(*frame) value { return value{kind: duration} }},
			of)
	}
	if of, err = c.want(of, number); err != nil || n.Operator == "+" {
		return of, err
	}
	if of.literal {
		return literal(n, negative(of.constant)), nil
	}

	eval := of.eval
	return term{node: n, kind: number, eval: func(f *frame) value {
		v := eval(f)
		if v.kind != number {
			return nothing
		}
		return negative(v)
	}}, nil
}

// not leaves an unknown value unknown: the opposite of something absent is unknown, too.
func not(v value) value {
	if v.kind == truth {
		v.n = 1 - v.n
	}
	return v
}

// negative is exact if the negative exists: the smallest integer has none.
func negative(v value) value {
	if v.exact && v.n != math.MinInt64 {
		return integer(-v.n)
	}
	return decimal(-v.float())
}

// binary is an operator between two terms. If its result is true or false, it goes through all values of the terms that
// can have several.
func (c *compiler) binary(n *ast.BinaryNode) (term, error) {
	open := len(c.open)
	t, err := c.operation(n)
	if err != nil || t.kind != truth {
		return t, err
	}
	t = c.through(t, c.open[open:], n.Operator == "!=")
	c.open = c.open[:open:open]
	return t, nil
}

// operation is an operator between two terms. A range and a pattern are not terms, so they are handled before the right
// side is compiled.
func (c *compiler) operation(n *ast.BinaryNode) (term, error) {
	if n.Operator == ".." {
		return term{}, c.fault(n, "a range stands to the right of in, as in event.hour in 9..17")
	}

	left, err := c.term(n.Left)
	if err != nil {
		return term{}, err
	}

	switch span, ranged := n.Right.(*ast.BinaryNode); {
	case n.Operator == "in" && ranged && span.Operator == "..":
		return c.between(n, left, span)
	case n.Operator == "matches":
		return c.matches(n, left)
	}

	right, err := c.term(n.Right)
	if err != nil {
		return term{}, err
	}

	switch n.Operator {
	case "and", "&&", "or", "||":
		return c.logic(n, left, right)
	case "==", "!=":
		return c.equality(n, left, right)
	case "<", "<=", ">", ">=":
		return c.comparison(n, left, right)
	case "in":
		return c.membership(n, left, right)
	case "contains", "startsWith", "endsWith":
		return c.search(n, left, right)
	case "+", "-", "*", "/", "%":
		return c.calculate(n, n.Operator, left, right)
	case "??":
		return c.otherwise(n, left, right)
	}

	return term{}, c.fault(n, "%s is not part of the language", n.Operator)
}

// logic is and, or. An unknown side makes the result unknown unless the other side decides alone.
func (c *compiler) logic(n *ast.BinaryNode, left, right term) (term, error) {
	left, err := c.want(left, truth)
	if err != nil {
		return term{}, err
	}
	if right, err = c.want(right, truth); err != nil {
		return term{}, err
	}

	decides := int64(0)
	if n.Operator == "or" || n.Operator == "||" {
		decides = 1
	}

	l, r := left.eval, right.eval
	return term{node: n, kind: truth, eval: func(f *frame) value {
		a := l(f)
		if a.kind == truth && a.n == decides {
			return a
		}
		b := r(f)
		// absent and false is false, absent and true is unknown; the reverse for or
		if a.kind == absent && (b.kind != truth || b.n != decides) {
			return nothing
		}
		return b
	}}, nil
}

// otherwise is x ?? y: y if x is absent.
func (c *compiler) otherwise(n *ast.BinaryNode, left, right term) (term, error) {
	t, err := c.either(n, left, right)
	l, r := left.eval, right.eval
	t.eval = func(f *frame) value {
		if v := l(f); v.kind != absent {
			return v
		}
		return r(f)
	}
	return t, err
}

// conditional is a ? b : c; c also if a is unknown.
func (c *compiler) conditional(n *ast.ConditionalNode) (term, error) {
	cond, err := c.term(n.Cond)
	if err != nil {
		return term{}, err
	}
	if cond, err = c.want(cond, truth); err != nil {
		return term{}, err
	}

	then, err := c.term(n.Exp1)
	if err != nil {
		return term{}, err
	}

	other, err := c.term(n.Exp2)
	if err != nil {
		return term{}, err
	}

	t, err := c.either(n, then, other)
	t.eval = func(f *frame) value {
		if v := cond.eval(f); v.kind == truth && v.n == 1 {
			return then.eval(f)
		}
		return other.eval(f)
	}

	return t, err
}

// either is a term that is one of two, of their kind if both have the same known kind.
func (c *compiler) either(n ast.Node, a, b term) (term, error) {
	t := term{node: n, kind: a.kind, id: a.id || b.id}
	switch {
	case a.kind == absent:
		t.kind, t.holds = b.kind, b.holds
	case a.kind == unknown || b.kind == unknown:
		t.kind = unknown
	// refused when it is written: at run time it would not be noticed that one branch never fits
	case a.kind != b.kind && b.kind != absent:
		return t, c.fault(n, "%s is %s and %s is %s: they cannot stand for each other",
			describe(a.node), a.kind, describe(b.node), b.kind)
	case a.holds == b.holds || b.kind == absent:
		t.holds = a.holds
	}

	return t, nil
}
