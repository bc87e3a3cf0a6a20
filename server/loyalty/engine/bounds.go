package engine

import (
	"encoding/json"
	"maps"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Limits of personal and undeclared attributes, in bytes of names and values: of one event, of all its lines together,
// and of what all events leave with a customer. Without them only the size of the body would bound what is stored for
// ever.
const (
	eventAllowance = 16 << 10
	linesAllowance = 64 << 10
	// customerAllowance is the limit of what all events together leave with a customer.
	customerAllowance = 64 << 10
)

// tooMuch measures personal and undeclared attributes. Attributes that the programme declares (own) are bounded by its
// schema instead.
type tooMuch struct {
	limit, size int
	longest     string // where the largest of them stands
	length      int
}

func (m *tooMuch) add(attributes map[string]json.RawMessage, own map[string]bool, at func(string) string) {
	for name, value := range attributes {
		if own[name] {
			continue
		}
		n := len(name) + len(value)
		m.size += n
		if n < m.length {
			continue
		}
		// a tie is broken by place, so that equal requests get equal answers
		if place := at(name); n > m.length || place < m.longest {
			m.longest, m.length = place, n
		}
	}
}

// err returns ErrAttributesTooLarge, naming the largest attribute, if the limit is exceeded.
func (m *tooMuch) err() error {
	if m.size <= m.limit {
		return nil
	}
	return loyalty.ErrAttributesTooLarge.With("property", m.longest).With("limit", m.limit).At(m.longest)
}

// affordOwn checks an event's own attributes against the allowance, before any work is done for them.
func (t *Ticket) affordOwn(shape *loyalty.Shape) error {
	m := tooMuch{limit: eventAllowance}
	unknown := make(map[string]json.RawMessage)
	for name, value := range t.data {
		if a, declared := shape.Attributes[name]; !declared || a.Personal {
			unknown[name] = value
		}
	}
	m.add(unknown, t.programme.DeclaredNames(t.sub.Action), func(name string) string { return "data." + name })
	return m.err()
}

// AffordPurchase checks the attributes that a purchase has from its checkout and all its updates
// against the allowance of one event: an update adds to them, and there may be a thousand updates.
func AffordPurchase(p *programme.Programme, all map[string]json.RawMessage) error {
	m := tooMuch{limit: eventAllowance}
	own := maps.Clone(p.DeclaredNames("checkout"))
	for name := range p.DeclaredNames("checkout_update") {
		if own == nil {
			own = map[string]bool{}
		}
		own[name] = true
	}
	m.add(all, own, func(name string) string { return "data." + name })
	return m.err()
}

// AffordCustom checks a customer's undeclared attributes against the customer's allowance
// (ErrAttributesTooLarge). Those that the programme declares are not counted.
func AffordCustom(p *programme.Programme, all map[string]json.RawMessage) error {
	m := tooMuch{limit: customerAllowance}
	own := make(map[string]bool, len(p.Attributes[programme.TypeCustomer]))
	for _, a := range p.Attributes[programme.TypeCustomer] {
		own["cf_"+a.Name] = true
	}
	m.add(all, own, func(name string) string { return "data." + name })
	return m.err()
}

// affordLines checks the elements of the event's lists.
func (t *Ticket) affordLines() error {
	m := tooMuch{limit: linesAllowance}
	for list, parts := range t.stored.lists {
		for i := range parts {
			m.add(parts[i].Personal, t.programme.DeclaredNames(programme.LineAction),
				func(name string) string { return loyalty.ItemField(list, i, name) })
		}
	}
	return m.err()
}

// maxEffort is how many steps the rules may take for one submission, conditions and reactions together. A step is one
// step of a condition (see condition.ErrBudget), some tens of nanoseconds; the other work of rules is converted into
// such steps. A purchase of 5,000 lines under a few campaigns takes a tenth of it.
const maxEffort = 5_000_000

// The work of rules outside conditions, in steps.
const (
	StepsToLook  = 10  // one rule looks at an occurrence
	stepsToWrite = 200 // an event is written
)

// Effort counts steps of the submission. Above maxEffort it fails with ErrRulesTooHeavy and nothing of the submission
// is recorded: if the rules skipped the last lines of a purchase, its points would be wrong. It also fails with the
// error of the batch's context once that has ended. What was due before the submission is not counted, because its
// caller cannot make it less. Steps are counted instead of seconds, so that a submission is refused on every machine or
// on none.
func (r *Run) Effort(steps int) error {
	w := r.work
	w.effort += steps + stepsToWrite*max(0, len(w.events)-w.paid)
	w.paid = len(w.events)
	if w.effort > maxEffort && w.counted {
		return loyalty.ErrRulesTooHeavy.With("action", w.submitted())
	}
	if w.effort < w.looked {
		return nil
	}

	w.looked = w.effort + maxEffort/100
	if r.batch.ctx == nil {
		return nil
	}

	return r.batch.ctx.Err()
}

// countFrom starts counting, at the submission's own event.
func (w *work) countFrom() { w.effort, w.looked, w.paid, w.counted = 0, 0, len(w.events), true }

// submitted is the action of the submission.
func (w *work) submitted() string {
	if len(w.runs) > 0 && w.runs[0].Event != nil {
		return w.runs[0].Event.Action
	}
	return ""
}
