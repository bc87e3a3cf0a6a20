package server

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

// customerAction is an operation on a customer: the event that it submits, which callers cannot submit directly, and
// how its outcome is answered.
type customerAction struct {
	customer string // the name in the path
	action   string
	data     any
	body     func(language *tongue, o *loyalty.Outcome) any
	// fields are the names of the event's fields in the request, for errors; nil: data.x is x.
	fields map[string]string
}

// submitter submits the events of operations.
type submitter struct {
	engine    Engine
	customers customerReader
}

// submitFor submits the event of an operation and answers with its outcome. The answer is the same one that is stored
// for an Idempotency-Key.
func (s submitter) submitFor(ctx context.Context, a customerAction) (rawResponse, error) {
	r := requestOf(ctx)
	language := r.language
	render := func(o loyalty.Outcome, err error) (int, []byte) {
		if err != nil {
			return errorBody(language, a.inRequest(err))
		}
		return http.StatusOK, marshal(a.body(language, &o))
	}

	name, err := s.customers.exactName(plain(ctx), a.customer)
	if err != nil {
		return rawResponse{}, err
	}

	event := loyalty.Submission{Customer: name, Sender: r.key.ID, Action: a.action, Data: marshal(a.data), Operation: true}
	if key, hash, ok := r.idempotency(httpRequest(ctx)); ok {
		event.Idempotency = &loyalty.Idempotency{AnswerKey: key, Hash: hash, Render: render, Language: language.texts}
	}

	outcome, err := s.engine.Submit(plain(ctx), event)
	switch {
	case err != nil:
		return rawResponse{}, a.inRequest(err)
	case outcome.Replayed != nil:
		return replay(language, outcome.Replayed), nil
	}

	status, body := render(outcome, nil)
	return rawResponse{status: status, body: body}, nil
}

// eventOf finds the event of an operation: events that were due come before it.
func (a customerAction) eventOf(o *loyalty.Outcome) *loyalty.Event {
	for i := range o.Events {
		if e := &o.Events[i]; e.Action == a.action && e.Parent == (loyalty.ID{}) {
			return e
		}
	}
	return &loyalty.Event{}
}

// inRequest renames the fields of an error to those of the operation's request.
func (a customerAction) inRequest(err error) error {
	var e *loyalty.Error
	if !errors.As(err, &e) || len(e.Details) == 0 {
		return err
	}

	own := *e
	own.Details = make([]loyalty.Detail, len(e.Details))
	for i, d := range e.Details {
		if field, ok := a.fields[d.Field]; ok {
			d.Field = field
		} else {
			d.Field = strings.TrimPrefix(d.Field, "data.")
		}
		own.Details[i] = d
	}

	return &own
}

// claimReward is the claim of a reward in every API.
func claimReward(ctx context.Context, s submitter, customer, id string) (rawResponse, error) {
	return s.submitFor(ctx, customerAction{
		customer: customer, action: "reward_claim", data: map[string]any{"reward": id},
		body: func(language *tongue, o *loyalty.Outcome) any {
			r := o.Value.(*reward.ClaimResult)
			out := common.ClaimResult{
				ID: r.ID, Spent: r.Spent, LastClaimedAt: common.Instant(r.LastClaimedAt),
				Coupon: claimedCoupon(language, r.Coupon, &o.Customer),
			}
			if r.Award > 0 {
				out.Award = &r.Award
			}
			return out
		},
	})
}

// address is a path made of segments. A plus sign is escaped as well, because some clients read it as a blank.
func address(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("/" + strings.ReplaceAll(url.PathEscape(s), "+", "%2B"))
	}
	return b.String()
}
