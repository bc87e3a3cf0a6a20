package loyalty

import (
	"slices"
	"time"
)

// What a full refund or a rejection does to the progress that its purchase made.
const (
	RefundsUndo = "undo" // takes it out, and completions that no longer hold back
	RefundsKeep = "keep" // leaves it
)

// Counting is what a purchase, or a completion by its event, counted towards one
// completion of a challenge: what is taken out of it when the purchase is refunded.
type Counting struct {
	Challenge string  `json:"challenge"`
	For       ID      `json:"for"`           // the progress that it went into (ChallengeState.Parts, Completion.For)
	Moves     []int64 `json:"moves"`         // by criterion, each in its scale
	Day       day     `json:"day,omitempty"` // where one completion must fit into so many days
	// Whole is the completion that it made, where nothing but this purchase or
	// completion can break it; others are with the challenge (ChallengeState.Kept).
	Whole *Completion `json:"whole,omitempty"`
}

// Completion is one completion of a challenge that a refund may still break: what
// was counted towards it, as the rule was then. It is never changed in place.
type Completion struct {
	For      []ID            `json:"for"`
	Of       string          `json:"of"`               // what the criteria counted
	Event    ID              `json:"event"`            // its event, which opened its lot
	Points   int64           `json:"points,omitempty"` // that it gave
	Criteria []int64         `json:"criteria"`         // all that was counted, each in its scale
	Needs    []int64         `json:"needs"`            // of which it needs so much to hold
	Window   int             `json:"window,omitempty"` // the days into which it must fit; 0: no bound
	Days     []map[day]int64 `json:"days,omitempty"`   // Criteria by day, where there is a window
	Started  time.Time       `json:"started,omitzero"`
	At       time.Time       `json:"at"`
	Before   time.Time       `json:"before,omitzero"` // when the one before it was completed; zero: it was the first
	// Counts is what its event counted towards other challenges, Gave what campaigns
	// gave because of it.
	Counts []Counting       `json:"counts,omitempty"`
	Gave   []completionGift `json:"gave,omitempty"`
}

// completionGift are the points of a campaign, by the event that opened their lot.
type completionGift struct {
	Campaign string `json:"campaign"`
	Event    ID     `json:"event"`
	Points   int64  `json:"points"`
}

// passed is a completion that was taken back although it was not the last one.
type passed struct {
	At     time.Time `json:"at"`
	Before time.Time `json:"before,omitzero"`
}

// maxKept is how many completions of one challenge that several purchases made
// together can still be broken: those before them stay.
const maxKept = 100

// counter is what something counts in the name of: a purchase that may be refunded,
// or a completion that may be taken back with one.
type counter struct {
	purchase   *Transaction // nil: a completion
	completion ID           // its event
}

func (c *counter) id() ID {
	if c.purchase != nil {
		return c.purchase.Checkout
	}
	return c.completion
}

// hostedBy is where a completion of this submission is kept: with a purchase, or
// with the challenge.
type hostedBy struct {
	purchase  *Transaction
	challenge string
}

// completions are those of a submission that a refund may break, by their events.
var completions Note[map[ID]hostedBy]

// nobodys are events that belong to no purchase and to no completion, though one of
// them brought them about: tiers look at all that a customer did, points at the time.
var nobodys = []string{"tier_up", "tier_down", "tier_change", "point_expire"}

// counts finds in whose name an event counts for challenges: its purchase, if it is
// one that was made, changed or accepted, or followed from it; a completion, if it
// followed from that.
func (r *Run) counts(e *Event) *counter {
	for ; e != nil && e.Customer == r.Customer.ID; e = r.Find(e.Parent) {
		switch {
		case e.accepted != nil:
			return &counter{purchase: e.accepted}
		case e.Action == "challenge":
			if _, kept := completions.Of(r)[e.ID]; kept {
				return &counter{completion: e.ID}
			}
			return nil
		case slices.Contains(nobodys, e.Action):
			return nil
		case e.Action == "checkout" || e.Action == "checkout_update":
			if t := r.Purchases()[e.Transaction]; t != nil {
				return &counter{purchase: t}
			}
			return nil
		}
	}
	return nil
}

// part makes a counter one of those whose progress this is, and gives its name. One
// alone keeps a completion to itself.
func (st *ChallengeState) part(by, next ID) ID {
	switch {
	case len(st.Parts) == 0:
		st.Parts, st.Sole = []ID{next}, by
	case st.Sole != by:
		st.Sole = ID{}
	}
	return st.Parts[0]
}

// noteCounting keeps what was just counted for a challenge with what it was counted
// in the name of. A challenge that keeps its progress needs no such note.
func (r *Run) noteCounting(e *Event, c *Challenge, st *ChallengeState, by *counter, moves []int64, on day) error {
	if by == nil {
		return nil
	}
	k := Counting{Challenge: c.ID, For: st.part(by.id(), r.Customer.LastEvent), Moves: moves}
	if c.WindowDays > 0 {
		k.Day = on
	}
	return r.changeCountings(e, by, c.ID, st, func(all []Counting) []Counting { return withCounting(all, k) })
}

