package statistics

import (
	"cmp"
	"context"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
)

// Interval is the length of a period.
type Interval string

// The intervals. A week begins on Monday.
const (
	Day   Interval = "day"
	Week  Interval = "week"
	Month Interval = "month"
)

// maxSeries is the most parts of a breakdown that are shown, the greatest first.
const maxSeries = 100

// Range is a range of days, both ends included.
type Range struct{ First, Last calendar.Day }

// Query selects what is read.
type Query struct {
	Metric   Metric
	By       string // one of Metric.By; empty: no breakdown
	Range    Range
	Interval Interval
}

// Answer holds the figures of a range.
type Answer struct {
	Zone     string
	At       time.Time      // when it was read
	Complete bool           // everything that was committed before is included
	Behind   int64          // so many events are not included
	Taken    time.Time      // the last snapshot; zero: there was none
	Periods  []calendar.Day // the first day of each
	Series   []Series
	LeftOff  int // parts that are not shown
}

// Series holds the figures of one part, one for each period.
type Series struct {
	Key    loyalty.FigureKey
	Total  Value
	Values []Value
}

// Value is a figure. For a ratio it is the numerator, and Of the denominator.
type Value struct {
	Known bool // false: there was no snapshot
	N     big.Int
	Of    big.Int
}

// Today returns the day of the programme, and its time zone.
func (s *Statistics) Today() (today calendar.Day, location *time.Location) {
	location = s.programmes.Programme().Location
	return calendar.DayOf(s.now(), location), location
}

// Read returns the figures of ranges, including everything that was committed before. Each range is
// divided into periods of its own days.
func (s *Statistics) Read(ctx context.Context, q Query, more ...Range) ([]Answer, error) {
	f, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}

	var answers []Answer
	for _, r := range append([]Range{q.Range}, more...) {
		q.Range = r
		a := Answer{
			Zone: f.state.Zone, At: s.now(), Behind: f.state.Behind, Complete: f.state.Whole && f.state.Behind == 0,
			Taken: f.state.Photographed, Periods: q.periods(),
		}
		if err := s.fill(ctx, &a, &q); err != nil {
			return nil, loyalty.OutcomeError(err)
		}
		answers = append(answers, a)
	}

	return answers, nil
}

// fill reads the figures of an answer. If there are more parts than can be shown it reads twice:
// first to find the greatest, then those.
func (s *Statistics) fill(ctx context.Context, a *Answer, q *Query) error {
	wanted := loyalty.FigureQuery{Metrics: q.Metric.sources(), By: q.By,
		First: int(q.Range.First), Last: int(q.Range.Last)}
	v := view{
		Query: q, periods: a.Periods, currency: s.programmes.Programme().Settings.Currency,
		known:  make([]bool, len(a.Periods)),
		totals: map[loyalty.FigureKey]*big.Int{}, byKey: map[loyalty.FigureKey]*Series{},
	}

	if q.Metric.State {
		whole := wanted
		whole.By = ""
		v.lastDays = make([]int, len(a.Periods))
		if err := s.store.Figures(ctx, whole, v.photographed); err != nil {
			return err
		}
	} else {
		for i := range v.known {
			v.known[i] = true
		}
	}

	if err := s.store.Figures(ctx, wanted, v.weigh); err != nil {
		return err
	}

	if wanted.Keys, a.LeftOff = v.choose(); len(wanted.Keys) > 0 {
		if err := s.store.Figures(ctx, wanted, v.count); err != nil {
			return err
		}
	}

	a.Series = v.series()
	return nil
}

// starts returns the first day of the period that contains a day.
func (i Interval) starts(d calendar.Day) calendar.Day {
	switch i {
	case Week:
		return d - calendar.Day((int(d)+3)%7) // 1970-01-01 was a Thursday
	case Month:
		year, month, _ := d.Date()
		return calendar.Civil(year, month, 1)
	}
	return d
}

// next returns the first day of the period after the one that begins on d.
func (i Interval) next(d calendar.Day) calendar.Day {
	switch i {
	case Week:
		return d + 7
	case Month:
		return d.PlusMonths(1)
	}
	return d + 1
}

// periods returns the first days of the periods of the range, beginning with the range's own first
// day: the first and the last period may be shorter.
func (q *Query) periods() (list []calendar.Day) {
	for d := q.Interval.starts(q.Range.First); d <= q.Range.Last; d = q.Interval.next(d) {
		list = append(list, max(d, q.Range.First))
	}
	return list
}

// view turns figures into series. For a part that is not shown it keeps only the total, because callers name stores and
// channels, and there may be any number of them.
type view struct {
	*Query
	periods  []calendar.Day
	currency string
	known    []bool // by period; false for one without a snapshot
	lastDays []int  // by period, the day of its last snapshot; nil: the metric is no state
	totals   map[loyalty.FigureKey]*big.Int
	shown    []*Series
	byKey    map[loyalty.FigureKey]*Series // nil: there are more parts than are shown, and none was chosen yet
}

// period returns the index of the period of a day. Days before the first period are not read.
func (v *view) period(day int) int {
	at, found := slices.BinarySearch(v.periods, calendar.Day(day))
	if !found {
		at--
	}
	return at
}

// photographed records the day of a snapshot: the last one of a period counts.
func (v *view) photographed(f *loyalty.Figure) {
	at := v.period(f.Day)
	v.known[at], v.lastDays[at] = true, max(v.lastDays[at], f.Day)
}

// counts reports whether a figure counts: for a state only that of the last snapshot of its period
// does.
func (v *view) counts(f *loyalty.Figure) bool {
	return v.lastDays == nil || v.lastDays[v.period(f.Day)] == f.Day
}

