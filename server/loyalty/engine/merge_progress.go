package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// joinProgress moves what the source stood at, thing by thing. The source's rows
// go; the event tells that by whom it was merged from.
func (r *Run) joinProgress(s *Run) error {
	for _, key := range slices.SortedFunc(maps.Keys(s.account.progress), loyalty.CompareProgress) {
		p := s.account.progress[key]
		if p.Data == nil {
			continue
		}
		theirs := p.Data
		if receive := r.batch.engine.feature(key.Kind).Receive; receive != nil {
			var err error
			if theirs, err = receive(r, s, key, p.Data); err != nil {
				return err
			}
		}
		if err := r.joinOne(key, p, theirs); err != nil {
			return fmt.Errorf("joining progress %d %q: %w", key.Kind, key.Key, err)
		}
		s.account.progress[key] = &loyalty.Progress{Customer: s.Customer.ID, ProgressKey: key, Dirty: true}
	}
	return nil
}

func (r *Run) joinOne(key loyalty.ProgressKey, p *loyalty.Progress, theirs json.RawMessage) error {
	own := r.account.progress[key]
	if own == nil || own.Data == nil {
		return r.SetProgress(r.Event, key, theirs, p.DueAt)
	}
	add := r.batch.engine.feature(key.Kind).Join
	if add == nil {
		return r.SetProgress(r.Event, key, own.Data, loyalty.Earlier(own.DueAt, p.DueAt))
	}
	sum, err := add(r, key.Key, own.Data, theirs)
	if err != nil {
		return err
	}
	return r.SetProgress(r.Event, key, sum, loyalty.Earlier(own.DueAt, p.DueAt))
}
