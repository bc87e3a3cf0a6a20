package condition

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// The size of a condition.
const (
	MaxBytes = 2000 // of its source
	maxNodes = 500  // names, values, operators and functions
)

// Condition is a compiled condition. It never changes and is safe for
// concurrent use. A nil Condition always holds.
type Condition struct {
	source  string
	uses    map[string]bool
	guarded []string
	eval    evaluator
	choices int // see compiler

	money, currency bool // it reads an amount of money, or a currency
}

// Error is the reason why a source is not a condition.
type Error struct {
	Line, Column int // where, counted from 1, in characters
	Reason       string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Compile reads and checks a condition. An empty source, or a blank one, gives nil,
// which always holds. The error is an *Error.
func Compile(source string) (*Condition, error) {
	switch {
	case strings.TrimSpace(source) == "":
		return nil, nil
	case len(source) > MaxBytes:
		return nil, &Error{Line: 1, Column: 1, Reason: fmt.Sprintf("longer than %d bytes", MaxBytes)}
	case !utf8.ValidString(source):
		return nil, &Error{Line: 1, Column: 1, Reason: "not UTF-8 text"}
	}

	tree, err := parser.Parse(source)
	if err != nil {
		return nil, syntaxError(err)
	}

	c := &compiler{uses: make(map[string]bool), guarded: make(map[string]int)}
	whole, err := c.term(tree.Node)
	if err == nil {
		whole, err = c.want(whole, truth)
	}

	var located *fault
	if errors.As(err, &located) {
		return nil, located.in(source)
	}

	maps.DeleteFunc(c.guarded, func(_ string, times int) bool { return times == 0 })
	return &Condition{
		source: source, uses: c.uses, guarded: slices.Sorted(maps.Keys(c.guarded)), eval: whole.eval, choices: c.choices,
		money: c.money, currency: c.currency,
	}, nil
}

// Holds reports whether the condition is true of the facts. A condition that is neither true nor false, because a fact
// is absent, does not hold. If the condition cannot be evaluated, it does not hold and the error says why; the error
// never contains the customer's data. It is ErrBudget if the condition takes too many steps.
func (c *Condition) Holds(f *Facts) (bool, error) {
	holds, _, err := c.Judge(f)
	return holds, err
}

// Judge is Holds, and returns how many steps it took, so that many conditions in a row can be bounded together.
func (c *Condition) Judge(f *Facts) (holds bool, steps int, err error) {
	if c == nil {
		return true, 0, nil
	}
	if f == nil {
		f = &Facts{}
	}

	run := frames.Get().(*frame)
	run.facts = f
	if c.choices > 0 {
		run.choices = make([]choice, c.choices)
	}

	v := c.eval(run)
	steps, err = run.steps, run.err
	*run = frame{} // drop all references to the customer's data
	frames.Put(run)
	return err == nil && v.kind == truth && v.n == 1, steps, err
}

// Uses reports whether the condition mentions a record ("event", "customer",
// "transaction", "item") or one of its fields ("customer.tiers").
func (c *Condition) Uses(name string) bool { return c != nil && c.uses[name] }

// Guarded lists the facts that the condition reads and that may be personal: the customer's personal data
// ("customer.email"), and attributes of the event, the purchase or a line ("event.data.review"), of which only the
// actions know whether they are personal. A caller who may not see such a fact could find it out by conditions on it,
// letter by letter or value by value.
func (c *Condition) Guarded() []string {
	if c == nil {
		return nil
	}
	return c.guarded
}

// String returns the source.
func (c *Condition) String() string {
	if c == nil {
		return ""
	}
	return c.source
}

// fault is a reason at an offset of the source, counted in characters.
type fault struct {
	offset int
	reason string
}

func (f *fault) Error() string { return f.reason }

func (f *fault) in(source string) *Error {
	e := &Error{Line: 1, Column: 1, Reason: f.reason}
	for i, r := range []rune(source) {
		if i == f.offset {
			break
		}
		if e.Column++; r == '\n' {
			e.Line, e.Column = e.Line+1, 1
		}
	}
	return e
}

func syntaxError(err error) *Error {
	var at *file.Error
	if !errors.As(err, &at) {
		return &Error{Line: 1, Column: 1, Reason: err.Error()}
	}
	return &Error{Line: max(at.Line, 1), Column: at.Column + 1, Reason: at.Message}
}
