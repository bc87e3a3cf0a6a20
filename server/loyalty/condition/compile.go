package condition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// evaluator computes one term of a condition.
type evaluator func(*frame) value

// term is a checked part of a condition.
type term struct {
	node     ast.Node
	kind     kind
	holds    kind     // of kind list or object: the kind of its elements
	words    []string // the only words that a text can have; nil: any
	id       bool     // its texts are ids and codes; see bare
	literal  bool     // written in the source
	constant value    // of a literal
	several  bool     // of kind object: it can have several values under one name, one of which is read at a time
	guarded  string   // the fact that it is, if it is one of Condition.Guarded
	eval     evaluator
}

// compiler turns the syntax tree into evaluators. Names that it does not know are not in the language.
type compiler struct {
	uses    map[string]bool
	guarded map[string]int // how often a guarded fact is read
	nodes   int
	choices int    // how many terms read one of several values
	open    []int  // those that no comparison goes through yet
	inside  []term // the lists of the enclosing list functions, innermost last

	money, currency bool // see Condition
}

// fault reports the place of a fault in the text, in a form that marks it for the author of the condition.
func (c *compiler) fault(at ast.Node, format string, args ...any) error {
	return &fault{offset: at.Location().From, reason: fmt.Sprintf(format, args...)}
}

// term compiles one part of a condition. The library only parses; this function decides, node by node, what the
// language has, so that a new version of the library cannot extend it.
func (c *compiler) term(node ast.Node) (term, error) {
	if c.nodes++; c.nodes > maxNodes {
		return term{}, c.fault(node, "more than %d names, values and operators", maxNodes)
	}

	switch n := node.(type) {
	case *ast.NilNode:
		return literal(n, nothing), nil
	case *ast.BoolNode:
		return literal(n, truthOf(n.Value)), nil
	case *ast.IntegerNode:
		return literal(n, integer(int64(n.Value))), nil
	case *ast.FloatNode:
		return literal(n, decimal(n.Value)), nil
	case *ast.StringNode:
		return literal(n, textOf(n.Value)), nil
	case *ast.ArrayNode:
		return c.array(n)
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.ChainNode: // a?.b: every access is optional here
		return c.term(n.Node)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(n, name.Value, n.Arguments)
		}
	}

	return term{}, c.fault(node, "%s is not part of the language", describe(node))
}

// literal is a value that is written in the source.
func literal(node ast.Node, v value) term {
	return term{node: node, kind: v.kind, literal: true, constant: v, eval: func(*frame) value { return v }}
}

// array is a literal list: constants of one kind.
func (c *compiler) array(n *ast.ArrayNode) (term, error) {
	all := make(values, 0, len(n.Nodes))
	for _, node := range n.Nodes {
		element, err := c.term(node)
		switch {
		case err != nil:
			return term{}, err
		case !element.literal || element.kind == list || element.kind == absent:
			return term{}, c.fault(node, "a list holds values that are written out, not %s", describe(node))
		case len(all) > 0 && all[0].kind != element.kind:
			return term{}, c.fault(node, "a list holds values of one kind, not %s and %s", all[0].kind, element.kind)
		}
		all = append(all, element.constant)
	}

	t := literal(n, value{kind: list, ref: all})
	if len(all) > 0 {
		t.holds = all[0].kind
	}

	return t, nil
}

// identifier is a record, or now.
func (c *compiler) identifier(n *ast.IdentifierNode) (term, error) {
	switch n.Value {
	case "now":
		c.use("event", "timestamp")
		return term{node: n, kind: instant, eval: timestamp}, nil
	case "transaction":
		c.use(n.Value)
		return term{node: n, kind: record, eval: present(func(f *frame) bool { return f.facts.Transaction != nil })}, nil
	case "item":
		c.use(n.Value)
		return term{node: n, kind: record, eval: present(func(f *frame) bool { return f.facts.Item != nil })}, nil
	case "event", "customer":
		return term{}, c.fault(n, "%s needs a field: %s", n.Value, names(fields[n.Value]))
	}

	return term{}, c.fault(n, "there is no %s; there are event, customer, transaction, item and now", n.Value)
}

// present makes a term of a record, for transaction != nil.
func present(is func(*frame) bool) evaluator {
	return func(f *frame) value {
		if is(f) {
			return value{kind: record}
		}
		return nothing
	}
}

// use records what the condition mentions. Other facts are not gathered: the tiers and lists of a customer have to be
// loaded.
func (c *compiler) use(record string, name ...string) {
	c.uses[record] = true
	for _, n := range name {
		c.uses[record+"."+n] = true
	}
}

// pointer is #, the present element in a list function.
func (c *compiler) pointer(n *ast.PointerNode) (term, error) {
	if len(c.inside) == 0 || n.Name != "" {
		return term{}, c.fault(n, "#%s is not part of the language here", n.Name)
	}
	of := c.inside[len(c.inside)-1]
	return term{node: n, kind: of.holds, id: of.id, eval: func(f *frame) value { return f.element }}, nil
}

// guard makes a term a guarded fact.
func (c *compiler) guard(t term, fact string) term {
	t.guarded = fact
	c.guarded[fact]++
	return t
}

