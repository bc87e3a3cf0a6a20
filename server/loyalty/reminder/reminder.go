// Package reminder reminds customers, once each, of points, coupons, tiers and challenges that are
// about to end, of their birthday and the anniversary of their enrolment, and after long
// inactivity. A reminder is an event of the journal, so that campaigns react to it and followers of
// events receive it.
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

// Feature keeps what customers have been reminded of. A merge joins both customers' reminders, so
// that the target is not reminded again.
var Feature = engine.Feature{Name: "reminders", Progress: loyalty.ProgressReminder,
	Join: engine.JoinBy(func(a *told, b told) {
		for subject, n := range b.Told {
			a.note(subject, n)
		}
	})}

// told has the reminders of one action that a customer has had, by subject.
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

// memory is how many days past reminders are kept, so that setting a clock back does not repeat them.
const memory = 400

// forget drops reminders that are too old to be repeated.
func (t *told) forget(today calendar.Day) {
	maps.DeleteFunc(t.Told, func(_ string, n note) bool { return n.Until+memory < today })
}

// reminder is one that is due.
type reminder struct {
	action  string
	subject string // what it is about; each subject is reminded of once
	note    note
	data    any
}

// view is a customer at an instant, with what deciding on reminders needs.
type view struct {
	*loyalty.Remindable
	programme *programme.Programme
	now       time.Time
	told      map[string]*told // by action, as far as it was read
	due       []reminder
}

// look finds the reminders that a customer is due.
func look(p *programme.Programme, now time.Time, c *loyalty.Remindable) (*view, error) {
	v := &view{Remindable: c, programme: p, now: now, told: map[string]*told{}}
	for _, find := range []func() error{v.points, v.coupons, v.tiers, v.challenges, v.days, v.silence} {
		if err := find(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// toldOf reads the reminders of an action that the customer has had.
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

// ahead is the reminder for something that ends, at the nearest of the configured numbers of days that has been
// reached. It is not due (ok is false) if a reminder for that number or a nearer one was already sent.
func (v *view) ahead(days []int, action, subject string, at time.Time) (n note, ok bool, err error) {
	if !at.After(v.now) {
		return n, false, nil // it has ended: a reminder would come too late
	}

	// Only the nearest. With thirty and seven days configured, only the reminder of seven days is sent if the job did
	// not run or the thing was created late.
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

// Wanted reports whether a customer is due any reminder. The job asks it first, because it needs no
// lock.
func Wanted(p *programme.Programme, now time.Time, c *loyalty.Remindable) (bool, error) {
	v, err := look(p, now, c)
	return err == nil && len(v.due) > 0, err
}

// Remind writes the reminders that a customer is due. It records them with the events, under the
// customer's version, so that two nodes at once do not send one twice.
func Remind(r *engine.Run) error {
	// A customer who was blocked, merged or forgotten after the job selected them gets no reminder.
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

	last := map[string]*loyalty.Event{} // the last event of each action, which carries the progress once for all
	for _, d := range v.due {
		e := r.Derive(nil, d.action, d.data)
		e.At = r.Now
		last[d.action] = e
		v.told[d.action].note(d.subject, d.note)
	}

	for _, action := range slices.Sorted(maps.Keys(last)) {
		t := v.told[action]
		t.forget(v.today())
		if err := r.SetProgress(last[action], loyalty.ProgressKey{Kind: loyalty.ProgressReminder, Key: action}, t,
			time.Time{}); err != nil {
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

	for _, kind := range []loyalty.ProgressKind{loyalty.ProgressReminder, loyalty.ProgressTier,
		loyalty.ProgressChallenge} {
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

// instant formats an instant as attributes of events do.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func dayText(d calendar.Day) string { return strconv.Itoa(int(d)) }
