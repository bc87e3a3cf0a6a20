package tier

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Level is a tier of a structure, and the customer's progress to it.
type Level struct {
	Structure *Structure
	Tier      *Tier
	Current   bool // the customer has it
	Reached   bool // the customer has it or a higher one
	Next      bool // it is the one above the customer's
	Manual    bool // Current was given by hand or by a campaign
	// Figure is what the structure counted in the current window, Missing what it lacks to the threshold: in points, or
	// in 1/10,000 of a currency unit.
	Figure, Missing int64
	Since           time.Time // of Current; else zero
	Expires         time.Time // when Current ends if nothing happens until then; zero: never, or it is not current
}

// LevelsOf lists the tiers in force by the id of their structure, then by threshold, lowest first, without a customer.
func LevelsOf(p *programme.Programme) (all []Level) {
	for _, s := range ladders.Of(p) {
		for _, t := range s.Tiers {
			all = append(all, Level{Structure: s, Tier: t})
		}
	}
	return all
}

// CustomerLevels lists the same tiers with the customer's present progress.
func CustomerLevels(r *engine.Run) ([]Level, error) {
	all := LevelsOf(r.Programme)
	var status TierStatus
	for i := range all {
		l := &all[i]
		// once per structure, whose tiers are next to each other
		if status.Structure != l.Structure {
			var err error
			if status, err = statusOf(r, l.Structure); err != nil {
				return nil, err
			}
		}
		status.level(l)
	}

	return all, nil
}

// level fills in one tier of the structure from the status.
func (status *TierStatus) level(l *Level) {
	s := status.Structure
	l.Figure, l.Missing, l.Next = status.Figure, s.lacks(l.Tier, status.Figure), l.Tier == status.Next
	if status.Current == nil {
		return
	}
	// by rank and not by figure: a tier that was given by hand includes the lower ones
	l.Reached = s.rank(l.Tier.ID) <= s.rank(status.Current.ID)
	if l.Current = l.Tier == status.Current; l.Current {
		l.Since, l.Expires, l.Manual = status.Since, status.Expires, status.Manual
	}
}

// lacks is the difference from a figure to the threshold of a tier.
func (s *Structure) lacks(t *Tier, figure int64) int64 {
	if s.need(t) <= max(figure, 0) {
		return 0
	}
	return add(s.need(t), -figure)
}

// Number renders a figure of the structure: whole points, or currency units.
func (s *Structure) Number(n int64) json.Number {
	if s.Base == BaseSpend {
		return json.Number(money.Amount(n).String())
	}
	return json.Number(strconv.FormatInt(n, 10))
}
