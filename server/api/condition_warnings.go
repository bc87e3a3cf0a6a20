package api

import (
	"context"
	"encoding/json"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// filterProperty is the condition of a webhook.
const filterProperty = "filter"

// WithWarnings adds warnings about the conditions of a change to its answer.
func WithWarnings[T any](ctx context.Context, inForce func() *programme.Programme, body func(T) any) func(T) any {
	r := RequestOf(ctx)
	return func(v T) any {
		warnings := WarningsOf(r.Language, blindConditions(inForce(), r.Tree))
		if len(warnings) == 0 {
			return body(v)
		}
		told := struct {
			Warnings []common.Warning `json:"warnings"`
		}{warnings}
		return json.RawMessage(JoinObjects(Marshal(body(v)), Marshal(told)))
	}
}

// blindConditions warns of conditions in a body that compare money without naming a currency, if the programme has
// rates for several. They are saved nevertheless, because a shop may sell in one currency only.
func blindConditions(p *programme.Programme, body any) (warnings []*loyalty.Error) {
	if !p.KnowsOthers() {
		return nil
	}

	look := func(_ EntityRef, at, name, source string) error {
		if name == SumProperty { // sums are in the programme's currency
			return nil
		}
		if c, err := programme.CompileCondition(name, source); err == nil && c.BlindToCurrency() {
			warnings = append(warnings, loyalty.ErrConditionCurrency.With("currency", p.ShownCurrency("")).At(at))
		}
		return nil
	}

	_ = RuleWalk{Visit: look}.In(body, "", EntityRef{})
	if filter, of := contract.Properties(body)[filterProperty].(string); of {
		_ = look(EntityRef{}, filterProperty, filterProperty, filter)
	}

	return warnings
}
