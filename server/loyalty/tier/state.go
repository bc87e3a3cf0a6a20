package tier

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// TierState is a customer's stored state in one structure.
type TierState struct {
	TierHold
	TierFigures
}

// ReadDocument reads the common members of a stored state; encoding/json reads a document with rare ones.
func (st *TierState) ReadDocument(text json.RawMessage) error {
	fresh := *st
	err := loyalty.EachMember(text, func(name, value []byte) error {
		switch string(name) {
		case "tier":
			return loyalty.ReadText(value, &fresh.Tier)
		case "since":
			return fresh.Since.UnmarshalJSON(value)
		case "earned":
			return loyalty.ReadText(value, &fresh.Earned)
		case "of":
			return loyalty.ReadText(value, &fresh.Of)
		case "built":
			return fresh.Built.UnmarshalJSON(value)
		case "through":
			return loyalty.ReadID(value, &fresh.Through)
		case "total":
			return loyalty.ReadNumber(value, &fresh.Total)
		case "buckets":
			if string(value) == "null" {
				return loyalty.ErrUnread
			}
			if fresh.Buckets = maps.Clone(fresh.Buckets); fresh.Buckets == nil {
				fresh.Buckets = map[calendar.Day]int64{}
			}
			return loyalty.EachMember(value, func(name, value []byte) error { return readBucket(name, value, fresh.Buckets) })
		}

		return loyalty.ErrUnread
	})
	if err == nil {
		*st = fresh
	}

	return err
}

func readBucket(name, value []byte, into map[calendar.Day]int64) error {
	var day calendar.Day
	if err := day.UnmarshalText(name); err != nil {
		return err
	}
	var n int64
	err := loyalty.ReadNumber(value, &n)
	into[day] = n
	return err
}

// TierHold is the tier that a customer has, and why.
type TierHold struct {
	Tier   string    `json:"tier,omitempty"` // what the customer has; empty: none
	Since  time.Time `json:"since,omitzero"`
	Earned string    `json:"earned,omitempty"` // by the figure, even while another one is held by hand
	// GraceUntil is when Earned falls unless the figure recovers; zero if it is not about to fall.
	GraceUntil time.Time `json:"grace_until,omitzero"`

	Manual      string    `json:"manual,omitempty"`      // given by hand or by a campaign; empty: none
	ManualUntil time.Time `json:"manual_until,omitzero"` // zero: it has no end
	// of a manual tier without an end: the figure lifts above this one and above Manual
	ManualOver string `json:"manual_over,omitempty"`
}

// TierFigures is the sum of the journal. It depends on the journal, on what the structure counts, and on the day.
type TierFigures struct {
	Of      string     `json:"of,omitempty"` // base, window and time zone it was made for; empty: it must be made again
	Built   time.Time  `json:"built,omitzero"`
	Through loyalty.ID `json:"through,omitzero"` // the last event that was counted
	Total   int64      `json:"total,omitempty"`
	// Buckets hold the figure of each day of a rolling window, or of each consecutive window by its
	// first day.
	Buckets map[calendar.Day]int64 `json:"buckets,omitempty"`
}

// TierView is what the evaluation of a structure depends on besides the state.
type TierView struct {
	At       time.Time
	Score    int64     // the customer's
	Enrolled time.Time // when they were created
	Location *time.Location
	// Recalculation evaluates as the nightly check would, at any hour.
	Recalculation bool
}

// Today is the day in the programme's time zone: windows begin and end with days.
func (v TierView) Today() calendar.Day { return calendar.DayOf(v.At, v.Location) }

// window returns the first day of the previous window, of the current one, and of the next.
func (s *Structure) window(v TierView) (before, start, next calendar.Day) {
	enrolled := calendar.DayOf(v.Enrolled, v.Location)
	start, next = s.Window.Bounds(v.Today(), enrolled)
	before, _ = s.Window.Bounds(start-1, enrolled)
	return before, start, next
}

// Figure is what counts at the view's instant, in points or in 1/10,000 of a currency unit.
func (s *Structure) Figure(st *TierState, v TierView) int64 {
	switch {
	case s.Base == BaseManual:
		return 0
	case s.Window.Split():
		_, start, _ := s.window(v)
		return st.Buckets[start]
	case s.Window.Kind == calendar.WindowRolling:
		var sum int64
		limit := s.Window.Limit(v.Today())
		for d, n := range st.Buckets {
			if d > limit {
				sum = add(sum, n)
			}
		}
		return sum

	case s.Base == BasePoints:
		return v.Score
	}

	return st.Total
}

// entitled is the rank that the figure gives. With consecutive windows, the final figure of the
// last one counts as long as the current one lasts.
func (s *Structure) entitled(st *TierState, v TierView) int {
	figure := s.Figure(st, v)
	if s.Window.Split() {
		before, _, _ := s.window(v)
		figure = max(figure, st.Buckets[before])
	}
	return s.reached(figure)
}

// judge brings the tier up to the view's instant and reports whether it changed. It rises at once;
// it falls at the window's end, after the grace days.
func (s *Structure) judge(st *TierState, v TierView) (moved bool) {
	earned, entitled := s.rank(st.Earned), s.entitled(st, v)
	switch {
	case entitled >= earned || s.Downgrade != downgradeAutomatic:
		st.Earned, st.GraceUntil = s.at(max(earned, entitled)), time.Time{}
	case !st.GraceUntil.IsZero():
		if !v.At.Before(st.GraceUntil) {
			st.Earned, st.GraceUntil = s.at(entitled), time.Time{}
		}
	case s.checked(v) && s.GraceDays == 0:
		st.Earned = s.at(entitled)
	case s.checked(v):
		st.GraceUntil = s.graceEnd(v.At, v.Location)
	}

	// after a fall, the next rise is above the given tier again
	if s.rank(st.Earned) < s.rank(st.ManualOver) {
		st.ManualOver = st.Earned
	}
	if !st.ManualUntil.IsZero() && !v.At.Before(st.ManualUntil) {
		st.Manual, st.ManualUntil, st.ManualOver = "", time.Time{}, ""
	}

	has := s.shown(st)
	if has == st.Tier {
		return false
	}

	st.Tier, st.Since = has, v.At
	return true
}

