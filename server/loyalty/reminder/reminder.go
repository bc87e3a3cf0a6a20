// Package reminder is what customers are reminded of, once each: points, coupons, tiers and
// challenges that end, their birthday, the day of their enrolment, a long silence. A
// reminder is an event of the journal, so campaigns react to it and whoever follows
// events hears of it.
package reminder

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Feature keeps what customers were reminded of. Who becomes part of another brings it
// along.
var Feature = engine.Feature{Name: "reminders", Progress: loyalty.ProgressReminder, Join: engine.JoinBy(func(a *told, b told) {
	for subject, n := range b.Told {
		a.note(subject, n)
	}
})}

// told is what a customer was reminded of by one action, by what it was about.
type told struct {
	Told map[string]note `json:"told"`
}

// note is one reminder: its days, and the day after which it can be forgotten.
type note struct {
	Days  int          `json:"days"`
	Until calendar.Day `json:"until"`
}

func (t *told) note(subject string, n note) {
	if t.Told == nil {
		t.Told = map[string]note{}
	}
	t.Told[subject] = n
}

// memory is for how many days what is over is remembered, so that a clock that is set back
// repeats nothing.
const memory = 400

// forget drops what is past being reminded of.
func (t *told) forget(today calendar.Day) {
	maps.DeleteFunc(t.Told, func(_ string, n note) bool { return n.Until+memory < today })
}

// reminder is one that is due.
type reminder struct {
	action  string
	subject string // what it is about: it is told once
	note    note
	data    any
}

// view is a customer at an instant, as reminders see them.
type view struct {
	*loyalty.Remindable
	programme *programme.Programme
	now       time.Time
	told      map[string]*told // by action, as far as it was looked at
	due       []reminder
}

// look finds what a customer has to be reminded of.
func look(p *programme.Programme, now time.Time, c *loyalty.Remindable) (*view, error) {
	v := &view{Remindable: c, programme: p, now: now, told: map[string]*told{}}
	for _, find := range []func() error{v.points, v.coupons, v.tiers, v.challenges, v.days, v.silence} {
		if err := find(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// toldOf reads what the customer was told by an action.
func (v *view) toldOf(action string) (*told, error) {
	if t := v.told[action]; t != nil {
		return t, nil
	}
	t := &told{}
	v.told[action] = t
	if data := v.Progress[loyalty.ProgressKey{Kind: loyalty.ProgressReminder, Key: action}]; data != nil {
		return t, json.Unmarshal(data, t)
	}
	return t, nil
}

func (v *view) today() calendar.Day { return calendar.DayOf(v.now, v.programme.Location) }

// ahead is the reminder for something that ends: the nearest of the days that has come,
// unless that one, or a nearer one, was told. ok: it is due.
func (v *view) ahead(days []int, action, subject string, at time.Time) (n note, ok bool, err error) {
	if !at.After(v.now) {
		return n, false, nil
	}
	for _, d := range days {
		if !v.now.Before(at.AddDate(0, 0, -d)) && (n.Days == 0 || d < n.Days) {
			n.Days = d
		}
	}
	if n.Days == 0 {
		return n, false, nil
	}
	t, err := v.toldOf(action)
	if err != nil {
		return n, false, err
	}
	before, was := t.Told[subject]
	n.Until = calendar.DayOf(at, v.programme.Location)
	return n, !was || n.Days < before.Days, nil
}

// Wanted says whether a customer has to be reminded of anything.
func Wanted(p *programme.Programme, now time.Time, c *loyalty.Remindable) (bool, error) {
	v, err := look(p, now, c)
	return err == nil && len(v.due) > 0, err
}

// Remind writes the reminders that a customer is due. What was told is kept in the name of
// the events, so that nothing is told twice, whoever looks at the same time.
func Remind(r *engine.Run) error {
	if s := r.Customer.Status; s != loyalty.Active && s != loyalty.Suspended {
		return nil
	}
	c, err := remindable(r)
	if err != nil {
		return err
	}
	v, err := look(r.Programme, r.Now, c)
	if err != nil {
		return err
	}
	last := map[string]*loyalty.Event{}
	for _, d := range v.due {
		e := r.Derive(nil, d.action, d.data)
		e.At = r.Now
		last[d.action] = e
		v.told[d.action].note(d.subject, d.note)
	}
	for _, action := range slices.Sorted(maps.Keys(last)) {
		t := v.told[action]
		t.forget(v.today())
		if err := r.SetProgress(last[action], loyalty.ProgressKey{Kind: loyalty.ProgressReminder, Key: action}, t, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// remindable is the customer of a run.
func remindable(r *engine.Run) (*loyalty.Remindable, error) {
	c := &loyalty.Remindable{
		Customer: r.Customer.ID, Born: r.Customer.Profile.BirthDate, CreatedAt: r.Customer.CreatedAt,
		LastActivity: r.Book.LastActivity, Score: r.Book.Figures.Score, Progress: map[loyalty.ProgressKey]json.RawMessage{},
	}
	for _, l := range r.Book.Lots() {
		c.Lots = append(c.Lots, *l)
	}
	var err error
	if c.Coupons, err = r.Coupons().ClaimedUntil(); err != nil {
		return nil, err
	}
	for _, kind := range []loyalty.ProgressKind{loyalty.ProgressReminder, loyalty.ProgressTier, loyalty.ProgressChallenge} {
		keys, err := r.ProgressOf(kind)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			k := loyalty.ProgressKey{Kind: kind, Key: key}
			c.Progress[k] = r.ProgressRow(k).Data
		}
	}
	return c, nil
}

// instant is how attributes of events write one.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func dayText(d calendar.Day) string { return strconv.Itoa(int(d)) }