// weigh adds a figure to the total of its part; for a state the last one replaces it.
func (v *view) weigh(f *loyalty.Figure) {
	if !v.counts(f) {
		return
	}

	key := v.key(f)
	total := v.totals[key]
	if total == nil {
		total = &big.Int{}
		v.totals[key] = total
		if len(v.totals) > maxSeries {
			v.byKey = nil
		} else if v.byKey != nil {
			v.byKey[key] = v.empty(key)
		}
	}

	v.count(f)
	if v.lastDays != nil && v.period(f.Day) != v.lastKnown() || v.Metric.Unit == Ratio && f.Metric == v.Metric.Of[1] {
		return
	}

	total.Add(total, &f.Value)
}

// lastKnown returns the last period of which anything is known.
func (v *view) lastKnown() int {
	last := len(v.known) - 1
	for last > 0 && !v.known[last] {
		last--
	}
	return last
}

// key returns the part that a figure belongs to.
func (v *view) key(f *loyalty.Figure) loyalty.FigureKey {
	key := f.Key
	if key.Currency == "" && (v.Metric.Unit == Money || key.By == byCurrency) {
		key.Currency = v.currency
	}
	return key
}

// choose makes the series of the parts to show, the greatest first. It returns the keys under which
// their figures are stored if they still have to be read, and how many parts are left out.
func (v *view) choose() (keys []loyalty.FigureKey, leftOff int) {
	// the whole is always shown, even if nothing was counted; except for money, which then has no currency
	if whole := (loyalty.FigureKey{}); v.By == "" && v.Metric.Unit != Money && v.totals[whole] == nil {
		v.totals[whole] = &big.Int{}
	}

	shown := slices.SortedFunc(maps.Keys(v.totals), func(a, b loyalty.FigureKey) int {
		return cmp.Or(v.totals[b].Cmp(v.totals[a]), strings.Compare(a.String(), b.String()))
	})
	if len(shown) > maxSeries {
		shown, leftOff = shown[:maxSeries], len(shown)-maxSeries
	}

	counted := v.byKey
	v.byKey = make(map[loyalty.FigureKey]*Series, len(shown))
	for _, key := range shown {
		s := counted[key]
		if s == nil {
			s = v.empty(key)
		}
		v.shown, v.byKey[key] = append(v.shown, s), s
		if counted != nil {
			continue
		}
		keys = append(keys, key)
		if kept := key; key.Currency != "" && key.Currency == v.currency { // see key
			kept.Currency = ""
			keys = append(keys, kept)
		}
	}

	v.totals = nil
	return keys, leftOff
}

// count adds a figure to the series of its part, if that is shown.
func (v *view) count(f *loyalty.Figure) {
	if s := v.byKey[v.key(f)]; s != nil && v.counts(f) {
		s.Values[v.period(f.Day)].count(&v.Metric, f)
	}
}

// series returns the parts with their totals, the greatest first; figures that arrived between the
// two reads are included.
func (v *view) series() []Series {
	list := make([]Series, len(v.shown))
	for i, s := range v.shown {
		s.sum(v.Metric.State)
		list[i] = *s
	}
	slices.SortStableFunc(list, func(a, b Series) int { return b.Total.N.Cmp(&a.Total.N) })
	return list
}

// empty makes the series of a part without figures: a period in which nothing happened shows 0, one
// without a snapshot is unknown.
func (v *view) empty(key loyalty.FigureKey) *Series {
	s := &Series{Key: key, Values: make([]Value, len(v.periods))}
	for i, known := range v.known {
		s.Values[i].Known = known
	}
	return s
}

// sum makes the total; for a state it is the last value.
func (s *Series) sum(state bool) {
	for i := range s.Values {
		v := &s.Values[i]
		if !v.Known {
			continue
		}
		if state {
			s.Total.N.SetInt64(0)
		}
		s.Total.Known = true
		s.Total.N.Add(&s.Total.N, &v.N)
		s.Total.Of.Add(&s.Total.Of, &v.Of)
	}
}

// count adds a figure to a value.
func (v *Value) count(m *Metric, f *loyalty.Figure) {
	if m.Unit == Ratio && f.Metric == m.Of[1] {
		v.Of.Add(&v.Of, &f.Value)
		return
	}
	v.N.Add(&v.N, &f.Value)
}

// Before returns the range of the same length that ends where this one begins: as many whole
// months, or as many days.
func (r Range) Before() Range {
	_, _, first := r.First.Date()
	_, _, after := (r.Last + 1).Date()
	if first == 1 && after == 1 {
		return Range{r.First.PlusMonths(-r.months()), r.First - 1}
	}
	return Range{r.First - (r.Last - r.First) - 1, r.First - 1}
}

// months returns how many whole months the range has, 0 if it is not made of whole months.
func (r Range) months() int {
	y1, m1, _ := r.First.Date()
	y2, m2, _ := (r.Last + 1).Date()
	return (y2-y1)*12 + int(m2) - int(m1)
}

// From returns the range of the same length that begins on a day.
func (r Range) From(first calendar.Day) Range {
	_, _, begins := r.First.Date()
	_, _, after := (r.Last + 1).Date()
	if _, _, day := first.Date(); begins == 1 && after == 1 && day == 1 {
		return Range{first, first.PlusMonths(r.months()) - 1}
	}
	return Range{first, first + r.Last - r.First}
}

// ParseDay parses a day, YYYY-MM-DD.
func ParseDay(text string) (calendar.Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, err
	}
	return calendar.DayOf(t, time.UTC), nil
}