// shown is the tier that a customer has. A given tier holds until it ends, whatever the figure is; the figure can only
// lift above one without an end.
func (s *Structure) shown(st *TierState) string {
	earned, manual := s.rank(st.Earned), s.rank(st.Manual)
	lifted := st.ManualUntil.IsZero() && earned > manual && earned > s.rank(st.ManualOver)
	if manual < 0 || lifted {
		return st.Earned
	}
	return st.Manual
}

// checked reports whether a fall may be found at the view's instant: at any instant without a window, at midnight with
// a rolling window, and otherwise when a window begins.
func (s *Structure) checked(v TierView) bool {
	switch {
	case s.Window.Split():
		_, start, _ := s.window(v)
		return v.At.Equal(start.Begins(v.Location))
	case s.Window.Kind == calendar.WindowRolling:
		return v.Recalculation || v.At.Equal(v.Today().Begins(v.Location))
	}
	return true
}

// graceEnd is the midnight after the grace days.
func (s *Structure) graceEnd(at time.Time, loc *time.Location) time.Time {
	from := calendar.DayOf(at, loc)
	if !at.Equal(from.Begins(loc)) {
		from++
	}
	return (from + calendar.Day(s.GraceDays)).Begins(loc)
}

// due is when the state must be evaluated next if nothing happens until then; zero means never. It
// compares ranks and not points, because many days may leave a window without a change of tier.
func (s *Structure) due(st *TierState, v TierView) time.Time {
	earned := s.rank(st.Earned)
	next := s.nextCheck(st, v, func(rank int) bool {
		switch {
		case rank > earned:
			return true
		case rank == earned:
			return !st.GraceUntil.IsZero()
		}
		return s.Downgrade == downgradeAutomatic && st.GraceUntil.IsZero()
	})
	return loyalty.Earlier(next, loyalty.Earlier(st.GraceUntil, st.ManualUntil))
}

// ends is when the customer loses their tier if nothing happens until then; zero means never.
func (s *Structure) ends(st *TierState, v TierView) time.Time {
	switch {
	case st.Tier == "":
		return time.Time{}
	case st.Tier == st.Manual && s.shown(st) == st.Manual:
		return st.ManualUntil
	}

	// a figure that is too low now can be high enough at the next check: a day with more given back than earned leaves
	// a rolling window, too
	then, was := *st, time.Time{}
	v.Recalculation = false
	// a date that does not advance would never end the loop
	for due := s.due(st, v); due.After(was); due = s.due(&then, v) {
		v.At, was = due, due
		if s.judge(&then, v); s.rank(then.Tier) < s.rank(st.Tier) {
			return due
		}
	}

	return time.Time{}
}

// nextCheck is the next check that finds the figure at a rank that matters, if nothing happens
// until then; zero if there is none.
func (s *Structure) nextCheck(st *TierState, v TierView, matters func(rank int) bool) time.Time {
	switch {
	case s.Window.Split():
		_, start, next := s.window(v)
		if !matters(s.reached(st.Buckets[start])) {
			_, next = s.Window.Bounds(next, calendar.DayOf(v.Enrolled, v.Location))
			if !matters(s.reached(0)) {
				return time.Time{}
			}
		}
		return next.Begins(v.Location)
	case s.Window.Kind != calendar.WindowRolling:
		return time.Time{}
	case matters(s.entitled(st, v)):
		return (v.Today() + 1).Begins(v.Location)
	}

	return s.nextLeave(st, v, matters)
}

// nextLeave lets the days leave a rolling window one after the other. A day with more given back than earned lifts the
// figure when it leaves.
func (s *Structure) nextLeave(st *TierState, v TierView, matters func(rank int) bool) time.Time {
	figure, limit := s.Figure(st, v), s.Window.Limit(v.Today())
	days := slices.Sorted(maps.Keys(st.Buckets))
	for i, d := range days {
		if d <= limit {
			continue
		}
		figure = add(figure, -st.Buckets[d])
		on := s.Window.Leaves(d)
		if i+1 < len(days) && s.Window.Leaves(days[i+1]) == on {
			continue // they leave together
		}
		if matters(s.reached(figure)) {
			return on.Begins(v.Location)
		}
	}

	return time.Time{}
}

// prune removes what no figure needs any more.
func (s *Structure) prune(st *TierState, v TierView) {
	switch {
	case s.Window.Split():
		before, _, _ := s.window(v)
		maps.DeleteFunc(st.Buckets, func(d calendar.Day, _ int64) bool { return d < before })
	case s.Window.Kind == calendar.WindowRolling:
		limit := s.Window.Limit(v.Today())
		maps.DeleteFunc(st.Buckets, func(d calendar.Day, _ int64) bool { return d <= limit })
	}
}

// add adds two figures. A sum above any possible threshold stays at the maximum.
func add(a, b int64) int64 {
	sum, err := money.Add(money.Amount(a), money.Amount(b))
	switch {
	case err == nil:
		return int64(sum)
	case b > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}
