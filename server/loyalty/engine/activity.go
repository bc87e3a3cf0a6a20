package engine

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
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

// At puts the field of the request that names the entity on an error.
func (f Reference) At(err *loyalty.Error) error {
	if f.Field == "" {
		return err
	}
	return err.At(f.Field)
}

// Refuse ends an event because of an entity, and tells a preview why. reason is a
// translation key.
func (r *Run) Refuse(ref Reference, reason string, err *loyalty.Error) error {
	r.TraceInput(loyalty.Verdict{Rule: ref.Type, Verdict: "refused", Reason: reason, Input: map[string]any{"id": ref.ID}})
	return ref.At(err)
}

// dated is what has a first and a last day.
type dated interface{ Status(at time.Time) string }

// InForce finds what a customer takes part in, open when the event takes effect.
// It fails with ErrEntityNotFound for what does not exist or is archived, and
// with ErrNotRunning outside its dates.
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

// MayDo says why the customer's state keeps them from an action, by the standing that
// the action declares: ErrWrongStatus, ErrSuspended (110003); nil: it does not.
func (r *Run) MayDo(action string) error {
	rule, known := r.batch.engine.rules[action]
	if !known {
		return loyalty.ErrUnknownAction.With("action", action)
	}
	return r.MayAct(action, rule.Meta().Standing)
}

// Afford refuses a price above what can be spent, with ErrNotEnoughToSpend. What is
// free needs no balance, nor that it is not below zero.
func (r *Run) Afford(n int64) error {
	if n <= max(0, r.Book.Figures.Spendable()) {
		return nil
	}
	return r.NotEnough(n)
}

// NotEnough is the refusal of a price that the customer cannot pay, which a preview
// explains. Nobody sent the price of a game, so no attribute is at fault.
func (r *Run) NotEnough(n int64) *loyalty.Error {
	r.TraceInput(loyalty.Verdict{
		Rule: "spend", Verdict: "refused", Reason: "reason.not_enough", Points: -n,
		Input: map[string]any{"spendable": r.Book.Figures.Spendable()},
	})
	return loyalty.ErrNotEnoughToSpend
}

// Outlook says what an action would be refused with now, by the same function that
// its rule asks; nil: it would not be.
func (r *Run) Outlook(action string, may func() error) (refused, fault error) {
	err := r.MayDo(action)
	if err == nil {
		err = may()
	}
	return RefusalOf(err)
}

// Record puts other attributes on the row of the run's own event than were sent,
// such as the result of a spin. Conditions see these too. None of them may name
// a person.
func (r *Run) Record(data any) {
	r.Event.Data = loyalty.JSON(data)
	var sent map[string]json.RawMessage
	if json.Unmarshal(r.Event.Data, &sent) == nil {
		r.Data = sent // a new map: the one that was sent is shared by every attempt
	}
}

// Some events may leave out what they are about: then it is the only thing that the
// customer has of its kind. What it was is kept with the event.

// mostNamed is how many things a refusal names.
const mostNamed = 20

// OnlyOne gives the one of all; missing is the failure where there is none. Several are
// refused with ErrSeveral (190400), which names them.
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

// FillIn adds to the submitted event an attribute that was left out, so that the
// journal and the rules know what it was about.
func (r *Run) FillIn(attribute, value string) error {
	r.Data = maps.Clone(r.Data) // the one that was sent is shared by every attempt
	if r.Data == nil {
		r.Data = map[string]json.RawMessage{}
	}
	r.Data[attribute] = loyalty.JSON(value)
	if r.Event.As != "" {
		return nil // the row of another action, which applies a held event
	}
	data := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.Event.Data, &data); err != nil {
		return err
	}
	data[attribute] = loyalty.JSON(value)
	r.Event.Data = loyalty.JSON(data)
	return nil
}

// ClaimedCodes lists the codes of the coupons that this customer has claimed and can
// still use, in order.
func (r *Run) ClaimedCodes() ([]string, error) {
	if err := r.Require(loyalty.CustomerNeeds{Codes: true}); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	if l := r.account.loaded; l != nil {
		for code, expires := range l.Codes {
			known[code] = expires.IsZero() || r.At.Before(expires)
		}
	}
	for _, later := range []map[string]*loyalty.Coupon{r.batch.coupons, r.work.coupons} {
		for code, c := range later {
			known[code] = c.Customer == r.Customer.ID && c.StateAt(r.At) == loyalty.CouponClaimed
		}
	}
	maps.DeleteFunc(known, func(_ string, claimed bool) bool { return !claimed })
	return slices.Sorted(maps.Keys(known)), nil
}

// ClaimedUntil tells when the coupons end that this customer has claimed and can still
// use: those that do, as they were before this submission.
func (r *Run) ClaimedUntil() (map[string]time.Time, error) {
	codes, err := r.ClaimedCodes()
	if err != nil || r.account.loaded == nil {
		return nil, err
	}
	until := map[string]time.Time{}
	for _, code := range codes {
		if at := r.account.loaded.Codes[code]; !at.IsZero() {
			until[code] = at
		}
	}
	return until, nil
}

// RefusalOf tells what the programme refuses from what went wrong, or has to be
// loaded first.
func RefusalOf(err error) (refused, fault error) {
	var e *loyalty.Error
	if errors.As(err, &e) && e.Kind == loyalty.Refused {
		return err, nil
	}
	return nil, err
}
