package purchase

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// TracePrice explains what each line of a purchase earns, and why: by the points that were sent with it or with the
// purchase, or by the rate of incentivized_purchase for the currency.
func TracePrice(r *engine.Run, t *loyalty.Transaction) {
	if !r.Tracing() {
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

// explainRate shows the rate of a currency, or that it has none.
func explainRate(v *loyalty.Verdict, p *programme.Programme, currency string) {
	rate, known := p.RateFor(currency)
	if !known {
		v.Verdict, v.Reason, v.Input["no_rate"] = "skipped", "reason.no_rate", currency
		return
	}
	v.Reason, v.Input["rate"], v.Input["rounding"] = "reason.rate", rate, p.Purchase.Rounding
}

// Price gives every line its points. A line's own points_rewarded wins. Next comes the checkout's, which replaces the
// points of all other lines and is spread over them by subtotal. Otherwise the rate of incentivized_purchase applies to
// each subtotal. own are points that belong to no line: those of a checkout without items. A currency without a rate
// earns nothing.
func Price(p *programme.Programme, lines []loyalty.Line, currency string, rewarded *int64) (own int64, err error) {
	var computed []*loyalty.Line
	for i := range lines {
		if l := &lines[i]; l.Rewarded == nil {
			computed = append(computed, l)
		}
	}
	defer noteRepriced(lines, pointsOf(lines))

	for i := range lines {
		lines[i].Points = loyalty.Deref(lines[i].Rewarded)
	}

	switch {
	case rewarded != nil && len(lines) == 0:
		return *rewarded, nil
	case rewarded != nil:
		return 0, loyalty.SpreadPoints(*rewarded, computed)
	case !p.On[programme.ModuleIncentivizedPurchase]:
		return 0, nil
	}

	// a default rate of one for an unknown currency would give a point for each forint
	rate, known := p.RateFor(currency)
	if !known {
		return 0, nil
	}

	for _, l := range computed {
		n, err := rate.Points(l.Subtotal, p.Purchase.Rounding)
		if err != nil || n > points.Max {
			return 0, loyalty.ErrTooLarge.With("property", "subtotal").At("data.items")
		}
		l.Points = max(0, n)
	}

	return 0, nil
}

// noteRepriced marks the lines whose points have changed: an update of a purchase prices all of its lines again, and
// few of them change.
func noteRepriced(lines []loyalty.Line, before []int64) {
	for i := range lines {
		lines[i].Changed = lines[i].Changed || lines[i].Points != before[i]
	}
}

func pointsOf(lines []loyalty.Line) []int64 {
	all := make([]int64, len(lines))
	for i := range lines {
		all[i] = lines[i].Points
	}
	return all
}
