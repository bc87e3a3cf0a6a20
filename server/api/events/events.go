// Package events answers the Events API: it records events, one or many, previews them, and serves the feed.
package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// API answers the Events API.
type API struct {
	Engine     api.Engine
	Vocabulary *contract.Vocabulary
	Programme  func() *programme.Programme
	// Refused is called with the reason of each refused event of a bulk.
	Refused func(error)
	Feed    FeedAPI
	// Charge counts the events of a bulk on the key of its request.
	Charge func(c *gin.Context, events int) error
}

var _ events.StrictServerInterface = (*API)(nil)

// SubmitEvent records one event. It does not use the generated request object, whose body validate has replaced by {}.
// It takes the tree that validate checked, so that the hot path does not encode an event only to decode it again. The
// other operations of this API do the same.
func (a *API) SubmitEvent(
	ctx context.Context, _ events.SubmitEventRequestObject,
) (events.SubmitEventResponseObject, error) {
	r := api.RequestOf(ctx)
	language := r.Language
	s := a.Vocabulary.Submission(r.Tree, len(r.Body))
	s.Sender = r.Key.ID
	if key, hash, ok := r.Idempotency(api.HTTPRequest(ctx)); ok {
		render := func(o loyalty.Outcome, err error) (int, []byte) {
			if err != nil {
				return api.ErrorBody(language, err)
			}
			return http.StatusOK, api.Outcome(language, o)
		}
		s.Idempotency = &loyalty.Idempotency{AnswerKey: key, Hash: hash,
			Render: render, Language: language.Texts, Block: api.CustomerBlock}
	}

	outcome, err := a.Engine.Submit(api.Plain(ctx), s)
	if err != nil {
		return nil, err
	}
	if outcome.Replayed != nil {
		return a.repeated(language, outcome.Replayed), nil
	}
	if a.Programme().SuppressPII {
		return api.RawResponse{Status: http.StatusOK, Body: api.Outcome(language, outcome)}, nil
	}

	return api.RawResponse{Status: http.StatusOK, Body: api.OutcomeWithCustomer(language, outcome)}, nil
}

// repeated is the stored answer of an event as it may be shown now.
func (a *API) repeated(in *api.Localizer, stored *loyalty.Answer) api.RawResponse {
	out := api.Replay(in, stored)
	if len(stored.Block) == 0 && a.Programme().SuppressPII {
		out.Body = api.WithoutCustomer(out.Body)
	}
	out.Body = a.shown(stored.Block, out.Body)
	return out
}

// shown adds the customer to an answer, unless the programme suppresses personal data in the answers to events.
func (a *API) shown(block, body []byte) []byte {
	if a.Programme().SuppressPII {
		return body
	}
	return api.WithCustomer(block, body)
}

// PreviewEvent shows what an event would do.
func (a *API) PreviewEvent(
	ctx context.Context, _ events.PreviewEventRequestObject,
) (events.PreviewEventResponseObject, error) {
	r := api.RequestOf(ctx)
	s := a.Vocabulary.Submission(r.Tree, len(r.Body))
	o, err := a.Engine.Preview(api.Plain(ctx), s)
	out := events.EventPreview{
		Customer: api.Summary(o.Customer, a.Programme().SuppressPII), Events: api.Recorded(o.Events),
		Rules: verdicts(r.Language, o.Trace), Lots: touched(o, a.Programme().Location),
		Warnings: api.WarningsOf(r.Language, o.Warnings),
	}
	if err != nil {
		status, envelope := api.Envelope(r.Language, err)
		if status == http.StatusBadRequest || status >= http.StatusInternalServerError {
			return nil, err
		}
		out.Error = &envelope
	}

	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(out)}, nil
}

func verdicts(language *api.Localizer, trace []loyalty.Verdict) []events.RuleVerdict {
	out := make([]events.RuleVerdict, len(trace))
	for i, v := range trace {
		out[i] = events.RuleVerdict{
			Rule: v.Rule, Verdict: events.RuleVerdictVerdict(v.Verdict), Input: v.Input, Points: v.Points,
			Reason: language.Message(v.Reason, v.Input),
		}
	}
	return out
}

func touched(o loyalty.Outcome, zone *time.Location) []events.TouchedLot {
	out := make([]events.TouchedLot, len(o.Touched))
	for i, t := range o.Touched {
		out[i] = events.TouchedLot{
			ID: t.Lot.ID, Points: t.Lot.Remaining - t.Before, Remaining: t.Lot.Remaining,
			EarnedAt:  common.Instant(t.Lot.EarnedAt),
			ExpiresAt: api.InstantOrNil(t.Lot.Expiry(o.Customer.LastActivityAt, zone)),
		}
	}
	return out
}

