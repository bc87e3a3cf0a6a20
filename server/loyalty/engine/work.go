package engine

import (
	crand "crypto/rand"
	"crypto/sha256"
	"math/rand/v2"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
)

// work is shared by the runs of one submission: one for its own customer, and one for each other
// customer that it touches.
type work struct {
	runs    []*Run // in the order in which they were opened
	events  []*loyalty.Event
	claims  []loyalty.Claim
	coupons map[loyalty.ID]*loyalty.Coupon // the changed ones
	tallies map[string]int64               // the changed ones
	trace   []loyalty.Verdict
	tracing bool
	unseen  func(fact string) bool // see Ticket.unseen
	// sender is the sender of the request being decided, which the rows keep; empty while due effects are applied.
	sender string
	// imported says that the event happened elsewhere, and was rewarded there.
	imported bool
	// warnings are about the codes that a checkout named and could not use.
	warnings []*loyalty.Error
	// number of events that had their reactions, except for waiting ones
	reacted int
	// events set aside while due effects of another customer are applied
	waiting []*loyalty.Event
	around  []*loyalty.Event                                // events that are reacted to now
	joined  []loyalty.CampaignMerge                         // merges of customers
	members []loyalty.Membership                            // changes of customer lists
	merged  []loyalty.ID                                    // customers whose loaded rows are out of date since a merge
	bought  map[*loyalty.Transaction]*condition.Transaction // purchases as conditions see them
	effort  int                                             // steps that its rules took, see Run.Effort
	counted bool                                            // steps count towards maxEffort
	paid    int                                             // number of events that are counted in effort
	looked  int                                             // the effort at which the batch's deadline is checked next
	index   map[loyalty.ID]*loyalty.Event                   // see find
	indexed int                                             // number of events in index
	notes   map[any]any                                     // of features, see Note
	// purchases and the event that must record their state, see TellLater
	told   map[*loyalty.Transaction]*loyalty.Event
	seen   map[string]any // the attributes of the submitted event, see lookedAt
	seenOf loyalty.ID     // the event that seen belongs to
	seed   *[32]byte      // see draws
	drawn  *rand.ChaCha8
}

// find returns the event of the submission with an id; nil if there is none. Its index is built on
// demand, because most submissions never need it.
func (w *work) find(id loyalty.ID) *loyalty.Event {
	if w.index == nil {
		w.index = map[loyalty.ID]*loyalty.Event{}
	}
	for w.indexed = min(w.indexed, len(w.events)); w.indexed < len(w.events); w.indexed++ {
		w.index[w.events[w.indexed].ID] = w.events[w.indexed]
	}
	return w.index[id]
}

// run returns the run of a customer.
func (w *work) run(id loyalty.ID) *Run {
	if i := slices.IndexFunc(w.runs, func(r *Run) bool { return r.Customer.ID == id }); i >= 0 {
		return w.runs[i]
	}
	return nil
}

// Note is a value that a feature keeps for the duration of a submission.
type Note[T any] struct{ _ byte } // its address is the key

// Of returns the value; the zero value if none was set.
func (n *Note[T]) Of(r *Run) T {
	v, _ := r.work.notes[n].(T)
	return v
}

// Set stores the value.
func (n *Note[T]) Set(r *Run, v T) {
	if r.work.notes == nil {
		r.work.notes = map[any]any{}
	}
	r.work.notes[n] = v
}

// Latest returns the last event of this customer that rules react to now, or that reactions have recorded in this
// round. Effects due for another customer before the event at hand may come after it in the submission, but were
// reacted to before.
func (r *Run) Latest() *loyalty.Event {
	for _, events := range [][]*loyalty.Event{r.work.events[r.work.reacted:], r.work.waiting, r.work.around} {
		for _, e := range slices.Backward(events) {
			if e.Customer == r.Customer.ID {
				return e
			}
		}
	}
	return nil
}

// Random is the submission's source of random numbers. Every attempt draws the same numbers in the same order, so that
// the next attempt needs the rows that the last one asked for.
func (r *Run) Random() *rand.ChaCha8 {
	w := r.work
	if w.drawn == nil {
		w.drawn = rand.NewChaCha8(w.chance())
	}
	return w.drawn
}

// RandomFor returns a separate source of random numbers for one purpose. It is the same in every attempt, whatever else
// was drawn before: otherwise a conflict with another writer would repeat a spin, and prizes that are easier to give
// would come up more often.
func RandomFor(r *Run, purpose string) *rand.ChaCha8 {
	seed := r.work.chance()
	return rand.NewChaCha8(sha256.Sum256(append(seed[:], purpose...)))
}

// chance returns the submission's seed, which is drawn on first use.
func (w *work) chance() [32]byte {
	if *w.seed == ([32]byte{}) {
		*w.seed = NewSeed()
	}
	return *w.seed
}

// NewSeed returns a seed that cannot be guessed: wheels and coupon codes are worth money.
func NewSeed() (seed [32]byte) {
	if _, err := crand.Read(seed[:]); err != nil {
		panic(err) // crypto/rand never fails on a supported system
	}
	return seed
}
