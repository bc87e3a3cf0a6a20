package tier

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// ladder makes a structure of points with the tiers t0, t1 and so on.
func ladder(s Structure, thresholds ...int64) *Structure {
	s.ID, s.Base = "club", BasePoints
	if s.Downgrade == "" {
		s.Downgrade = downgradeAutomatic
	}
	for i, n := range thresholds {
		s.Tiers = append(s.Tiers, &Tier{ID: fmt.Sprint("t", i), Structure: s.ID, Threshold: money.Amount(n) * money.Unit})
	}
	return &s
}

// climber is a customer in a structure without an engine: what came due is looked
// at at its instant, as the engine does it.
type climber struct {
	s        *Structure
	loc      *time.Location
	enrolled time.Time
	st       TierState
	due      time.Time
	score    int64
	seq      int
}

func (c *climber) view(at time.Time) TierView {
	return TierView{At: at, Score: c.score, Enrolled: c.enrolled, Location: c.loc}
}

func (c *climber) judge(at time.Time) {
	c.s.judge(&c.st, c.view(at))
	c.s.prune(&c.st, c.view(at))
	c.due = c.s.due(&c.st, c.view(at))
}

// wait lets time pass.
func (c *climber) wait(t require.TestingT, until time.Time) {
	for !c.due.IsZero() && !c.due.After(until) {
		was := c.due
		c.judge(was)
		require.True(t, c.due.IsZero() || c.due.After(was), "what came due moves on")
	}
}

// earn books points at an instant, dated earlier where at is.
func (c *climber) earn(t require.TestingT, now, at time.Time, n int64) {
	c.wait(t, now)
	c.seq++
	p := loyalty.PastEntry{At: at, Score: n}
	p.Event[15], p.Event[14] = byte(c.seq), byte(c.seq>>8)
	if at.Before(now) {
		p.Booked = now
	}
	c.score += n
	l := tierLedger{structure: c.s, view: c.view(now)}
	l.count(&c.st.TierFigures, p)
	c.judge(now)
}

// plainLadder is the rule in so many words: it looks at every midnight and at
// every event, and adds everything up each time.
type plainLadder struct {
	*climber
	booked []loyalty.PastEntry
	held   int
	grace  time.Time
	last   time.Time
	tiers  []int64
	starts map[calendar.Day]calendar.Day
	floor  int       // what they had when a fall was foretold
	fell   time.Time // when they first had less
}

func (p *plainLadder) first(d calendar.Day) bool {
	epoch := calendar.DayOf(p.enrolled, p.loc)
	if p.s.Window.Kind == calendar.WindowCalendar {
		epoch = calendar.Civil(2000, time.January, 1)
		if p.s.Window.Anchor != "" {
			at, _ := time.Parse(time.DateOnly, "2000-"+p.s.Window.Anchor)
			epoch = calendar.Civil(at.Date())
		}
	}

	months := p.s.Window.Months
	if months == 0 {
		months = 12
	}

	y, m, dom := d.Date()
	ey, em, edom := epoch.Date()
	last := time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return ((y-ey)*12+int(m-em))%months == 0 && dom == min(edom, last)
}

// start finds the first day of the window that holds d.
func (p *plainLadder) start(d calendar.Day) calendar.Day {
	if start, known := p.starts[d]; known {
		return start
	}
	start := d
	for !p.first(start) {
		start--
	}
	p.starts[d] = start
	return start
}

// sum adds up what is dated in the window that holds a day, or up to that day.
func (p *plainLadder) sum(today calendar.Day) (n int64) {
	w := p.s.Window
	for _, e := range p.booked {
		d := calendar.DayOf(e.At, p.loc)
		switch w.Kind {
		case calendar.WindowRolling:
			begin := today - calendar.Day(w.Days)
			if w.Months > 0 {
				begin = today.PlusMonths(-w.Months)
			}
			if d <= begin {
				continue
			}
		case calendar.WindowCalendar, calendar.WindowAnniversary:
			closed := !e.Booked.IsZero() && p.start(calendar.DayOf(e.Booked, p.loc)) != p.start(d)
			if p.start(d) != p.start(today) || closed {
				continue
			}
		}

		n += e.Score
	}

	return n
}

