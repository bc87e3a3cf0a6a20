package engine

import (
	"errors"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Reference names an entity in a request.
type Reference struct {
	Type  string // such as contests/contest
	ID    string
	Field string // where the request names it; empty: in the path
}

// At sets the request's field that names the entity on an error.
func (f Reference) At(err *loyalty.Error) error {
	if f.Field == "" {
		return err
	}
	return err.At(f.Field)
}

// Refuse ends an event because of an entity, and gives a preview the reason, a translation key.
func (r *Run) Refuse(ref Reference, reason string, err *loyalty.Error) error {
	r.TraceInput(loyalty.Verdict{Rule: ref.Type, Verdict: "refused", Reason: reason, Input: map[string]any{"id": ref.ID}})
	return ref.At(err)
}

// dated has a first and a last day.
type dated interface{ Status(at time.Time) string }

// InForce finds an entity that the customer takes part in, if it is open when the event takes effect. It fails with
// ErrEntityNotFound if the entity does not exist or is archived, and with ErrNotRunning outside its dates.
func InForce[E dated](r *Run, all map[string]E, ref Reference) (E, error) {
	e, ok := all[ref.ID]
	if !ok {
		return e, ref.At(loyalty.ErrEntityNotFound.With("type", ref.Type).With("id", ref.ID))
	}
	if status := e.Status(r.At); status != loyalty.StatusActive {
		return e, r.Refuse(ref, "reason.not_active", loyalty.ErrNotRunning.With("id", ref.ID).With("status", status))
	}
	return e, nil
}

// mayDo returns the error with which the customer's state forbids an action of its declared standing: ErrWrongStatus or
// ErrSuspended (110003); nil if the action is allowed.
func mayDo(r *Run, action string) error {
	rule, known := r.batch.rules.rules[action]
	if !known {
		return loyalty.ErrUnknownAction.With("action", action)
	}
	return r.MayAct(action, rule.Meta().Standing)
}

// Afford refuses a price above the spendable balance, with ErrNotEnoughToSpend. Something free is
// never refused, even to a customer in debt.
func (r *Run) Afford(n int64) error {
	if n <= max(0, r.Book.Figures.Spendable()) {
		return nil
	}
	return r.NotEnough(n)
}

// NotEnough refuses a price that the customer cannot pay, and explains it to a preview. It names no attribute: the
// price is set by the programme, so no caller sent it.
func (r *Run) NotEnough(n int64) *loyalty.Error {
	r.TraceInput(loyalty.Verdict{
		Rule: "spend", Verdict: "refused", Reason: "reason.not_enough", Points: -n,
		Input: map[string]any{"spendable": r.Book.Figures.Spendable()},
	})
	return loyalty.ErrNotEnoughToSpend
}

// Outlook returns the error with which an action would be refused now; refused is nil if it would be accepted. It calls
// the same function as the action's rule, so that what is offered and what is accepted cannot differ.
func (r *Run) Outlook(action string, may func() error) (refused, fault error) {
	err := mayDo(r, action)
	if err == nil {
		err = may()
	}
	return RefusalOf(err)
}

// mostNamed is how many things a refusal names.
const mostNamed = 20

// OnlyOne returns the only element of all, for events that may leave out which one they mean. It fails with missing if
// there is none, and with ErrSeveral (190400), which names the candidates, if there are several.
func OnlyOne(attribute string, all []string, missing *loyalty.Error) (string, error) {
	switch len(all) {
	case 0:
		return "", missing.At("data." + attribute)
	case 1:
		return all[0], nil
	}
	named := strings.Join(all[:min(len(all), mostNamed)], ", ")
	if len(all) > mostNamed {
		named += ", …"
	}
	return "", loyalty.ErrSeveral.With("property", attribute).With("choices", named).At("data." + attribute)
}

// RefusalOf separates a refusal by the programme's rules from a fault or a need to load more.
func RefusalOf(err error) (refused, fault error) {
	var e *loyalty.Error
	if errors.As(err, &e) && e.Kind == loyalty.Refused {
		return err, nil
	}
	return nil, err
}

// MayAct returns the error with which the customer's state forbids an action of a standing: ErrWrongStatus or
// ErrSuspended (110003); nil if the action is allowed.
func (r *Run) MayAct(action string, needs Standing) error {
	switch status := r.Customer.Status; {
	case status == loyalty.OptedOut || status == loyalty.Merged, status == loyalty.Inactive && needs != Anyone:
		return loyalty.ErrWrongStatus.With("status", string(status)).With("action", action)
	case status == loyalty.Suspended && needs == Spender:
		return loyalty.ErrSuspended
	}
	return nil
}
