package job

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// tierWork is what the job tiers leaves to its next run: which structures are recalculated, in which form, and the
// progress of the present one.
type tierWork struct {
	Done      map[string]string `json:"done,omitempty"`      // the form of each structure that was recalculated
	Structure string            `json:"structure,omitempty"` // the one being recalculated; empty: none
	Form      string            `json:"form,omitempty"`      // of Structure
	// names the pass, so that no customer is recalculated twice in it
	Run   loyalty.ID `json:"run"`
	After loyalty.ID `json:"after"` // the last customer that was recalculated
}

// recalculate moves every customer to the tier that a changed structure gives them. It continues where a run that was
// killed stopped.
func recalculate(ctx context.Context, j *Jobs, s *shift) error {
	p := j.engine.Programme()
	if !p.On[programme.ModuleTiers] {
		return nil
	}

	var w tierWork
	if len(s.row.State) > 0 {
		if err := json.Unmarshal(s.row.State, &w); err != nil {
			return fmt.Errorf("the state of the job tiers: %w", err)
		}
	}

	// a structure that comes back under its old id is recalculated like a new one
	maps.DeleteFunc(w.Done, func(id, _ string) bool { return tier.Structures.Of(p)[id] == nil })
	for _, id := range slices.Sorted(maps.Keys(tier.Structures.Of(p))) {
		form := tier.Structures.Of(p)[id].Form()
		if w.Done[id] == form {
			continue
		}
		if w.Structure != id || w.Form != form { // not the pass that was interrupted
			w.Structure, w.Form, w.Run, w.After = id, form, loyalty.NewID(j.engine.Now(), loyalty.ID{}), loyalty.ID{}
		}
		if err := w.pass(ctx, j, s); err != nil {
			return err
		}
	}

	return nil
}

// pass recalculates the remaining customers, page by page. The position is saved before each page and not after it: a
// run that is killed repeats a page, which the name of the pass makes harmless.
func (w *tierWork) pass(ctx context.Context, j *Jobs, s *shift) error {
	for ctx.Err() == nil {
		if err := s.save(ctx, loyalty.JSON(w)); err != nil {
			return err
		}

		var page []loyalty.ID
		err := j.engine.InBackground(ctx, func(most int) (_ int, err error) {
			if page, err = j.store.CustomersAfter(ctx, w.After, most); err != nil || len(page) == 0 {
				return 0, err
			}
			done, failed, err := j.engine.Recalculate(ctx, w.Structure, w.Run, page)
			s.count(done, failed...)
			return len(page), err
		})
		if err != nil {
			return err
		}

		if len(page) == 0 {
			if w.Done == nil {
				w.Done = map[string]string{}
			}
			w.Done[w.Structure], w.Structure, w.Form = w.Form, "", ""
			return s.save(ctx, loyalty.JSON(w))
		}

		w.After = page[len(page)-1]
	}

	return ctx.Err()
}