func (p *plainLadder) entitled(today calendar.Day) int {
	n := p.sum(today)
	if p.s.Window.Split() {
		n = max(n, p.sum(p.start(today)-1))
	}
	rank := -1
	for i, need := range p.tiers {
		if max(n, 0) >= need {
			rank = i
		}
	}
	return rank
}

func (p *plainLadder) look(at time.Time) {
	today := calendar.DayOf(at, p.loc)
	midnight := at.Equal(today.Begins(p.loc))
	check := map[string]bool{calendar.WindowNone: true, calendar.WindowRolling: midnight}[p.s.Window.Kind] || (p.s.Window.Split() && midnight && p.first(today))
	entitled := p.entitled(today)
	switch {
	case entitled >= p.held:
		p.held, p.grace = entitled, time.Time{}
	case p.s.Downgrade != downgradeAutomatic:
	case !p.grace.IsZero():
		if !at.Before(p.grace) {
			p.held, p.grace = entitled, time.Time{}
		}
	case check && p.s.GraceDays == 0:
		p.held = entitled
	case check:
		if p.grace = (today + calendar.Day(p.s.GraceDays)).Begins(p.loc); !midnight {
			p.grace = (today + 1 + calendar.Day(p.s.GraceDays)).Begins(p.loc)
		}
	}

	if p.held < p.floor && p.fell.IsZero() {
		p.fell = at
	}
}

func (p *plainLadder) wait(until time.Time) {
	for d := calendar.DayOf(p.last, p.loc); ; d++ {
		at := d.Begins(p.loc)
		if at.After(until) {
			break
		}
		if at.After(p.last) {
			p.look(at)
		}
	}
	p.last = until
}

// TestTierRule holds the tiers of random histories against the plain rule: that
// the engine looks only when something can be lost must make no difference. What is
// foretold of a fall comes true where nothing happens until then.
func TestTierRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Structure{
			Window:    calendar.Window{Kind: rapid.SampledFrom([]string{calendar.WindowNone, calendar.WindowRolling, calendar.WindowCalendar, calendar.WindowAnniversary}).Draw(t, "window")},
			Downgrade: rapid.SampledFrom([]string{downgradeAutomatic, downgradeAutomatic, downgradeNone}).Draw(t, "downgrade"),
		}

		switch s.Window.Kind {
		case calendar.WindowRolling:
			if s.Window.Days = rapid.IntRange(0, 12).Draw(t, "days"); s.Window.Days == 0 {
				s.Window.Months = rapid.IntRange(1, 2).Draw(t, "months")
			}
		case calendar.WindowCalendar:
			s.Window.Anchor = rapid.SampledFrom([]string{"", "02-29", "01-31", "03-29"}).Draw(t, "anchor")
			s.Window.Months = rapid.IntRange(0, 2).Draw(t, "months")
		case calendar.WindowAnniversary:
			s.Window.Months = rapid.IntRange(0, 2).Draw(t, "months")
		}

		if s.Downgrade == downgradeAutomatic {
			s.GraceDays = rapid.SampledFrom([]int{0, 0, 1, 3, 40}).Draw(t, "grace")
		}

		thresholds := []int64{10, 20, 40}
		if rapid.Bool().Draw(t, "base tier") {
			thresholds[0] = 0
		}

		loc := tierZone(t, rapid.SampledFrom([]string{"UTC", "Europe/Budapest", "America/New_York", "Africa/Cairo"}).Draw(t, "zone"))
		now := time.Date(2028, 1, 25+rapid.IntRange(0, 70).Draw(t, "begins"), 22, 0, 0, 0, time.UTC)
		c := &climber{s: ladder(s, thresholds...), loc: loc, enrolled: now}
		p := &plainLadder{climber: c, held: -1, last: now, tiers: thresholds, starts: map[calendar.Day]calendar.Day{}}
		c.judge(now) // enrolled
		p.look(now)
		var foretold time.Time // when they lose what they have if nothing happens
		foretell := func() {
			foretold, p.floor, p.fell = c.s.ends(&c.st, c.view(now)), p.held, time.Time{}
		}
		came := func() {
			if p.fell.IsZero() {
				require.True(t, foretold.IsZero() || foretold.After(now), "foretold for %s, and kept until %s", foretold, now)
				return
			}
			require.Equal(t, p.fell.UTC(), foretold.UTC(), "lost when it was foretold")
		}

		same := func() {
			tier := ""
			if p.held >= 0 {
				tier = fmt.Sprint("t", p.held)
			}
			require.Equal(t, tier, c.st.Tier, "at %s: %+v", now, c.st)
			require.Equal(t, p.sum(calendar.DayOf(now, loc)), c.s.Figure(&c.st, c.view(now)), "figure at %s", now)
		}

		foretell()
		for range rapid.IntRange(1, 25).Draw(t, "events") {
			pass := rapid.OneOf(rapid.IntRange(0, 30), rapid.IntRange(0, 24*20)).Draw(t, "hours")
			now = now.Add(time.Duration(pass) * time.Hour)
			c.wait(t, now)
			p.wait(now)
			same()
			came()
			at := now
			if rapid.IntRange(0, 3).Draw(t, "late") == 0 {
				at = now.Add(-time.Duration(rapid.IntRange(0, 24*20).Draw(t, "hours late")) * time.Hour)
			}

			n := rapid.Int64Range(-15, 25).Draw(t, "points")
			c.earn(t, now, at, n)
			e := loyalty.PastEntry{At: at, Score: n}
			if at.Before(now) {
				e.Booked = now
			}

			p.booked = append(p.booked, e)
			p.look(now)
			same()
			foretell()
		}

		now = now.AddDate(2, 2, 0)
		c.wait(t, now)
		p.wait(now)
		same()
		came()
	})
}

