package reminder

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// pointsExpiring are the attributes of points_expiring.
type pointsExpiring struct {
	Points    int64  `json:"points"`
	ExpiresAt string `json:"expires_at"`
	Days      int    `json:"days"`
}

// points finds spendable points that will expire. All that expire on one day share a reminder.
func (v *view) points() error {
	if !v.programme.On[programme.ModulePointsEconomy] {
		return nil
	}

	type batch struct {
		n  int64
		at time.Time
	}

	byDay := map[calendar.Day]batch{}
	for i := range v.Lots {
		l := &v.Lots[i]
		at := l.Expiry(v.LastActivity, v.programme.Location)
		// expired points have an event of their own
		if l.Remaining == 0 || at.IsZero() || !at.After(v.now) {
			continue
		}
		day := calendar.DayOf(at, v.programme.Location)
		b := byDay[day]
		// the earliest of the day, so that a customer who acts by then loses none of them
		b.n, b.at = b.n+l.Remaining, loyalty.Earlier(b.at, at)
		byDay[day] = b
	}

	// sorted, so that every node writes the same events in the same order
	for _, day := range slices.Sorted(maps.Keys(byDay)) {
		b := byDay[day]
		n, ok, err := v.ahead(v.programme.Reminders.Points, "points_expiring", dayText(day), b.at)
		if err != nil {
			return err
		}
		if ok {
			v.due = append(v.due, reminder{"points_expiring", dayText(day), n, pointsExpiring{b.n, instant(b.at), n.Days}})
		}
	}

	return nil
}

// couponExpiring are the attributes of coupon_expiring.
type couponExpiring struct {
	Code      string `json:"code"`
	ExpiresAt string `json:"expires_at"`
	Days      int    `json:"days"`
}

// coupons finds coupons of the customer that will expire soon, with a reminder for each.
func (v *view) coupons() error {
	if !v.programme.On[programme.ModuleCoupons] {
		return nil
	}

	for _, code := range slices.Sorted(maps.Keys(v.Coupons)) {
		at := v.Coupons[code]
		n, ok, err := v.ahead(v.programme.Reminders.Coupons, "coupon_expiring", code, at)
		if err != nil {
			return err
		}
		if ok {
			v.due = append(v.due, reminder{"coupon_expiring", code, n, couponExpiring{code, instant(at), n.Days}})
		}
	}

	return nil
}

// tierExpiring are the attributes of tier_expiring.
type tierExpiring struct {
	Structure string `json:"structure"`
	Tier      string `json:"tier"`
	ExpiresAt string `json:"expires_at"`
	Days      int    `json:"days"`
}

// tiers finds tiers that will end unless the customer does something. The day is part of the
// subject, so that a tier that was extended gets a new reminder.
func (v *view) tiers() error {
	if !v.programme.On[programme.ModuleTiers] || len(v.programme.Reminders.Tiers) == 0 {
		return nil
	}

	seen := tier.TierView{At: v.now, Score: v.Score, Enrolled: v.CreatedAt, Location: v.programme.Location}
	list, err := tier.Endings(v.programme, seen, v.progressOf(loyalty.ProgressTier))
	if err != nil {
		return err
	}

	for _, e := range list {
		// by day instead of instant: a shift within a day is no new end for the customer
		subject := e.Structure + "/" + e.Tier + "/" + dayText(calendar.DayOf(e.At, v.programme.Location))
		n, ok, err := v.ahead(v.programme.Reminders.Tiers, "tier_expiring", subject, e.At)
		if err != nil {
			return err
		}
		if ok {
			v.due = append(v.due, reminder{"tier_expiring", subject, n,
				tierExpiring{e.Structure, e.Tier, instant(e.At), n.Days}})
		}
	}

	return nil
}

// challengeEnding are the attributes of challenge_ending.
type challengeEnding struct {
	Challenge string `json:"challenge"`
	EndsAt    string `json:"ends_at"`
	Days      int    `json:"days"`
}

