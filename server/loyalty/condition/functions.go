package condition

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// function is a function with parameters of fixed kinds. Its result is absent if an argument is.
type function struct {
	takes []kind
	gives kind
	call  func(f *frame, a, b value) value
}

var functions = map[string]function{
	"abs":   {[]kind{number}, number, func(_ *frame, a, _ value) value { return pick(a, negative(a), a.float() >= 0) }},
	"floor": rounding(math.Floor),
	"ceil":  rounding(math.Ceil),
	"round": rounding(math.Round),
	"min": {[]kind{number, number}, number,
		func(_ *frame, a, b value) value { return pick(a, b, compare(a, b) <= 0) }},
	"max": {[]kind{number, number}, number,
		func(_ *frame, a, b value) value { return pick(a, b, compare(a, b) >= 0) }},
	"lower":   texting(strings.ToLower),
	"upper":   texting(strings.ToUpper),
	"trim":    texting(strings.TrimSpace),
	"minutes": period(time.Minute),
	"hours":   period(time.Hour),
	"days":    period(24 * time.Hour),
	"date":    {[]kind{text}, instant, func(f *frame, a, _ value) value { return f.date(a.s) }},
	"number":  {[]kind{text}, number, func(f *frame, a, _ value) value { return f.number(a) }},
}

// rounding makes a function that returns whole numbers; an exact number is whole already and keeps all its digits.
func rounding(do func(float64) float64) function {
	return function{[]kind{number}, number, func(_ *frame, a, _ value) value {
		if a.exact {
			return a
		}
		return decimal(do(a.float()))
	}}
}

// texting makes a function from text to text.
func texting(do func(string) string) function {
	return function{[]kind{text}, text, func(_ *frame, a, _ value) value { return textOf(do(a.s)) }}
}

// period is a fixed length of time: a day is 24 hours.
func period(unit time.Duration) function {
	return function{[]kind{number}, duration, func(f *frame, a, _ value) value {
		length, most := a.float()*float64(unit.Microseconds()), float64(largest)
		if math.Abs(length) > most {
			return f.fail("the duration is too long")
		}
		return value{kind: duration, exact: true, n: int64(length)}
	}}
}

// pick returns one of two values unchanged, exact or not: min and max must not round.
func pick(a, b value, first bool) value {
	if first {
		return a
	}
	return b
}

// date reads a day, which means its beginning in the programme's time zone, or an instant.
func (f *frame) date(s string) value {
	t, ok := parseDate(s, f.location())
	if !ok {
		return f.fail("date: the text is neither a day like 2026-03-01 nor an instant like 2026-03-01T08:00:00Z")
	}
	return instantOf(t)
}

// parseDate reads the three usual forms of dates. A date without a zone is in the programme's.
func parseDate(s string, in *time.Location) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.ParseInLocation(layout, s, in); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// number reads a number that was sent as text; a number stays as it is.
func (f *frame) number(v value) value {
	if v.kind == text {
		v = parseNumber(v.s)
	}
	if v.kind != number {
		return f.fail("number: the value is no number")
	}
	return v
}

// call compiles a call of a function by its name.
func (c *compiler) call(n ast.Node, name string, args []ast.Node) (term, error) {
	if _, ok := quantifiers[name]; ok {
		return c.quantify(n, name, args)
	}

	switch name {
	case "filter":
		return c.filter(n, args)
	case "sum":
		return c.sum(n, args)
	case "len":
		return c.length(n, args)
	}

	fn, ok := functions[name]
	if !ok {
		return term{}, c.fault(n, "there is no function %s; there are all, any, count, filter, len, none, one, sum, %s",
			name, names(functions))
	}
	if len(args) != len(fn.takes) {
		return term{}, c.fault(n, "%s takes %d, not %d", name, len(fn.takes), len(args))
	}

	var evals [2]evaluator
	for i, arg := range args {
		t, err := c.argument(name, arg, fn.takes[i])
		if err != nil {
			return term{}, err
		}
		evals[i] = t.eval
	}

	return term{node: n, kind: fn.gives, eval: apply(fn, evals[0], evals[1])}, nil
}

// argument compiles one argument. The function number accepts a number, because an attribute may be sent as either. A
// literal date is read now, so that the author of the condition is told about a mistake.
func (c *compiler) argument(name string, arg ast.Node, k kind) (term, error) {
	t, err := c.term(arg)
	if err != nil {
		return term{}, err
	}
	if name == "number" && (t.kind == unknown || t.kind == number) {
		return t, nil
	}
	if name == "date" && t.literal && t.kind == text {
		if _, ok := parseDate(t.constant.s, time.UTC); !ok {
			return term{}, c.fault(arg, "%s is neither a day like 2026-03-01 nor an instant like 2026-03-01T08:00:00Z",
				describe(arg))
		}
	}
	return c.want(t, k)
}

// apply calls a function with one or two arguments. Most have one: a slice for each call would allocate memory for each
// line.
func apply(fn function, first, second evaluator) evaluator {
	return func(f *frame) value {
		a, b := first(f), value{}
		if second != nil {
			b = second(f)
		}
		if a.kind == absent || b.kind == absent || !f.step(1+len(a.s)/textStep) {
			return nothing
		}
		return fn.call(f, a, b)
	}
}

// length is len(x): elements of a list, characters of a text.
func (c *compiler) length(n ast.Node, args []ast.Node) (term, error) {
	if len(args) != 1 {
		return term{}, c.fault(n, "len takes 1, not %d", len(args))
	}

	of, err := c.term(args[0])
	if err != nil {
		return term{}, err
	}
	if of.kind != list && of.kind != text && of.kind != unknown {
		return term{}, c.fault(n, "%s is %s and has no length", describe(of.node), of.kind)
	}

	return term{node: n, kind: number, eval: func(f *frame) value {
		v := of.eval(f)
		switch {
		case v.kind == absent || !f.step(1+len(v.s)/textStep):
			return nothing
		case v.kind == text:
			return integer(int64(utf8.RuneCountInString(v.s)))
		case v.kind == list:
			return integer(int64(v.ref.(sequence).size()))
		}
		return f.fail("%s is %s and has no length", describe(of.node), v.kind)
	}}, nil
}