func withCounting(all []Counting, k Counting) []Counting {
	same := func(o Counting) bool {
		return o.Challenge == k.Challenge && o.For == k.For && o.Day == k.Day && o.Whole == nil
	}
	// It is one of the last: what an occurrence counted before went to other challenges.
	for i := len(all) - 1; i >= 0; i-- {
		if same(all[i]) {
			all[i].Moves = slices.Clone(all[i].Moves)
			for n := range k.Moves {
				all[i].Moves[n] = min(maxSum, all[i].Moves[n]+k.Moves[n])
			}
			return all
		}
	}
	k.Moves = slices.Clone(k.Moves)
	return append(all, k)
}

// changeCountings changes what was counted in the name of a purchase or completion.
// st is the state of a challenge that is being changed already; nil: none is.
func (r *Run) changeCountings(e *Event, by *counter, challenge string, st *ChallengeState, change func([]Counting) []Counting) error {
	if t := by.purchase; t != nil {
		t.Detail.Counted = change(t.counted())
		r.tellPurchase(e, t)
		return nil
	}
	return r.changeCompletion(e, by.completion, challenge, st, func(k *Completion) { k.Counts = change(slices.Clone(k.Counts)) })
}

// changeCompletion changes a completion of this submission, wherever it is kept.
func (r *Run) changeCompletion(e *Event, id ID, challenge string, st *ChallengeState, change func(*Completion)) error {
	host := completions.Of(r)[id]
	if t := host.purchase; t != nil {
		all := t.counted()
		if i := slices.IndexFunc(all, func(k Counting) bool { return k.Whole != nil && k.Whole.Event == id }); i >= 0 {
			again := *all[i].Whole
			change(&again)
			all[i].Whole = &again
			r.tellPurchase(e, t)
		}
		return nil
	}
	mine := st != nil && host.challenge == challenge // kept by whoever is changing it
	if !mine {
		st = &ChallengeState{}
		if _, err := r.Progress(ProgressChallenge, host.challenge, st); err != nil {
			return err
		}
	}
	i := slices.IndexFunc(st.Kept, func(k Completion) bool { return k.Event == id })
	if i < 0 {
		return nil
	}
	if change(&st.Kept[i]); mine {
		return nil
	}
	return r.SetProgress(e, ProgressKey{ProgressChallenge, host.challenge}, st, time.Time{})
}

// noteGift keeps the points that a campaign gave because of a completion with it:
// they are taken back together.
func (r *Run) noteGift(cause, e *Event, campaign string, n int64) error {
	by := r.counts(cause)
	if by == nil || by.purchase != nil {
		return nil
	}
	return r.changeCompletion(cause, by.completion, "", nil, func(k *Completion) {
		k.Gave = append(slices.Clip(k.Gave), completionGift{campaign, e.ID, n})
	})
}

// counted are the purchase's counts, to change: a copy of its own, made once, because
// thousands of lines may count.
func (t *Transaction) counted() []Counting {
	if !t.counts {
		t.Detail.Counted, t.counts = slices.Clone(t.Detail.Counted), true
	}
	return t.Detail.Counted
}

// tellPurchase tells the state of a purchase with the event that told it last.
func (r *Run) tellPurchase(e *Event, t *Transaction) {
	if r.Untold(t) {
		return
	}
	for _, o := range slices.Backward(r.Events()) {
		x := o.Effects
		if o.Customer != r.Customer.ID || x == nil {
			continue
		}
		if (x.Transaction != nil && o.Transaction == t.Name) || slices.ContainsFunc(x.Purchases, func(p TransactionEffect) bool { return p.Name == t.Name }) {
			e = o
			break
		}
	}
	r.tellLater(e, t)
}

// keepCompletion keeps a completion that a refund may break: with the purchase that
// alone counted for it and completed it, else with the challenge.
func (r *Run) keepCompletion(done *Event, at time.Time, c *Challenge, st *ChallengeState, by *counter) error {
	if len(st.Parts) == 0 {
		return nil
	}
	k := Completion{
		For: st.Parts, Of: st.Of, Event: done.ID, Points: c.Points, Criteria: st.Criteria, Needs: make([]int64, len(c.Criteria)),
		Window: c.WindowDays, Days: st.Days, Started: st.Started, At: at, Before: st.Completed,
	}
	for i := range c.Criteria {
		k.Needs[i] = c.Criteria[i].Threshold * c.Criteria[i].scale()
	}
	hosts := completions.Of(r)
	if hosts == nil {
		hosts = map[ID]hostedBy{}
		completions.Set(r, hosts)
	}
	if by == nil || by.purchase == nil || by.id() != st.Sole {
		hosts[done.ID] = hostedBy{challenge: c.ID}
		st.keep(k)
		return nil
	}
	hosts[done.ID] = hostedBy{purchase: by.purchase}
	return r.changeCountings(done, by, c.ID, st, func(all []Counting) []Counting {
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].Challenge == c.ID && slices.Contains(k.For, all[i].For) {
				all[i].Whole = &k
				break
			}
		}
		return all
	})
}

func (st *ChallengeState) keep(k Completion) {
	st.Kept = append(st.Kept, k)
	st.Kept = st.Kept[max(0, len(st.Kept)-maxKept):]
}