// TestTierFiguresAreTheJournals: counted event by event or all at once, in any
// order, figures are the same (I10).
func TestTierFiguresAreTheJournals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := ladder(Structure{Window: calendar.Window{Kind: calendar.WindowRolling, Days: 9}}, 10)
		if rapid.Bool().Draw(t, "split") {
			s.Window = calendar.Window{Kind: calendar.WindowCalendar, Months: 1}
		}

		s.Base = rapid.SampledFrom([]string{BasePoints, BaseSpend}).Draw(t, "base")
		v := TierView{Location: tierZone(t, "Europe/Budapest"), At: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
		v.Enrolled = v.At
		var journal []loyalty.PastEntry
		totals := map[string]int64{}
		var one TierState
		l := tierLedger{structure: s, view: v}
		for i := range rapid.IntRange(0, 40).Draw(t, "events") {
			v.At = v.At.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "hours")) * time.Hour)
			p := loyalty.PastEntry{At: v.At, Score: rapid.Int64Range(-5, 20).Draw(t, "score"), Transaction: rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "purchase")}
			p.Event[0] = byte(i + 1)
			if rapid.IntRange(0, 4).Draw(t, "late") == 0 {
				p.At, p.Booked = v.At.Add(-time.Duration(rapid.IntRange(1, 400).Draw(t, "hours late"))*time.Hour), v.At
			}

			if total, bought := totals[p.Transaction]; rapid.Bool().Draw(t, "purchase changes") {
				state := loyalty.Accepted
				if !bought {
					total = rapid.Int64Range(0, 100).Draw(t, "total")
					state = rapid.SampledFrom([]loyalty.TransactionState{loyalty.Accepted, loyalty.Pending}).Draw(t, "state")
				} else {
					total -= rapid.Int64Range(0, total).Draw(t, "refund")
				}
				p.Effect = &loyalty.TransactionEffect{PurchaseState: loyalty.PurchaseState{State: state, Total: money.Parts(total)}}
				totals[p.Transaction] = total
			}

			journal = append(journal, p)
			l.view = v
			l.count(&one.TierFigures, p)
			s.prune(&one, v)
		}

		shuffled := rapid.Permutation(journal).Draw(t, "order")
		all := TierState{TierFigures: s.Rebuild(shuffled, v)}
		s.prune(&all, v)
		require.Equal(t, s.Figure(&one, v), s.Figure(&all, v))
		require.Equal(t, len(one.Buckets), len(all.Buckets))
		for d, n := range one.Buckets {
			require.Equal(t, n, all.Buckets[d])
		}
	})
}

