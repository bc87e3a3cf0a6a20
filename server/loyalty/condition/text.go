package condition

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// Searches respect case, as an equality does; lower and upper are there to ignore it.
var searches = map[string]func(s, part string) bool{
	"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix,
}

// search is contains, startsWith and endsWith. They are refused on a list although the syntax allows them: the author
// nearly always means in, and the condition would never hold when it runs.
func (c *compiler) search(n *ast.BinaryNode, left, right term) (term, error) {
	if left.kind == list {
		return term{}, c.fault(n, "%s is a list; ask whether something is in it", describe(left.node))
	}

	left, err := c.want(left, text)
	if err != nil {
		return term{}, err
	}
	if right, err = c.want(right, text); err != nil {
		return term{}, err
	}

	l, r, found := left.eval, right.eval, searches[n.Operator]
	return term{node: n, kind: truth, eval: func(f *frame) value {
		s, part := l(f), r(f)
		// A long text costs more steps than a short one: texts come from callers, and a condition is evaluated for each
		// line.
		if s.kind == absent || part.kind == absent || !f.step(1+len(s.s)/textStep) {
			return nothing
		}
		return truthOf(found(s.s, part.s))
	}}, nil
}

// The largest pattern, and its largest cost: one instruction for every byte of the text.
const (
	maxPattern      = 200 // bytes
	maxInstructions = 1000
)

// matches compares a text with a literal pattern. Patterns are not facts: they are compiled once, and their cost is
// known before the condition is stored.
func (c *compiler) matches(n *ast.BinaryNode, of term) (term, error) {
	written, ok := n.Right.(*ast.StringNode)
	if !ok {
		return term{}, c.fault(n.Right, "a pattern is written out as text")
	}
	if c.nodes++; len(written.Value) > maxPattern {
		return term{}, c.fault(n.Right, "the pattern is longer than %d bytes", maxPattern)
	}

	size, err := instructions(written.Value)
	if err != nil {
		return term{}, c.fault(n.Right, "the pattern cannot be read: %v", err)
	}
	if size > maxInstructions {
		return term{}, c.fault(n.Right, "the pattern repeats too much")
	}
	if of, err = c.want(of, text); err != nil {
		return term{}, err
	}

	pattern, eval := regexp.MustCompile(written.Value), of.eval
	return term{node: n, kind: truth, eval: func(f *frame) value {
		s := eval(f)
		if s.kind == absent || !f.step(1+len(s.s)*size/textStep) {
			return nothing
		}
		return truthOf(pattern.MatchString(s.s))
	}}, nil
}

// instructions counts the instructions that a pattern compiles to. Its length does not tell: (a{1000}){1000} is short.
func instructions(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}
