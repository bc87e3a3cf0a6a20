package engine

import (
	"bytes"
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Tracing reports whether the rules have to explain themselves, as in a preview.
func (r *Run) Tracing() bool { return r.work.tracing }

// Trace explains a rule's verdict, which is kept only for a preview. reason is a translation key.
func (r *Run) Trace(rule, verdict, reason string, n int64) {
	if r.work.tracing {
		r.TraceInput(loyalty.Verdict{Rule: rule, Verdict: verdict, Reason: reason,
			Input: r.work.lookedAt(r.Event), Points: n})
	}
}

// TraceInput is Trace with the facts that the rule looked at.
func (r *Run) TraceInput(v loyalty.Verdict) {
	if r.work.tracing && len(r.work.trace) < maxVerdicts {
		r.work.trace = append(r.work.trace, v)
	}
}

// Warn continues without something that was refused, and warns the caller.
func (r *Run) Warn(e *loyalty.Error) {
	r.work.warnings = append(r.work.warnings, e)
	if n := len(r.work.trace); n > 0 && r.work.trace[n-1].Verdict == "refused" {
		r.work.trace[n-1].Verdict = "skipped" // it does not stop the event
	}
}

// maxVerdicts limits the verdicts of a preview: a purchase has up to 5,000 lines, and every
// campaign has a verdict on each.
const maxVerdicts = 20_000

// lookedAt returns the attributes of the submitted event as its row shows them, without personal ones and lists; nil if
// no event was submitted. All verdicts share them.
func (w *work) lookedAt(e *loyalty.Event) map[string]any {
	if e == nil || len(w.trace) >= maxSeen {
		return nil
	}
	if w.seen != nil && w.seenOf == e.ID {
		return w.seen
	}

	d := json.NewDecoder(bytes.NewReader(e.Data))
	d.UseNumber()
	var seen map[string]any
	if d.Decode(&seen) != nil {
		return nil
	}

	for name, value := range seen {
		switch value.(type) {
		case map[string]any, []any:
			delete(seen, name)
		}
	}

	w.seen, w.seenOf = seen, e.ID
	return seen
}

// maxSeen limits how many verdicts of a preview include the attributes of the event: thousands of lines bring thousands
// of verdicts, and each would repeat them.
const maxSeen = 1000
