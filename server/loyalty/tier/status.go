package tier

import (
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// TierStatus is a customer's standing in a structure, for display.
type TierStatus struct {
	Structure *Structure
	Current   *Tier // nil: none
	Next      *Tier // the one above it; nil: none
	// Figure is what the structure counted in the current window, Missing what it lacks to Next: in
	// points, or in 1/10,000 of a currency unit.
	Figure, Missing int64
	Since           time.Time // of Current
	Expires         time.Time // when Current ends if nothing happens until then; zero: never
	Manual          bool      // Current was given by hand or by a campaign
}

// Status makes the status from a state.
func (s *Structure) Status(st *TierState, v TierView) TierStatus {
	status := TierStatus{
		Structure: s, Figure: s.Figure(st, v), Since: st.Since, Expires: s.ends(st, v),
		Manual: st.Tier != "" && st.Tier == st.Manual && s.shown(st) == st.Manual,
	}

	rank := s.rank(st.Tier)
	if rank >= 0 {
		status.Current = s.Tiers[rank]
	} else {
		status.Since = time.Time{}
	}

	// nothing that a customer does leads to a tier that is given by hand
	if s.Base != BaseManual && rank+1 < len(s.Tiers) {
		status.Next = s.Tiers[rank+1]
		status.Missing = s.lacks(status.Next, status.Figure)
	}

	return status
}

// Soon computes the standing of a customer from the stored state and what has come due since. It is unknown if the
// figures are of another window or were never counted.
func (s *Structure) Soon(c *loyalty.TierStanding, v TierView) (status TierStatus, known bool, err error) {
	var st TierState
	if c.State != nil {
		if err := json.Unmarshal(c.State, &st); err != nil {
			return status, false, err
		}
	}

	// Figures counted while the structure was new are used as they are: they are right unless another node still had
	// the previous version.
	if s.counts() && st.Of != s.of(v.Location) {
		return status, false, nil
	}

	for due := c.DueAt; !due.IsZero() && !due.After(v.At); {
		then := v
		then.At = due
		s.judge(&st, then)
		// a date that does not advance would never end the loop
		if next := s.due(&st, then); next.After(due) {
			due = next
		} else {
			break
		}
	}

	return s.Status(&st, v), true, nil
}

// Near reports whether the figure lacks at most the given percentage of the next threshold.
func (status *TierStatus) Near(percent int64) bool {
	if status.Next == nil {
		return false
	}
	need := status.Structure.need(status.Next)
	// the same as need * percent / 100, which could be too large
	return status.Missing <= need/100*percent+need%100*percent/100
}

// Lacks is what the figure lacks to the tier that the customer has.
func (status *TierStatus) Lacks() int64 {
	if status.Current == nil {
		return 0
	}
	return status.Structure.lacks(status.Current, status.Figure)
}

// statusOf returns the customer's present standing in a structure.
func statusOf(r *engine.Run, s *Structure) (TierStatus, error) {
	st, _, err := tierState(r, s)
	return s.Status(&st, ViewOf(r)), err
}

// shownFigure returns a figure for display: points as a whole number, money in currency units.
func (s *Structure) shownFigure(n int64) any {
	if s.Base == BaseSpend {
		return s.Number(n)
	}
	return n
}
