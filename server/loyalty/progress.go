package loyalty

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// ProgressKind is a kind of thing in the programme that a customer can have a
// progress with.
type ProgressKind uint8

// The kinds of progress, each with what its key names.
const (
	ProgressTier      ProgressKind = 1  // a tier structure
	ProgressChallenge ProgressKind = 2  // a challenge
	ProgressReward    ProgressKind = 3  // a reward: how often it was claimed
	ProgressContest   ProgressKind = 4  // a contest: entries
	ProgressWheel     ProgressKind = 5  // a prize wheel: spins in its period
	ProgressTreasure  ProgressKind = 6  // a treasure that was found
	ProgressOffer     ProgressKind = 7  // an offer: claimed and redeemed
	ProgressCampaign  ProgressKind = 8  // a campaign: how often it gave
	ProgressQuiz      ProgressKind = 9  // a quiz
	ProgressFlow      ProgressKind = 10 // a profiling flow
	ProgressHeld      ProgressKind = 11 // an event that waits for its validation, by event id
	ProgressReferral  ProgressKind = 12 // the bonus for bringing this customer; key "bonus"
)

// ProgressKinds is a set of kinds.
type ProgressKinds uint32

// Kinds makes a set.
func Kinds(list ...ProgressKind) (set ProgressKinds) {
	for _, k := range list {
		set |= 1 << k
	}
	return set
}

// Has says whether a kind is in the set.
func (s ProgressKinds) Has(k ProgressKind) bool { return s&(1<<k) != 0 }

// ProgressKey names one progress of a customer.
type ProgressKey struct {
	Kind ProgressKind
	Key  string
}

// Progress is where one customer stands with one thing of the programme: a
// tier, a challenge, a reward. What it holds is a document of its kind. It is
// guarded by the version of its customer.
type Progress struct {
	Customer ID
	ProgressKey
	Data  json.RawMessage
	DueAt time.Time // when it must be looked at next; zero: never

	dirty bool
}

// Progress reads the customer's progress of a kind under a key into v, and says
// whether there is one.
func (r *Run) Progress(k ProgressKind, key string, v any) (bool, error) {
	if err := r.require(CustomerNeeds{Progress: Kinds(k)}); err != nil {
		return false, err
	}
	s, ok := r.account.progress[ProgressKey{k, key}]
	if !ok || s.Data == nil {
		return false, nil
	}
	if err := json.Unmarshal(s.Data, v); err != nil {
		return false, fmt.Errorf("progress %d %q: %w", k, key, err)
	}
	return true, nil
}

// ProgressOf lists the keys of the customer's progress of a kind, in order.
func (r *Run) ProgressOf(k ProgressKind) ([]string, error) {
	if err := r.require(CustomerNeeds{Progress: Kinds(k)}); err != nil {
		return nil, err
	}
	var keys []string
	for key, s := range r.account.progress {
		if key.Kind == k && s.Data != nil {
			keys = append(keys, key.Key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// SetProgress changes a progress in the name of an event of this customer, or of a
// later one of the submission that carries this progress already: the journal is
// folded in the order of its ids. due is when it must be looked at next, zero for
// never. A nil v removes it.
func (r *Run) SetProgress(e *Event, key ProgressKey, v any, due time.Time) error {
	if err := r.require(CustomerNeeds{Progress: Kinds(key.Kind)}); err != nil {
		return err
	}
	s := &Progress{Customer: r.Customer.ID, ProgressKey: key, dirty: true}
	if v != nil {
		s.Data, s.DueAt = marshal(v), due
	}
	r.account.progress[key] = s
	carries := func(o ProgressEffect) bool { return o.Kind == key.Kind && o.Key == key.Key }
	for _, o := range r.work.events {
		if o.Customer == e.Customer && CompareID(o.ID, e.ID) > 0 && o.Effects != nil && slices.ContainsFunc(o.Effects.Progress, carries) {
			e = o
		}
	}
	effects := e.effects()
	effects.Progress = slices.DeleteFunc(effects.Progress, carries)
	effects.Progress = append(effects.Progress, ProgressEffect{Kind: key.Kind, Key: key.Key, Data: s.Data, DueAt: instant(s.DueAt)})
	return nil
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// nextProgress is the progress whose date came first; nil: none did.
func (r *Run) nextProgress() *Progress {
	var next *Progress
	for _, s := range r.account.progress {
		if s.Data == nil || s.DueAt.IsZero() || s.DueAt.After(r.Now) {
			continue
		}
		if next == nil || s.before(next) {
			next = s
		}
	}
	return next
}

// before orders progress by their date, then by kind and key, so that the same
// rows always give the same events.
func (s *Progress) before(o *Progress) bool {
	if c := s.DueAt.Compare(o.DueAt); c != 0 {
		return c < 0
	}
	return compareProgress(s.ProgressKey, o.ProgressKey) < 0
}

func compareProgress(a, b ProgressKey) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	return strings.Compare(a.Key, b.Key)
}

// writeProgress adds the progress that changed to the batch's writes.
func (a *account) writeProgress(w *Writes) {
	for _, key := range slices.SortedFunc(maps.Keys(a.progress), compareProgress) {
		after := a.progress[key]
		if !after.dirty {
			continue
		}
		if before, ok := a.storedProgress(key); ok {
			w.Progress = append(w.Progress, Changed[Progress]{before, *after})
		} else if after.Data != nil {
			w.NewProgress = append(w.NewProgress, *after)
		}
	}
}

func (a *account) storedProgress(key ProgressKey) (Progress, bool) {
	if a.loaded == nil {
		return Progress{}, false
	}
	s, ok := a.loaded.Progress[key]
	return s, ok
}