// TestCountedOnce: an event that the figures hold already is not counted again.
func TestCountedOnce(t *testing.T) {
	s := ladder(Structure{Window: calendar.Window{Kind: calendar.WindowRolling, Days: 9}}, 10)
	v := TierView{Location: time.UTC, At: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	entries := make([]loyalty.PastEntry, 3)
	for i := range entries {
		entries[i] = loyalty.PastEntry{At: v.At, Score: 10}
		entries[i].Event[0] = byte(i + 1)
	}
	f := s.Rebuild(entries[:2], v)
	l := tierLedger{structure: s, view: v}
	for _, p := range slices.Concat(entries, entries) {
		l.count(&f, p)
	}
	require.Equal(t, map[calendar.Day]int64{tierDay(t, "2026-03-01"): 30}, f.Buckets)
}

// TestFiguresOfOldNodes: what was made of a journal while other nodes may not have
// known the structure yet is made once more, and only that.
func TestFiguresOfOldNodes(t *testing.T) {
	changed := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := ladder(Structure{Window: calendar.Window{Kind: calendar.WindowRolling, Days: 9}, ChangedAt: changed}, 10)

	for _, c := range []struct {
		built, now time.Duration
		fresh      bool
	}{
		{-time.Hour, time.Hour, true}, // only its name changed
		{0, time.Second, true},
		{0, settling, false},
		{settling - 1, time.Hour, false},
		{settling, time.Hour, true},
	} {
		f := TierFigures{Of: s.of(time.UTC), Built: changed.Add(c.built)}
		require.Equal(t, c.fresh, s.fresh(&f, changed.Add(c.now), time.UTC), "%+v", c)
		require.False(t, s.fresh(&f, changed.Add(c.now), tierZone(t, "Europe/Budapest")), "days are others in another zone")
	}
}

func TestTierStatus(t *testing.T) {
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	year := calendar.Window{Kind: calendar.WindowCalendar}

	for name, c := range map[string]struct {
		structure *Structure
		earn      []int64 // one a day up to at
		change    func(*TierState)
		want      TierStatus
		current   string
		next      string
	}{
		"nothing yet": {ladder(Structure{}, 10, 20), nil, nil, TierStatus{Missing: 10}, "", "t0"},
		"on the way":  {ladder(Structure{Window: year}, 10, 20), []int64{13}, nil, TierStatus{Figure: 13, Missing: 7, Since: at, Expires: time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)}, "t0", "t1"},
		"at the top":  {ladder(Structure{}, 10, 20), []int64{25}, nil, TierStatus{Figure: 25, Since: at}, "t1", ""},
		"never down": {
			ladder(Structure{Window: year, Downgrade: downgradeNone}, 10, 20), []int64{15, -10}, nil,
			TierStatus{Figure: 5, Missing: 15, Since: at.AddDate(0, 0, -1)}, "t0", "t1",
		},
		"the days leave": {
			ladder(Structure{Window: calendar.Window{Kind: calendar.WindowRolling, Days: 10}, GraceDays: 2}, 10, 20), []int64{5, 5, 0}, nil,
			TierStatus{Figure: 10, Missing: 10, Since: at.AddDate(0, 0, -1), Expires: time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)}, "t0", "t1",
		},
		"a day below zero leaves before the check": {
			ladder(Structure{Window: calendar.Window{Kind: calendar.WindowRolling, Days: 3}}, 10, 20), []int64{-8, 20, -3}, nil,
			TierStatus{Figure: 9, Missing: 11, Since: at.AddDate(0, 0, -1), Expires: time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC)}, "t0", "t1",
		},
		"a day below zero leaves within the grace days": {
			ladder(Structure{Window: calendar.Window{Kind: calendar.WindowRolling, Days: 4}, GraceDays: 3}, 10, 20), []int64{-8, 20, -3, 0}, nil,
			TierStatus{Figure: 9, Missing: 11, Since: at.AddDate(0, 0, -2), Expires: time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)}, "t0", "t1",
		},
		"by hand": {
			ladder(Structure{Window: year}, 10, 20), []int64{13},
			func(st *TierState) { st.Manual, st.ManualUntil, st.Tier = "t1", at.AddDate(0, 1, 0), "t1" },
			TierStatus{Figure: 13, Since: at, Expires: at.AddDate(0, 1, 0), Manual: true}, "t1", "",
		},
		"in grace": {
			ladder(Structure{GraceDays: 3}, 10, 20), []int64{20, -6}, nil,
			TierStatus{Figure: 14, Since: at.AddDate(0, 0, -1), Expires: time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)}, "t1", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c2 := &climber{s: c.structure, loc: time.UTC, enrolled: at.AddDate(-1, 0, 0)}
			for i, n := range c.earn {
				on := at.AddDate(0, 0, i+1-len(c.earn))
				c2.earn(t, on, on, n)
			}
			if c.change != nil {
				c.change(&c2.st)
			}
			got := c.structure.Status(&c2.st, c2.view(at))
			require.Equal(t, c.current, tierID(got.Current))
			require.Equal(t, c.next, tierID(got.Next))
			got.Current, got.Next, got.Structure = nil, nil, nil
			require.Equal(t, c.want, got)
		})
	}
}

