// Package tier handles tiers: the structures that customers climb, the figures that decide, and when a customer rises,
// falls, or must be evaluated again.
package tier

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Paid is the currency that a structure by spend adds up; empty for others.
func (s *Structure) Paid() string { return s.exchange.To }

// What a structure counts.
const (
	BasePoints = "points" // points earned: the score
	BaseSpend  = "spend"  // totals of accepted purchases less refunds, in the currency of the structure
	BaseManual = "manual" // nothing: tiers are given
)

// How customers lose a tier without being moved by hand.
const (
	downgradeNone      = "none"
	downgradeAutomatic = "automatic"
)

// Structure is an ordered set of tiers (tiers/structure).
type Structure struct {
	ID        string          `json:"-"`
	Name      string          `json:"name"`
	Base      string          `json:"base"` // one of the Base constants
	Window    calendar.Window `json:"window"`
	Downgrade string          `json:"downgrade"` // one of the Downgrade constants; empty: none
	GraceDays int             `json:"grace_days"`
	Currency  string          `json:"currency"` // of a base of spend; empty: the programme's
	Tiers     []*Tier         `json:"-"`        // by threshold, the lowest first
	ChangedAt time.Time       `json:"-"`

	exchange programme.Exchange // of a base of spend
}

// Tier is one level of a structure (tiers/tier).
type Tier struct {
	ID        string          `json:"-"`
	Structure string          `json:"structure"`
	Name      loyalty.Texts   `json:"name"`
	Threshold money.Amount    `json:"threshold"` // points or money from which it is reached
	Benefits  json.RawMessage `json:"benefits"`  // free form, as the programme's owner wrote them; nil: none
}

// Structures are the ladders of tiers (module tiers).
var Structures = &programme.EntityType[*Structure]{Type: "tiers/structure",
	Module: programme.ModuleTiers, Read: readStructure}

// readStructure refuses fields of a window that its kind does not use, and those that contradict
// each other.
func readStructure(p *programme.Programme, e loyalty.Entity) (*Structure, error) {
	s := &Structure{ID: e.ID, ChangedAt: e.UpdatedAt}
	if err := programme.Decode(e, s); err != nil {
		return nil, err
	}
	if s.Window.Kind == "" {
		s.Window.Kind = calendar.WindowNone
	}
	if s.Base == BaseSpend {
		s.exchange = p.ExchangeTo(s.Currency)
	}
	return s, s.check()
}

// check refuses settings that would have no effect, such as a number of days for a window that does not roll: ignored
// silently, they would look as if they counted.
func (s *Structure) check() error {
	w := s.Window
	switch {
	case s.Currency != "" && s.Base != BaseSpend:
		return programme.NotWith("currency", "base", s.Base)
	case s.Base == BaseManual && w.Kind != calendar.WindowNone:
		return programme.NotWith("window", "base", s.Base)
	case w.Days != 0 && w.Kind != calendar.WindowRolling:
		return programme.NotWith("window.days", "kind", w.Kind)
	case w.Months != 0 && w.Kind == calendar.WindowNone:
		return programme.NotWith("window.months", "kind", w.Kind)
	case w.Anchor != "" && w.Kind != calendar.WindowCalendar:
		return programme.NotWith("window.anchor", "kind", w.Kind)
	case w.Kind == calendar.WindowRolling && (w.Days > 0) == (w.Months > 0):
		return programme.Fault("window", "either_or", map[string]any{"one": "days", "other": "months"})
	case s.GraceDays > 0 && s.Downgrade != downgradeAutomatic:
		return programme.NotWith("grace_days", "downgrade", cmp.Or(s.Downgrade, downgradeNone))
	}

	if w.Anchor == "" {
		return nil
	}
	if _, _, err := points.ParseDay(w.Anchor); err != nil {
		return programme.Fault("window.anchor", "bad_format", map[string]any{"format": "MM-DD"})
	}

	return nil
}

// Tiers are the levels of all structures.
var Tiers = &programme.EntityType[*Tier]{Type: "tiers/tier", Module: programme.ModuleTiers,
	Read: readTier, Index: orderTiers}

func readTier(p *programme.Programme, e loyalty.Entity) (*Tier, error) {
	t := &Tier{ID: e.ID}
	if err := programme.Decode(e, t); err != nil {
		return nil, err
	}

	s := Structures.Of(p)[t.Structure]
	if s == nil {
		return nil, programme.Missing("structure", "tiers/structure", t.Structure)
	}
	if s.Base == BasePoints && t.Threshold%money.Unit != 0 {
		return nil, programme.Fault("threshold", "not_multiple", map[string]any{"limit": 1})
	}
	if i := slices.IndexFunc(s.Tiers, func(o *Tier) bool { return o.Threshold == t.Threshold }); i >= 0 {
		return nil, programme.Fault("threshold", loyalty.ErrValueTaken.Name, map[string]any{"id": s.Tiers[i].ID})
	}

	s.Tiers = append(s.Tiers, t)
	return t, nil
}

// orderTiers sorts the tiers of each structure by their thresholds.
func orderTiers(p *programme.Programme, _ map[string]*Tier) {
	var all []*Structure
	for _, id := range slices.Sorted(maps.Keys(Structures.Of(p))) {
		s := Structures.Of(p)[id]
		all = append(all, s)
		slices.SortStableFunc(s.Tiers, func(a, b *Tier) int { return loyalty.CompareAmounts(a.Threshold, b.Threshold) })
	}
	ladders.Set(p, all)
}

// ladders are the structures in the order of their ids.
var ladders programme.Slot[[]*Structure]

// Find returns a tier in force; nil if there is none.
func Find(p *programme.Programme, id string) *Tier {
	for _, s := range Structures.Of(p) {
		if n := s.rank(id); n >= 0 {
			return s.Tiers[n]
		}
	}
	return nil
}

// rank is the position of a tier in its structure, from 0; -1 for no tier.
func (s *Structure) rank(id string) int {
	return slices.IndexFunc(s.Tiers, func(t *Tier) bool { return t.ID == id })
}

// at is the id of the tier of a rank; empty for -1.
func (s *Structure) at(rank int) string {
	if rank < 0 {
		return ""
	}
	return s.Tiers[rank].ID
}

// need is the threshold in the units of the structure's figure: points, or
// 1/10,000 of a currency unit.
func (s *Structure) need(t *Tier) int64 {
	if s.Base == BasePoints {
		return int64(t.Threshold / money.Unit)
	}
	return int64(t.Threshold)
}

// reached is the highest rank that a figure reaches; -1 for none.
func (s *Structure) reached(figure int64) int {
	rank := -1
	for i, t := range s.Tiers {
		if s.Base != BaseManual && s.need(t) <= max(figure, 0) {
			rank = i
		}
	}
	return rank
}
