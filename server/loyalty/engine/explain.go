package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// What a preview tells besides what the rules themselves say.

// lookedAt are, for all verdicts together, the attributes of the submitted event as its row shows them,
// without those that name a person and without lists; nil where no event was
// submitted.
func (r *Run) lookedAt() map[string]any {
	w := r.work
	if r.Event == nil || len(w.trace) >= maxSeen {
		return nil
	}
	if w.seen != nil && w.seenOf == r.Event.ID {
		return w.seen
	}
	d := json.NewDecoder(bytes.NewReader(r.Event.Data))
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
	w.seen, w.seenOf = seen, r.Event.ID
	return seen
}

// maxSeen is how many verdicts of a preview come with the attributes of the event:
// thousands of lines bring thousands of verdicts, and each would repeat them.
const maxSeen = 1000

// TracePrice explains what each line of a purchase earns, and by what: the points
// that were sent with it or with the purchase, or the rate of incentivized_purchase
// for the currency.
func (r *Run) TracePrice(t *loyalty.Transaction) {
	if !r.work.tracing {
		return
	}
	p := r.Programme
	for i := range t.Detail.Items {
		l := &t.Detail.Items[i]
		v := loyalty.Verdict{Rule: "earn", Verdict: "applied", Reason: "reason.own_points", Points: l.Points}
		v.Input = map[string]any{"product_id": l.ProductID, "subtotal": l.Subtotal}
		switch {
		case l.Rewarded != nil:
			v.Input["points_rewarded"] = *l.Rewarded
		case t.Detail.PointsRewarded != nil:
			v.Input["points_rewarded"] = *t.Detail.PointsRewarded
		case !p.On[programme.ModuleIncentivizedPurchase]:
			v.Verdict, v.Reason, v.Input["module"] = "skipped", "reason.module_is_off", programme.ModuleIncentivizedPurchase
		default:
			explainRate(&v, p, t.Currency())
		}
		r.TraceInput(v)
	}
}

// explainRate tells the rate of a currency, or that it has none.
func explainRate(v *loyalty.Verdict, p *programme.Programme, currency string) {
	rate, known := p.RateFor(currency)
	if !known {
		v.Verdict, v.Reason, v.Input["no_rate"] = "skipped", "reason.no_rate", currency
		return
	}
	v.Reason, v.Input["rate"], v.Input["rounding"] = "reason.rate", rate, p.Purchase.Rounding
}

// refusedAtOnce explains the refusals that need no customer: of a module that is
// off, and of an action that nobody can submit.
func refusedAtOnce(err error) []loyalty.Verdict {
	reason := ""
	switch {
	case errors.Is(err, loyalty.ErrActionOff), errors.Is(err, loyalty.ErrModuleOff):
		reason = "reason.module_is_off"
	case errors.Is(err, loyalty.ErrInternalAction):
		reason = "reason.internal_action"
	default:
		return nil
	}
	return []loyalty.Verdict{{Rule: "module", Verdict: "refused", Reason: reason, Input: loyalty.AsError(err).Args}}
}

// expiredOn is what the rule of expiry looked at.
func expiredOn(at time.Time, lots int) map[string]any {
	return map[string]any{"expired_at": at.Format("2006-01-02T15:04:05.000Z07:00"), "lots": lots}
}