// member is of.name, of["name"] or of[0].
func (c *compiler) member(n *ast.MemberNode) (term, error) {
	property, plain := n.Property.(*ast.StringNode)
	if root, ok := n.Node.(*ast.IdentifierNode); ok && plain && fields[root.Value] != nil {
		c.nodes += 2
		return c.field(n, root.Value, property.Value)
	}

	of, err := c.term(n.Node)
	if err != nil {
		return term{}, err
	}
	if of.kind == line && plain {
		return c.lineField(n, of, property.Value)
	}

	key, err := c.term(n.Property)
	if err != nil {
		return term{}, err
	}

	return c.element(n, of, key)
}

// field is a fact by its name.
func (c *compiler) field(n *ast.MemberNode, record, name string) (term, error) {
	if record == "customer" && strings.HasPrefix(name, "cf_") {
		c.use(record, name)
		custom := term{node: n, eval: func(f *frame) value { return f.attribute(f.facts.Customer.Custom, name) }}
		return c.guard(custom, record+"."+name), nil
	}

	of, ok := fields[record][name]
	if !ok {
		return term{}, c.fault(n, "%s has no field %s; it has %s", record, name, names(fields[record]))
	}

	c.use(record, name)
	if record == "transaction" || record == "item" {
		c.spot(name)
	}

	t := term{node: n, kind: of.kind, holds: of.holds, several: of.several, words: of.words, id: of.id, eval: of.read}
	if of.personal || name == dataField {
		t = c.guard(t, record+"."+name)
	}

	return t, nil
}

// lineField is a field of a line that a list holds.
func (c *compiler) lineField(n *ast.MemberNode, of term, name string) (term, error) {
	field, ok := lineFields[name]
	if !ok {
		return term{}, c.fault(n, "a line has no field %s; it has %s", name, names(lineFields))
	}

	c.spot(name)
	t := term{node: n, kind: field.kind, id: name == productID, eval: func(f *frame) value {
		if item, ok := of.eval(f).ref.(*Item); ok {
			return field.read(item)
		}
		return nothing
	}}

	if name == dataField {
		t = c.guard(t, "item."+name)
	}

	return t, nil
}

// element is an attribute of an object, or an element of a list by its index from 0. A missing one is absent.
func (c *compiler) element(n *ast.MemberNode, of, key term) (term, error) {
	switch {
	case of.kind != unknown && of.kind != object && of.kind != list:
		return term{}, c.fault(n, "%s is %s and has no parts", describe(of.node), of.kind)
	case of.kind == object && key.kind != text && key.kind != unknown,
		of.kind == list && key.kind != number && key.kind != unknown,
		key.kind != text && key.kind != number && key.kind != unknown:
		return term{}, c.fault(n, "%s cannot be looked up by %s", describe(of.node), key.kind)
	}

	if of.id {
		key = bare(key)
	}

	slot := -1
	if of.several {
		slot = c.choose()
	}

	t := term{node: n, kind: of.holds, id: of.id, eval: func(f *frame) value {
		from, at := of.eval(f), key.eval(f)
		if from.kind == absent || at.kind == absent {
			return nothing
		}
		if ids, is := from.ref.(map[string][]string); is && slot >= 0 && at.kind == text {
			return f.chosen(slot, ids[at.s])
		}
		return f.part(n, from, at)
	}}

	if key.literal && slices.Contains(sentIDs, key.constant.s) {
		t = sentID(t)
	}
	if key.literal && key.kind == text { // an attribute that was sent
		c.spot(key.constant.s)
	}

	if of.guarded != "" { // only the part is read, not the whole
		fact := of.guarded
		c.guarded[fact]--
		if strings.HasSuffix(fact, "."+dataField) && key.literal && key.kind == text {
			fact += "." + key.constant.s
		}
		t = c.guard(t, fact)
	}

	return t, nil
}

// part looks one up. Indices are exact numbers from 0; a negative one is absent instead of counting from the end.
func (f *frame) part(n *ast.MemberNode, of, at value) value {
	switch {
	case of.kind == object && at.kind == text:
		return f.attribute(of.ref, at.s)
	case of.kind == list && at.kind == number && at.exact:
		if all := of.ref.(sequence); at.n >= 0 && at.n < int64(all.size()) {
			return all.at(int(at.n))
		}
		return nothing
	}
	return f.fail("%s is %s and cannot be looked up by %s", describe(n.Node), of.kind, at.kind)
}

// want gives a term a kind: checked now if the kind is known, otherwise when the condition runs. Attributes of callers
// have no known kind; a condition on them is allowed, and fails when a value does not fit.
func (c *compiler) want(t term, k kind) (term, error) {
	switch t.kind {
	case k:
		return t, nil
	case unknown:
		eval, node := t.eval, t.node
		t.kind, t.eval = k, func(f *frame) value {
			v := eval(f)
			if v.kind == k || v.kind == absent {
				return v
			}
			return f.fail("%s is %s where %s is expected", describe(node), v.kind, k)
		}
		return t, nil
	}

	return term{}, c.fault(t.node, "%s is %s where %s is expected", describe(t.node), t.kind, k)
}

// describe shows a part of the condition in a message. It is cut, because a message with thousands of characters would
// not be read.
func describe(n ast.Node) string {
	const most = 60
	if shown := []rune(n.String()); len(shown) > most {
		return string(shown[:most]) + "…"
	}
	return n.String()
}
