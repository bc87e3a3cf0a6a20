package engine

import (
	"bytes"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// What a feature sees of a run besides its customer. Nothing of it is to be changed.

// Events are the rows that the submission recorded so far, of all its customers.
func (r *Run) Events() []*loyalty.Event { return r.work.events }

// Find gives the event of the submission with an id; nil: it has none.
func (r *Run) Find(id loyalty.ID) *loyalty.Event { return r.work.find(id) }

// Unrecord takes back the events that were recorded since there were so many: nothing
// hangs on them. last is the customer's last event from before.
func (r *Run) Unrecord(events int, last loyalty.ID) {
	r.work.events, r.Customer.LastEvent = r.work.events[:events], last
}

// Tracing says whether the rules explain what they do.
func (r *Run) Tracing() bool { return r.work.tracing }

// Warn goes on without what was just refused: the caller is told.
func (r *Run) Warn(e *loyalty.Error) {
	r.work.warnings = append(r.work.warnings, e)
	if n := len(r.work.trace); n > 0 && r.work.trace[n-1].Verdict == "refused" {
		r.work.trace[n-1].Verdict = "skipped" // it does not stop the event
	}
}

// Random is the submission's source of chance. Every attempt of it draws the same in the
// same order, so that what an attempt asked to be loaded is what the next one looks at.
func (r *Run) Random() *rand.ChaCha8 {
	w := r.work
	if w.drawn == nil {
		if *w.seed == ([32]byte{}) {
			*w.seed = NewSeed()
		}
		w.drawn = rand.NewChaCha8(*w.seed)
	}
	return w.drawn
}

// New says that this batch created the customer: nothing of theirs is stored.
func (r *Run) New() bool { return r.account.loaded == nil }

// Purchases are those of the customer that are at hand, by transaction_id.
func (r *Run) Purchases() map[string]*loyalty.Transaction { return r.account.transactions }

// PurchasesBefore are the purchases as the batch had them before this submission.
func (r *Run) PurchasesBefore() map[string]*loyalty.Transaction {
	if before := r.batch.accounts[r.Customer.ID]; before != nil {
		return before.transactions
	}
	return nil
}

// Past is the customer's journal as it was loaded, in order (CustomerNeeds.Past).
func (r *Run) Past() []loyalty.PastEntry {
	if r.account.loaded == nil {
		return nil
	}
	past := slices.Clone(r.account.loaded.Past)
	slices.SortFunc(past, func(a, b loyalty.PastEntry) int { return loyalty.CompareID(a.Event, b.Event) })
	return past
}

// EarlierEvents are those of the customer that the batch recorded before this
// submission.
func (r *Run) EarlierEvents() (list []*loyalty.Event) {
	for i := range r.batch.writes.Events {
		if e := &r.batch.writes.Events[i]; e.Customer == r.Customer.ID {
			list = append(list, e)
		}
	}
	return list
}

// Postings gives those of the batch before this submission, and then its own. They are
// not copied: tiers look at all of them for each event.
func (r *Run) Postings() iter.Seq[points.Posting] {
	return func(yield func(points.Posting) bool) {
		for _, list := range [...][]points.Posting{r.account.postings, r.Book.Postings} {
			for _, p := range list {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// ProgressRow gives the row of a progress; nil: there is none.
func (r *Run) ProgressRow(key loyalty.ProgressKey) *loyalty.Progress { return r.account.progress[key] }

// Untold says whether the state of a purchase is still to be told (see TellLater).
func (r *Run) Untold(t *loyalty.Transaction) bool { return r.work.told[t] != nil }

// CheckData holds attributes of an action against the contract, as if they were sent.
func (r *Run) CheckData(action string, data json.RawMessage) error {
	_, err := r.batch.engine.contract.Check(action, data, "data")
	return err
}

// Note is something that a feature keeps for the time of a submission.
type Note[T any] struct{ _ byte } // its address is the key

// Of gives what was kept; the zero value where nothing was.
func (n *Note[T]) Of(r *Run) T {
	v, _ := r.work.notes[n].(T)
	return v
}

// Set keeps it.
func (n *Note[T]) Set(r *Run, v T) {
	if r.work.notes == nil {
		r.work.notes = map[any]any{}
	}
	r.work.notes[n] = v
}

// Resubmit passes attributes that were submitted before through the gates of today:
// their module may be off by now, and the customer suspended. It gives what their
// action needs, and how it is applied to this run.
func (r *Run) Resubmit(action string, data json.RawMessage) (needs loyalty.CustomerNeeds, apply func() error, err error) {
	t := &Ticket{sub: loyalty.Submission{Action: action, Data: data}, programme: r.Programme}
	if err := t.check(r.batch.engine); err != nil {
		return needs, nil, err
	}
	if err := r.standing(t); err != nil {
		return needs, nil, err
	}
	return t.bound.needs, func() error {
		r.Data, r.stored = t.data, &t.stored
		return t.bound.apply(r)
	}, nil
}

// Try applies something to copies that are thrown away, and says what points it would
// bring. What its rules say stays, for a preview.
func (r *Run) Try(apply func(*Run) error) (gained int64, err error) {
	trial := r.trial()
	err = apply(trial)
	r.work.trace = append(r.work.trace, trial.work.trace...)
	return trial.Book.Figures.Score - r.Book.Figures.Score, err
}

// trial is a run on copies of all that this one works on.
func (r *Run) trial() *Run {
	now := *r.account
	now.customer.Figures, now.lots = r.Book.Figures, r.Book.Lots()
	w := &work{claims: slices.Clone(r.work.claims), coupons: make(map[string]*loyalty.Coupon, len(r.work.coupons)), tallies: maps.Clone(r.work.tallies), tracing: r.work.tracing}
	for code, c := range r.work.coupons {
		w.coupons[code] = c.Clone()
	}
	t := r.batch.openRun(r.Programme, &now, w)
	t.At, t.Data, t.stored = r.At, r.Data, r.stored
	event := *r.Event
	if event.Effects != nil { // of an event that is dated earlier
		own := *event.Effects
		event.Effects = &own
	}
	t.Event = &event
	w.events = []*loyalty.Event{t.Event}
	return t
}

// outcome is what the caller learns of a run.
func (r *Run) outcome() loyalty.Outcome {
	o := loyalty.Outcome{Customer: *r.Customer, Trace: r.work.trace, Value: r.Value, Events: make([]loyalty.Event, len(r.work.events))}
	for i, e := range r.work.events {
		o.Events[i] = *e
	}
	return o
}

// touched lists the lots a run would change, for a preview.
func (r *Run) touched(original *account) []loyalty.LotChange {
	before := map[loyalty.ID]int64{}
	for _, l := range original.lots {
		before[l.ID] = l.Remaining
	}
	var changes []loyalty.LotChange
	for _, l := range r.Book.Lots() {
		if was := before[l.ID]; was != l.Remaining {
			changes = append(changes, loyalty.LotChange{Lot: *l, Before: was})
		}
	}
	return changes
}

// NewSeed is a seed that cannot be guessed: wheels and codes are worth money.
func NewSeed() (seed [32]byte) {
	if _, err := crand.Read(seed[:]); err != nil {
		panic(err) // crypto/rand never fails on a supported system
	}
	return seed
}

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
// off, and of an action that cannot be submitted.
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
