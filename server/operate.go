package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// act is what an operation makes of a customer: an event that nobody can submit
// as such, and the words for what came of it.
type act struct {
	customer string // as the path names them
	action   string
	data     any
	body     func(language *tongue, o *loyalty.Outcome) any
	// fields are what the fields of the event's errors are called in the request;
	// nil: data.x is x.
	fields map[string]string
}

// operate submits the event of an operation and answers what came of it. The
// answer that is stored is the one that is sent.
func (s *Server) operate(ctx context.Context, a act) (written, error) {
	r := requestOf(ctx)
	language := r.language
	render := func(o loyalty.Outcome, err error) (int, []byte) {
		if err != nil {
			return s.errorBody(language, a.inRequest(err))
		}
		return http.StatusOK, marshal(a.body(language, &o))
	}
	name, err := s.exactName(plain(ctx), a.customer)
	if err != nil {
		return written{}, err
	}
	event := loyalty.Submission{Customer: name, Action: a.action, Data: marshal(a.data), Operation: true}
	if key, hash, ok := r.idempotency(httpRequest(ctx)); ok {
		event.Idempotency = &loyalty.Idempotency{AnswerKey: key, Hash: hash, Render: render}
	}
	outcome, err := s.engine.Submit(plain(ctx), event)
	switch {
	case err != nil:
		return written{}, a.inRequest(err)
	case outcome.Replayed != nil:
		return replay(outcome.Replayed), nil
	}
	status, body := render(outcome, nil)
	return written{status: status, body: body}, nil
}

// eventOf finds the event of an operation: what was due before it comes first.
func (a act) eventOf(o *loyalty.Outcome) *loyalty.Event {
	for i := range o.Events {
		if e := &o.Events[i]; e.Action == a.action && e.Parent == (loyalty.ID{}) {
			return e
		}
	}
	return &loyalty.Event{}
}

// exactName gives a customer's own id for a reference in a path, which may be an
// external id written name:value. Only the engine knows whether there is such a
// customer.
func (s *Server) exactName(ctx context.Context, ref string) (string, error) {
	if !strings.Contains(ref, ":") {
		return ref, nil
	}
	c, err := s.reader.Customer(ctx, ref)
	return c.Name, err
}

// inRequest names the fields of an error as the operation's request has them.
func (a act) inRequest(err error) error {
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

// text gives a translatable text in a language, else in the programme's own.
func (s *Server) text(language *tongue, t map[string]string) string {
	text, in := loyalty.Texts(t).Choose(language.wanted...)
	language.speak(in)
	return text
}