func tierID(t *Tier) string {
	if t == nil {
		return ""
	}
	return t.ID
}

func tierZone(t require.TestingT, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

func tierDay(t require.TestingT, text string) (d calendar.Day) {
	require.NoError(t, d.UnmarshalText([]byte(text)))
	return d
}

// TestClosedWindows: what is dated in a window and booked at the first instant of the next one is counted in neither.
func TestClosedWindows(t *testing.T) {
	s := ladder(Structure{Window: calendar.Window{Kind: calendar.WindowCalendar, Months: 1}}, 10)
	april := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	v := TierView{At: april.AddDate(0, 0, 1), Enrolled: april.AddDate(-1, 0, 0), Location: time.UTC}
	booked := func(at time.Time) map[calendar.Day]int64 {
		return s.Rebuild([]loyalty.PastEntry{{Event: loyalty.ID{15: 1}, At: april.Add(-time.Hour), Booked: at, Score: 12}}, v).Buckets
	}
	require.Equal(t, map[calendar.Day]int64{calendar.Civil(2026, time.March, 1): 12}, booked(april.Add(-time.Millisecond)))
	require.Empty(t, booked(april))
}

// TestGivenBelowTheFigure: a tier that was given without an end below the one that the figure had reached is kept until
// the figure rises above that, and a fall lowers what it has to rise above.
func TestGivenBelowTheFigure(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	given := func() *climber {
		c := &climber{s: ladder(Structure{Window: calendar.Window{Kind: calendar.WindowNone}}, 10, 20, 30), loc: time.UTC, enrolled: now.AddDate(-1, 0, 0)}
		c.earn(t, now, now, 20)
		require.Equal(t, "t1", c.st.Tier)
		c.st.Manual, c.st.ManualOver = "t0", c.st.Earned
		c.judge(now)
		require.Equal(t, "t0", c.st.Tier, "what was given counts, though the figure has reached more")
		return c
	}

	c := given()
	c.earn(t, now, now, 5)
	require.Equal(t, "t0", c.st.Tier)
	c.earn(t, now, now, 5)
	require.Equal(t, "t2", c.st.Tier)

	c = given()
	c.earn(t, now, now, -15)
	require.Equal(t, "t0", c.st.Tier)
	c.earn(t, now, now, 15)
	require.Equal(t, "t1", c.st.Tier, "it rose above what it had fallen to")
}
