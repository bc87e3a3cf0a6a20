package engine

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// customRule is the rule of an action that the programme declares: it is recorded, and
// rules react to it. It fails with
// ErrUnknownAction, or with ErrActionOff while custom_events is off.
func customRule(p *programme.Programme, action string) (Rule, error) {
	switch a := p.Actions[action]; {
	case a == nil:
		return nil, loyalty.ErrUnknownAction.With("action", action).At("action")
	case !p.On[programme.ModuleCustomEvents]:
		return nil, loyalty.ErrActionOff.With("module", programme.ModuleCustomEvents).With("action", action).At("action")
	}
	return Action[struct{}]{Name: action, Standing: Earner, Apply: func(*Run, struct{}) error { return nil }}, nil
}
