package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// CustomerAction is an operation on a customer: the event that it submits, which callers cannot submit directly, and
// how its outcome is answered.
type CustomerAction struct {
	Customer string // the name in the path
	Action   string
	Data     any
	Body     func(language *Localizer, o *loyalty.Outcome) any
	// Fields are the names of the event's fields in the request, for errors; nil: data.x is x.
	Fields map[string]string
}

// Submitter submits the events of operations.
type Submitter struct {
	Engine    Engine
	Customers CustomerReader
}

// SubmitFor submits the event of an operation and answers with its outcome. The answer is the same one that is stored
// for an Idempotency-Key.
func (s Submitter) SubmitFor(ctx context.Context, a CustomerAction) (RawResponse, error) {
	r := RequestOf(ctx)
	language := r.Language
	render := func(o loyalty.Outcome, err error) (int, []byte) {
		if err != nil {
			return ErrorBody(language, a.InRequest(err))
		}
		return http.StatusOK, Marshal(a.Body(language, &o))
	}

	name, err := s.Customers.ExactName(Plain(ctx), a.Customer)
	if err != nil {
		return RawResponse{}, err
	}

	event := loyalty.Submission{Customer: name, Sender: r.Key.ID, Action: a.Action, Data: Marshal(a.Data), Operation: true}
	if key, hash, ok := r.Idempotency(HTTPRequest(ctx)); ok {
		event.Idempotency = &loyalty.Idempotency{AnswerKey: key, Hash: hash, Render: render, Language: language.Texts}
	}

	outcome, err := s.Engine.Submit(Plain(ctx), event)
	switch {
	case err != nil:
		return RawResponse{}, a.InRequest(err)
	case outcome.Replayed != nil:
		return Replay(language, outcome.Replayed), nil
	}

	status, body := render(outcome, nil)
	return RawResponse{Status: status, Body: body}, nil
}

// EventOf finds the event of an operation: events that were due come before it.
func (a CustomerAction) EventOf(o *loyalty.Outcome) *loyalty.Event {
	for i := range o.Events {
		if e := &o.Events[i]; e.Action == a.Action && e.Parent == (loyalty.ID{}) {
			return e
		}
	}
	return &loyalty.Event{}
}

// InRequest renames the fields of an error to those of the operation's request.
func (a CustomerAction) InRequest(err error) error {
	var e *loyalty.Error
	if !errors.As(err, &e) || len(e.Details) == 0 {
		return err
	}

	own := *e
	own.Details = make([]loyalty.Detail, len(e.Details))
	for i, d := range e.Details {
		if field, ok := a.Fields[d.Field]; ok {
			d.Field = field
		} else {
			d.Field = strings.TrimPrefix(d.Field, "data.")
		}
		own.Details[i] = d
	}

	return &own
}

// ClaimReward is the claim of a reward in every API.
func ClaimReward(ctx context.Context, s Submitter, customer, id string) (RawResponse, error) {
	return s.SubmitFor(ctx, CustomerAction{
		Customer: customer, Action: "reward_claim", Data: map[string]any{"reward": id},
		Body: func(language *Localizer, o *loyalty.Outcome) any {
			r := o.Value.(*reward.ClaimResult)
			out := common.ClaimResult{
				ID: r.ID, Spent: r.Spent, LastClaimedAt: common.Instant(r.LastClaimedAt),
				Coupon: ClaimedCoupon(language, r.Coupon, &o.Customer),
			}
			if r.Award > 0 {
				out.Award = &r.Award
			}
			return out
		},
	})
}

// Address is a path made of segments. A plus sign is escaped as well, because some clients read it as a blank.
func Address(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("/" + strings.ReplaceAll(url.PathEscape(s), "+", "%2B"))
	}
	return b.String()
}
