package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Progress reads the customer's progress of a kind under a key into v, and says
// whether there is one.
func (r *Run) Progress(k loyalty.ProgressKind, key string, v any) (bool, error) {
	if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(k)}); err != nil {
		return false, err
	}
	s, ok := r.account.progress[loyalty.ProgressKey{Kind: k, Key: key}]
	if !ok || s.Data == nil {
		return false, nil
	}
	if err := json.Unmarshal(s.Data, v); err != nil {
		return false, fmt.Errorf("progress %d %q: %w", k, key, err)
	}
	return true, nil
}

// ProgressOf lists the keys of the customer's progress of a kind, in order.
func (r *Run) ProgressOf(k loyalty.ProgressKind) ([]string, error) {
	if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(k)}); err != nil {
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
func (r *Run) SetProgress(e *loyalty.Event, key loyalty.ProgressKey, v any, due time.Time) error {
	if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(key.Kind)}); err != nil {
		return err
	}
	s := &loyalty.Progress{Customer: r.Customer.ID, ProgressKey: key, Dirty: true}
	if v != nil {
		s.Data, s.DueAt = loyalty.JSON(v), due
	}
	r.account.progress[key] = s
	carries := func(o loyalty.ProgressEffect) bool { return o.Kind == key.Kind && o.Key == key.Key }
	for _, o := range r.work.events {
		if o.Customer == e.Customer && loyalty.CompareID(o.ID, e.ID) > 0 && o.Effects != nil && slices.ContainsFunc(o.Effects.Progress, carries) {
			e = o
		}
	}
	effects := e.Tell()
	effects.Progress = slices.DeleteFunc(effects.Progress, carries)
	effects.Progress = append(effects.Progress, loyalty.ProgressEffect{Kind: key.Kind, Key: key.Key, Data: s.Data, DueAt: loyalty.InstantOrNil(s.DueAt)})
	return nil
}

// nextProgress is the progress whose date came first; nil: none did.
func (r *Run) nextProgress() *loyalty.Progress {
	var next *loyalty.Progress
	for _, s := range r.account.progress {
		if s.Data == nil || s.DueAt.IsZero() || s.DueAt.After(r.Now) {
			continue
		}
		if next == nil || s.Before(next) {
			next = s
		}
	}
	return next
}

// writeProgress adds the progress that changed to the batch's writes.
func (a *account) writeProgress(w *loyalty.Writes) {
	for _, key := range slices.SortedFunc(maps.Keys(a.progress), loyalty.CompareProgress) {
		after := a.progress[key]
		if !after.Dirty {
			continue
		}
		if before, ok := a.storedProgress(key); ok {
			w.Progress = append(w.Progress, loyalty.Changed[loyalty.Progress]{Before: before, After: *after})
		} else if after.Data != nil {
			w.NewProgress = append(w.NewProgress, *after)
		}
	}
}

func (a *account) storedProgress(key loyalty.ProgressKey) (loyalty.Progress, bool) {
	if a.loaded == nil {
		return loyalty.Progress{}, false
	}
	s, ok := a.loaded.Progress[key]
	return s, ok
}
