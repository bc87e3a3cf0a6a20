package condition

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// equality is ==, !=. With nil it asks whether something is absent, with "" whether it is absent or empty; both always
// have an answer. Absent and empty attributes are equal for callers whose systems cannot leave an attribute out.
func (c *compiler) equality(n *ast.BinaryNode, left, right term) (term, error) {
	left, right = alike(left, right)
	// "" == x is x == "", so the constant is moved to the right
	if right.kind != absent && (left.kind == absent || isEmpty(left)) {
		left, right = right, left
	}

	wanted := n.Operator == "=="
	if right.kind == absent || (isEmpty(right) && (left.kind == text || left.kind == unknown)) {
		l, empty := left.eval, isEmpty(right)
		return term{node: n, kind: truth, eval: func(f *frame) value {
			v := l(f)
			return truthOf((v.kind == absent || empty && v.kind == text && v.s == "") == wanted)
		}}, nil
	}

	return c.compared(n, left, right, func(order int) bool { return (order == 0) == wanted })
}

func isEmpty(t term) bool { return t.literal && t.kind == text && t.constant.s == "" }

var orders = map[string]func(order int) bool{
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

// comparison is <, <=, > and >=.
func (c *compiler) comparison(n *ast.BinaryNode, left, right term) (term, error) {
	left, right = alike(left, right)
	for _, t := range []term{left, right} {
		if t.kind == absent || t.kind == truth {
			return term{}, c.fault(n, "%s is %s and has no order", describe(t.node), t.kind)
		}
	}
	return c.compared(n, left, right, orders[n.Operator])
}

// compared checks that two terms have one kind that can be compared.
func (c *compiler) compared(n *ast.BinaryNode, left, right term, holds func(order int) bool) (term, error) {
	if err := c.comparable(n, left, right); err != nil {
		return term{}, err
	}

	l, r, ordered := left.eval, right.eval, n.Operator != "==" && n.Operator != "!="
	return term{node: n, kind: truth, eval: func(f *frame) value {
		a, b := l(f), r(f)
		switch {
		case a.kind == absent || b.kind == absent || !f.step(1+min(len(a.s), len(b.s))/textStep):
			return nothing
		// Only values of callers' data get here: known kinds were compared at compilation.
		case a.kind != b.kind || !simple(a.kind) || ordered && a.kind == truth:
			return f.fail("%s is %s and %s is %s: they cannot be compared", describe(n.Left), a.kind, describe(n.Right), b.kind)
		}
		return truthOf(holds(compare(a, b)))
	}}, nil
}

// simple reports whether values of a kind can be compared.
func simple(k kind) bool { return k >= truth && k <= duration }

// comparable refuses a comparison that could never hold. A refusal when a condition is written is better than a
// campaign that gives nothing.
func (c *compiler) comparable(n ast.Node, left, right term) error {
	for _, t := range []term{left, right} {
		if t.kind != unknown && !simple(t.kind) {
			return c.fault(n, "%s is %s and cannot be compared", describe(t.node), t.kind)
		}
	}

	if left.kind != unknown && right.kind != unknown && left.kind != right.kind {
		hint := ""
		if (left.kind == instant || right.kind == instant) && (left.kind == text || right.kind == text) {
			hint = `; an instant is written date("2026-03-01")`
		}
		return c.fault(n, "%s is %s and %s is %s: they cannot be compared%s",
			describe(left.node), left.kind, describe(right.node), right.kind, hint)
	}

	if err := c.spelt(left, right); err != nil {
		return err
	}

	return c.spelt(right, left)
}

// spelt refuses a word that a field can never have.
func (c *compiler) spelt(field, word term) error {
	if field.words == nil || !word.literal {
		return nil
	}
	written, isList := word.constant.ref.(values)
	if !isList {
		written = values{word.constant}
	}
	for _, v := range written {
		if v.kind == text && !slices.Contains(field.words, v.s) {
			return c.fault(word.node, "%s is never %q; it is one of %s",
				describe(field.node), v.s, strings.Join(field.words, ", "))
		}
	}
	return nil
}

// between is x in a..b: both ends are included, and the range is not expanded.
func (c *compiler) between(n *ast.BinaryNode, of term, span *ast.BinaryNode) (term, error) {
	from, err := c.term(span.Left)
	if err != nil {
		return term{}, err
	}

	to, err := c.term(span.Right)
	if err != nil {
		return term{}, err
	}

	for _, t := range []*term{&of, &from, &to} {
		if *t, err = c.want(*t, number); err != nil {
			return term{}, err
		}
	}

	return term{node: n, kind: truth, eval: func(f *frame) value {
		v, low, high := of.eval(f), from.eval(f), to.eval(f)
		if v.kind == absent || low.kind == absent || high.kind == absent || !f.step(1) {
			return nothing
		}
		return truthOf(compare(low, v) <= 0 && compare(v, high) <= 0)
	}}, nil
}

// membership is x in a list, or name in an object.
func (c *compiler) membership(n *ast.BinaryNode, of, in term) (term, error) {
	of, in = alike(of, in)
	switch {
	case in.kind == text:
		return term{}, c.fault(n, "%s is text; a part of a text is found by contains", describe(in.node))
	case in.kind != list && in.kind != object && in.kind != unknown:
		return term{}, c.fault(n, "%s is %s and holds nothing", describe(in.node), in.kind)
	case in.kind == list && in.holds == line:
		return term{}, c.fault(n, "%s holds line items; ask with any(%s, ...)", describe(in.node), describe(in.node))
	case of.kind != unknown && !simple(of.kind):
		return term{}, c.fault(n, "%s is %s and cannot be looked for", describe(of.node), of.kind)
	case in.kind == list && in.holds != unknown && of.kind != unknown && in.holds != of.kind:
		return term{}, c.fault(n, "%s is %s and %s holds %s: they cannot be compared",
			describe(of.node), of.kind, describe(in.node), in.holds)
	case in.kind == object && of.kind != text && of.kind != unknown:
		return term{}, c.fault(n, "%s is %s; an object is asked for a name", describe(of.node), of.kind)
	}

	if err := c.spelt(of, in); err != nil {
		return term{}, err
	}

	return term{node: n, kind: truth, eval: func(f *frame) value {
		v, all := of.eval(f), in.eval(f)
		if v.kind == absent || all.kind == absent {
			return nothing
		}
		return f.member(n, v, all)
	}}, nil
}

// member looks for a value. Elements of another kind are skipped, because lists of callers may be mixed; a list without
// any element of the kind is a fault, because a search in it can never succeed.
func (f *frame) member(n *ast.BinaryNode, v, in value) value {
	switch {
	case in.kind == object && v.kind == text:
		return truthOf(f.attribute(in.ref, v.s).kind != absent)
	case in.kind != list || !simple(v.kind):
		return f.fail("%s is %s and %s is %s: it cannot be looked for there",
			describe(n.Left), v.kind, describe(n.Right), in.kind)
	}

	all, alike := in.ref.(sequence), false
	for i := range all.size() {
		if !f.step(1) {
			return nothing
		}
		if e := all.at(i); e.kind == v.kind {
			if alike = true; compare(e, v) == 0 {
				return yes
			}
		}
	}

	if !alike && all.size() > 0 {
		return f.fail("%s is %s and %s holds none", describe(n.Left), v.kind, describe(n.Right))
	}

	return no
}
