package condition

import "github.com/expr-lang/expr/ast"

// quantifier is a function that counts the elements of a list that satisfy a test. It ends early once stop says that
// further elements cannot matter.
type quantifier struct {
	gives   kind
	stop    func(yes, seen int) bool
	verdict func(yes, seen int) value
}

var quantifiers = map[string]quantifier{
	"any":  {truth, func(yes, _ int) bool { return yes > 0 }, func(yes, _ int) value { return truthOf(yes > 0) }},
	"none": {truth, func(yes, _ int) bool { return yes > 0 }, func(yes, _ int) value { return truthOf(yes == 0) }},
	"one":  {truth, func(yes, _ int) bool { return yes > 1 }, func(yes, _ int) value { return truthOf(yes == 1) }},
	"all": {truth, func(yes, seen int) bool { return yes < seen },
		func(yes, seen int) value { return truthOf(yes == seen) }},
	"count": {number, func(int, int) bool { return false }, func(yes, _ int) value { return integer(int64(yes)) }},
}

// quantify is any, all, none, one and count with a test. An element for which the test is unknown does not satisfy it.
func (c *compiler) quantify(n ast.Node, name string, args []ast.Node) (term, error) {
	if name == "count" && len(args) == 1 {
		return c.length(n, args)
	}

	of, test, err := c.overList(n, name, args, truth)
	if err != nil {
		return term{}, err
	}

	q := quantifiers[name]
	return term{node: n, kind: q.gives, eval: func(f *frame) value {
		found, seen := 0, 0
		done := f.each(of.eval(f), func(e value) bool {
			seen++
			if v := test.eval(f); v.kind == truth && v.n == 1 {
				found++
			}
			return !q.stop(found, seen)
		})
		if !done {
			return nothing
		}
		return q.verdict(found, seen)
	}}, nil
}

// filter is the list of the elements that satisfy a test.
func (c *compiler) filter(n ast.Node, args []ast.Node) (term, error) {
	of, test, err := c.overList(n, "filter", args, truth)
	if err != nil {
		return term{}, err
	}

	return term{node: n, kind: list, holds: of.holds, id: of.id, eval: func(f *frame) value {
		var kept values
		done := f.each(of.eval(f), func(e value) bool {
			if v := test.eval(f); v.kind == truth && v.n == 1 {
				kept = append(kept, e)
			}
			return true
		})
		if !done {
			return nothing
		}
		return value{kind: list, ref: kept}
	}}, nil
}

// sum adds up numbers, sum(list) or sum(list, term). Absent values are left out.
func (c *compiler) sum(n ast.Node, args []ast.Node) (term, error) {
	if len(args) == 1 {
		// sum(list) is sum(list, #)
		element := &ast.PointerNode{}
		element.SetLocation(n.Location())
		args = []ast.Node{args[0], &ast.PredicateNode{Node: element}}
	}

	of, amount, err := c.overList(n, "sum", args, number)
	if err != nil {
		return term{}, err
	}

	add := operations["+"]
	return term{node: n, kind: number, eval: func(f *frame) value {
		total := integer(0)
		done := f.each(of.eval(f), func(value) bool {
			v := amount.eval(f)
			if v.kind == absent {
				return true
			}
			var fits bool
			if total, fits = add(total, v); !fits {
				f.fail(noResult, describe(n))
			}
			return fits
		})

		if !done {
			return nothing
		}

		return total
	}}, nil
}

// overList compiles the arguments of a list function: the list, and the term for each element, in which # is the
// element and .name its field.
func (c *compiler) overList(n ast.Node, name string, args []ast.Node, k kind) (of, body term, err error) {
	if len(args) != 2 {
		return of, body, c.fault(n, "%s takes a list and what is asked of its elements", name)
	}
	if of, err = c.term(args[0]); err != nil {
		return of, body, err
	}
	if of, err = c.want(of, list); err != nil {
		return of, body, err
	}

	asked, ok := args[1].(*ast.PredicateNode)
	if !ok {
		return of, body, c.fault(args[1], "%s takes a list and what is asked of its elements", name)
	}

	// the meaning of # and .name while the body is compiled
	c.inside = append(c.inside, of)
	body, err = c.term(asked.Node)
	c.inside = c.inside[:len(c.inside)-1]
	if err == nil {
		body, err = c.want(body, k)
	}

	return of, body, err
}

// each puts every element in the place of # until visit returns false. False: the list is absent or the run has ended.
func (f *frame) each(of value, visit func(e value) bool) bool {
	if of.kind == absent {
		return false
	}

	// list functions may be nested, so the element of the outer one is restored
	outer, all := f.element, of.ref.(sequence)
	for i := range all.size() {
		if !f.step(1) {
			break
		}
		f.element = all.at(i)
		if !visit(f.element) {
			break
		}
	}

	f.element = outer
	return f.err == nil
}