// SubmitEvents records many events, each on its own.
func (a *API) SubmitEvents(
	ctx context.Context, _ events.SubmitEventsRequestObject,
) (events.SubmitEventsResponseObject, error) {
	r := api.RequestOf(ctx)
	trees, err := eventTrees(r, api.HTTPRequest(ctx))
	if err != nil {
		return nil, err
	}
	if len(trees) > maxBulkEvents {
		return nil, contract.MalformedBody("too_many").At("events")
	}

	r.Tree = nil // frees each event after it is read
	if c, ok := ctx.(*gin.Context); ok {
		if err := a.Charge(c, len(trees)); err != nil {
			return nil, err
		}
	}

	b := bulk{api: a, language: r.Language, sender: r.Key.ID, results: make([]json.RawMessage, len(trees))}
	b.read(trees)
	if key, _, ok := r.Idempotency(api.HTTPRequest(ctx)); ok {
		b.remember(api.HTTPRequest(ctx), key)
	}

	a.Engine.SubmitEach(api.Plain(ctx), b.submissions, func(i int, result loyalty.Result) {
		b.take(b.places[i], result)
	})
	if b.reused == len(trees) {
		return nil, loyalty.ErrKeyReused
	}

	body := b.body()
	return api.RawResponse{Status: http.StatusOK, Body: body, Replayed: b.replayed == len(trees)}, nil
}

// body joins the results, which are rendered one by one.
func (b *bulk) body() []byte {
	size := 64
	for _, r := range b.results {
		size += len(r) + 1
	}
	out := append(make([]byte, 0, size), `{"results":[`...)
	for i, r := range b.results {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, r...)
	}
	return fmt.Appendf(out, `],"total":%d,"errors":%d}`, len(b.results), b.errors)
}

// maxBulkEvents bounds the results of a bulk. A body cannot hold more events that could be recorded.
const maxBulkEvents = 25_000

// eventTrees returns the events of a bulk as sent. A form's values have no types yet: they depend on the action.
func eventTrees(r *api.Request, req *http.Request) ([]any, error) {
	if media, err := api.MediaType(req.Header, len(r.Body)); err == nil && media == api.FormType {
		root, err := contract.ParseForm(r.Body)
		if err != nil {
			return nil, err
		}
		if list := contract.Items(contract.Properties(root)["events"]); list != nil {
			return list, nil
		}
	}
	return contract.Items(contract.Properties(r.Tree)["events"]), nil
}

// bulk is the work of one bulk: the submissions that passed the contract with their places, and a result for each
// event.
type bulk struct {
	api         *API
	language    *api.Localizer
	sender      string
	submissions []loyalty.Submission
	places      []int
	results     []json.RawMessage

	errors, replayed, reused int
}

// read checks each event as POST /events would. An invalid event gets its result at once and never reaches the engine.
func (b *bulk) read(trees []any) {
	for i, tree := range trees {
		at := fmt.Sprintf("events[%d]", i)
		s, err := b.api.Vocabulary.Read(tree, at)
		trees[i] = nil
		if err != nil {
			b.take(i, loyalty.Result{Err: err})
			continue
		}
		b.places = append(b.places, i)
		s.At, s.Sender = at+".", b.sender
		b.submissions = append(b.submissions, s)
	}
}

// remember makes each event repeatable under the key and its place. The key stands for the single event: a caller may
// send the same events followed by more, and only the new ones are recorded.
func (b *bulk) remember(req *http.Request, key loyalty.AnswerKey) {
	whole := api.StandsFor(req)
	for i := range b.submissions {
		s := &b.submissions[i]
		own := key
		own.Place = b.places[i] + 1
		s.Idempotency = &loyalty.Idempotency{AnswerKey: own, Hash: eventHash(req, s),
			Whole: whole, Render: b.render, Language: b.language.Texts}
	}
}

// eventHash is the hash of an event after validation, so that the same event has one hash whether
// it is sent as JSON or as a form.
func eventHash(req *http.Request, s *loyalty.Submission) [32]byte {
	return api.StandsFor(req, []byte(s.Customer), []byte(s.ExternalID),
		[]byte(s.Action), strconv.AppendBool(nil, s.Guest), s.Data)
}

// render renders the result of one event.
func (b *bulk) render(o loyalty.Outcome, err error) (int, []byte) {
	if err != nil {
		status, e := api.Envelope(b.language, err)
		return status, api.Marshal(events.BatchResult{Error: &e})
	}
	return http.StatusOK, api.Outcome(b.language, o)
}

// take stores the result of the event at a place.
func (b *bulk) take(place int, result loyalty.Result) {
	var status int
	if stored := result.Outcome.Replayed; stored != nil {
		status, b.results[place] = stored.Status, stored.Body
		b.language.Repeat(stored)
		b.replayed++
	} else {
		status, b.results[place] = b.render(result.Outcome, result.Err)
		if result.Err != nil {
			b.api.Refused(result.Err)
		}
	}

	if status >= http.StatusBadRequest {
		b.errors++
	}
	if errors.Is(result.Err, loyalty.ErrKeyReused) {
		b.reused++
	}
}
