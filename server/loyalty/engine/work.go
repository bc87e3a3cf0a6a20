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
	coupons map[loyalty.ID]*loyalty.Coupon // those that changed
	tallies map[string]int64               // those that changed
	trace   []loyalty.Verdict
	tracing bool
	unseen  func(fact string) bool // see Ticket.unseen
	// sender is whose request is decided, which the rows keep; empty while what is due is applied.
	sender string
	// imported says that the event happened elsewhere, and was rewarded there.
	imported bool
	// warnings are about the codes that a checkout named and did without.
	warnings []*loyalty.Error
	reacted  int                                             // so many of the events had their reactions, but for those that wait
	waiting  []*loyalty.Event                                // that stood back for what was due for another customer
	around   []*loyalty.Event                                // that are reacted to now
	joined   []loyalty.CampaignMerge                         // who became part of whom
	members  []loyalty.Membership                            // of customer lists, that change
	merged   []loyalty.ID                                    // whose rows as loaded do not tell any more what they have
	bought   map[*loyalty.Transaction]*condition.Transaction // purchases as conditions see them
	effort   int                                             // steps that its rules took, see Run.Effort
	counted  bool                                            // they are held against maxEffort
	paid     int                                             // so many of the events are counted in them
	looked   int                                             // at the batch's deadline, next at so many steps
	index    map[loyalty.ID]*loyalty.Event                   // see find
	indexed  int                                             // so many of the events are in it
	notes    map[any]any                                     // of features, see Note
	told     map[*loyalty.Transaction]*loyalty.Event         // purchases whose state an event has yet to tell, see tellLater
	seen     map[string]any                                  // the attributes of the event looked at, see lookedAt
	seenOf   loyalty.ID                                      // whose seen they are
	seed     *[32]byte                                       // see draws
	drawn    *rand.ChaCha8
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

// Latest returns the last event of this customer that rules react to now, or that reactions have
// recorded in this round. What was due for another customer before the event at hand may stand
// behind that event in the submission, and has been reacted to before.
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

// Random is the submission's source of chance. Every attempt draws the same numbers in the same
// order, so that the rows one attempt asked for are those that the next one reads.
func (r *Run) Random() *rand.ChaCha8 {
	w := r.work
	if w.drawn == nil {
		w.drawn = rand.NewChaCha8(w.chance())
	}
	return w.drawn
}

// RandomFor returns a source of chance of its own for one purpose, which is the same in every
// attempt whatever else was drawn before: what another writer has done meanwhile must not
// give a spin another chance, or what is easier to give would come up more often.
func RandomFor(r *Run, purpose string) *rand.ChaCha8 {
	seed := r.work.chance()
	return rand.NewChaCha8(sha256.Sum256(append(seed[:], purpose...)))
}

// chance returns the submission's seed, which is drawn when it is first needed.
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