// challenges finds challenges that the customer began and that end soon.
func (v *view) challenges() error {
	if !v.programme.On[programme.ModuleChallenges] || len(v.programme.Reminders.Challenges) == 0 {
		return nil
	}

	list, err := challenge.Endings(v.programme, v.now, v.progressOf(loyalty.ProgressChallenge))
	if err != nil {
		return err
	}

	for _, e := range list {
		subject := e.Challenge + "/" + dayText(calendar.DayOf(e.At, v.programme.Location))
		n, ok, err := v.ahead(v.programme.Reminders.Challenges, "challenge_ending", subject, e.At)
		if err != nil {
			return err
		}
		if ok {
			v.due = append(v.due, reminder{"challenge_ending", subject, n, challengeEnding{e.Challenge, instant(e.At), n.Days}})
		}
	}

	return nil
}

// progressOf reads progress for the functions of tiers and challenges that otherwise read it in a run.
func (v *view) progressOf(kind loyalty.ProgressKind) func(string) json.RawMessage {
	return func(key string) json.RawMessage { return v.Progress[loyalty.ProgressKey{Kind: kind, Key: key}] }
}

// late is how many days after its day a reminder is still sent if the job did not run on time.
// Without it a job that stood still over midnight would miss a birthday for a whole year.
const late = 2

// anniversary are the attributes of anniversary.
type anniversary struct {
	Years int `json:"years"`
}

// days finds the birthday and the anniversary of the enrolment. Each comes once a year, even if
// the customer changes the date meanwhile.
func (v *view) days() error {
	if !v.programme.On[programme.ModulePointsEconomy] {
		return nil
	}

	enrolled := calendar.DayOf(v.CreatedAt, v.programme.Location)
	if born, err := time.Parse(time.DateOnly, v.Born); err == nil && v.programme.Reminders.Birthday {
		if year := v.on(born.Month(), born.Day()); year > 0 && enrolled <= v.today() {
			if err := v.yearly("birthday", year, struct{}{}); err != nil {
				return err
			}
		}
	}

	began, month, day := enrolled.Date()
	// the day of enrolment itself is no anniversary
	if year := v.on(month, day); v.programme.Reminders.Anniversary && year > began {
		return v.yearly("anniversary", year, anniversary{year - began})
	}

	return nil
}

// on is the year in which this date is today or was at most late days ago; 0: neither. 29 February is 28 February in
// other years.
func (v *view) on(month time.Month, dom int) int {
	today := v.today()
	for d := today; d >= today-late; d-- {
		year, m, day := d.Date()
		last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
		if m == month && day == min(dom, last) {
			return year
		}
	}
	return 0
}

// yearly adds a reminder that is sent once a year, by using the year as its subject.
func (v *view) yearly(action string, year int, data any) error {
	t, err := v.toldOf(action)
	if err != nil {
		return err
	}
	subject := strconv.Itoa(year)
	if _, was := t.Told[subject]; !was {
		v.due = append(v.due, reminder{action, subject, note{Until: v.today()}, data})
	}
	return nil
}

// inactivity are the attributes of inactivity.
type inactivity struct {
	Days  int    `json:"days"`
	Since string `json:"since"`
}

// silence finds how long the customer has been inactive: the largest configured number of days that
// has passed, unless that reminder or a later one was already sent for the same period.
func (v *view) silence() error {
	if !v.programme.On[programme.ModulePointsEconomy] {
		return nil
	}

	// a customer who never did anything has been inactive since they joined
	since := v.LastActivity
	if since.IsZero() {
		since = v.CreatedAt
	}

	days := 0
	for _, d := range v.programme.Reminders.Inactivity {
		if !v.now.Before(since.AddDate(0, 0, d)) {
			// only the largest: after an outage of the job, three reminders at once would be too many
			days = max(days, d)
		}
	}

	if days == 0 {
		return nil
	}

	t, err := v.toldOf("inactivity")
	if err != nil {
		return err
	}

	subject := strconv.FormatInt(since.UnixMilli(), 10)
	// a longer silence gets another reminder, a new silence starts from the beginning
	if before, was := t.Told[subject]; !was || days > before.Days {
		v.due = append(v.due, reminder{"inactivity", subject, note{days, v.today()}, inactivity{days, instant(since)}})
	}

	return nil
}
