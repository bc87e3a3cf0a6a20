package programme

import (
	"encoding/json"
	"slices"
)

// Reminders is what customers are reminded of (points_economy.reminders), as numbers of days before the date of the
// reminder. For each date the nearest one is sent, once.
type Reminders struct {
	Points      []int `json:"points"`
	Tiers       []int `json:"tiers"`
	Coupons     []int `json:"coupons"`
	Challenges  []int `json:"challenges"`
	Inactivity  []int `json:"inactivity"` // days after the last activity
	Birthday    bool  `json:"birthday"`
	Anniversary bool  `json:"anniversary"`
}

// Bounds of reminders.
const (
	maxReminders   = 10 // of one kind
	maxRemindAhead = 3_650
)

func defaultReminders() Reminders {
	return Reminders{Points: []int{30, 7}, Tiers: []int{30, 7}, Coupons: []int{7}, Challenges: []int{3},
		Inactivity: []int{}, Birthday: true, Anniversary: true}
}

func readReminders(raw json.RawMessage) (Reminders, error) {
	c := defaultReminders()
	o := openObject(raw, "config.reminders")
	o.daysList("points", &c.Points)
	o.daysList("tiers", &c.Tiers)
	o.daysList("coupons", &c.Coupons)
	o.daysList("challenges", &c.Challenges)
	o.daysList("inactivity", &c.Inactivity)
	o.flag("birthday", &c.Birthday)
	o.flag("anniversary", &c.Anniversary)
	return c, o.done()
}

// daysList takes a list of numbers of days, without duplicates.
func (o *object) daysList(name string, into *[]int) {
	var list []int
	if !o.take(name, "array of integers", &list) {
		return
	}
	if len(list) > maxReminders {
		o.fail(name, "too_many", map[string]any{"limit": maxReminders})
	}

	for i, n := range list {
		switch {
		case n < 1:
			o.fail(name, "too_small", map[string]any{"limit": 1})
		case n > maxRemindAhead:
			o.fail(name, "too_large", map[string]any{"limit": maxRemindAhead})
		case slices.Contains(list[:i], n):
			o.fail(name, "not_unique", nil)
		}
	}

	*into = slices.Clone(list)
	if list == nil {
		*into = []int{}
	}
}

// None reports whether no reminders are configured.
func (r *Reminders) None() bool {
	return len(r.Points)+len(r.Tiers)+len(r.Coupons)+len(r.Challenges)+len(r.Inactivity) == 0 && !r.Birthday &&
		!r.Anniversary
}
