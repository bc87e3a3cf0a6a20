// Package game has the games that customers take part in: contests, prize wheels, quizzes, treasure
// hunts and flows of profiling questions.
package game

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Contest is a contest that customers enter for points (contests/contest).
type Contest struct {
	ID          string        `json:"-"`
	Title       loyalty.Texts `json:"title"`
	Description loyalty.Texts `json:"description"`
	Points      int64         `json:"points"`      // what one entry costs
	MaxEntries  *int64        `json:"max_entries"` // of one customer; nil: no limit
	loyalty.Dates

	// Custom holds the programme's custom attributes, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// Contests are the contests (module contests).
var Contests = &programme.EntityType[*Contest]{Type: "contests/contest",
	Module: programme.ModuleContests, Read: readContest}

func readContest(p *programme.Programme, e loyalty.Entity) (*Contest, error) {
	c := &Contest{ID: e.ID, Custom: programme.CustomFields(e)}
	if err := programme.Decode(e, c); err != nil {
		return nil, err
	}
	return c, programme.CheckDates(c.Dates)
}

// ContestEntries is the result of contest_enter.
type ContestEntries struct {
	ID      loyalty.ID `json:"id"` // the event that records them
	Contest string     `json:"contest"`
	Count   int64      `json:"count"`   // entries that were made
	Entries int64      `json:"entries"` // entries that the customer has now
	Points  int64      `json:"points"`  // what they cost
}

// ContestProgress is a customer's progress with a contest.
type ContestProgress struct {
	Entries int64         `json:"entries"`
	Paid    []PaidEntries `json:"paid"` // the same entries by what they cost, the last ones at the end
}

// PaidEntries are entries of one price.
type PaidEntries struct {
	Count  int64            `json:"count"`
	Points int64            `json:"points"`         // what each of them cost
	Burn   []points.Portion `json:"burn,omitempty"` // the lots that paid, less what came back
}

// Enter adds entries at a price each; burn names the lots that paid.
func (p *ContestProgress) Enter(count, price int64, burn []points.Portion) {
	p.Entries += count
	if last := len(p.Paid) - 1; last >= 0 && p.Paid[last].Points == price {
		p.Paid[last].Count += count
		p.Paid[last].Burn = joinPortions(p.Paid[last].Burn, burn)
		return
	}
	p.Paid = append(p.Paid, PaidEntries{count, price, burn})
}

// Revoke removes the last entries: a customer who has second thoughts means the last purchase. For entries that cost
// something, refund gets the lots that paid and the number of points, and returns what is left of the lots; a nil
// refund keeps the points spent. There must be at least count entries.
func (p *ContestProgress) Revoke(
	count int64, refund func(burn []points.Portion, n int64) ([]points.Portion, error),
) (err error) {
	p.Entries -= count
	for i := len(p.Paid) - 1; i >= 0 && count > 0; i-- {
		paid := &p.Paid[i]
		n := min(count, paid.Count)
		if refund != nil && paid.Points > 0 {
			if paid.Burn, err = refund(paid.Burn, n*paid.Points); err != nil {
				return err
			}
		}
		if paid.Count -= n; paid.Count == 0 {
			p.Paid = p.Paid[:i]
		}
		count -= n
	}

	return nil
}

// MayEnter returns a contest that accepts count more entries of the customer, and their entries so
// far. Besides the failures of InForce it fails with ErrEntriesLimit, and with ErrNotEnoughToSpend.
func MayEnter(r *engine.Run, id string, count int64) (*Contest, ContestProgress, error) {
	var p ContestProgress
	ref := engine.Reference{Type: "contests/contest", ID: id}
	c, err := engine.InForce(r, Contests.Of(r.Programme), ref)
	if err != nil {
		return nil, p, err
	}
	if _, err := r.Progress(loyalty.ProgressContest, c.ID, &p); err != nil {
		return nil, p, err
	}

	switch {
	case c.MaxEntries != nil && p.Entries+count > *c.MaxEntries:
		ref.Field = "data.count"
		return nil, p, r.Refuse(ref, "reason.limit", loyalty.ErrEntriesLimit.With("limit", *c.MaxEntries))
	// compared by division, because the product may exceed 64 bits
	case c.Points > 0 && count > points.Max/c.Points:
		return nil, p, r.NotEnough(points.Max)
	}

	return c, p, r.Afford(count * c.Points)
}

// ContestOutlook is a customer's standing with a contest.
type ContestOutlook struct {
	Refusal error  // the error that one more entry would get; nil: it would be accepted
	Entries int64  // entries of the customer
	Left    *int64 // entries that the limit still allows; nil: no limit
}

// OutlookOnContest evaluates a contest by the rules of contest_enter.
func OutlookOnContest(r *engine.Run, c *Contest) (o ContestOutlook, err error) {
	var p ContestProgress
	if _, err = r.Progress(loyalty.ProgressContest, c.ID, &p); err != nil {
		return o, err
	}
	o.Entries = p.Entries
	if c.MaxEntries != nil {
		o.Left = new(max(0, *c.MaxEntries-p.Entries))
	}
	o.Refusal, err = r.Outlook("contest_enter", func() error {
		_, _, err := MayEnter(r, c.ID, 1)
		return err
	})
	return o, err
}

// joinPortions appends later portions. If the last lot of the first list is the first one of the second, it becomes one
// portion.
func joinPortions(first, second []points.Portion) []points.Portion {
	if n := len(first); n > 0 && len(second) > 0 && first[n-1].Lot == second[0].Lot {
		first[n-1].Points += second[0].Points
		second = second[1:]
	}
	return append(first, second...)
}

// ContestFeature is the module contests.
var ContestFeature = engine.Feature{Name: "contests", Progress: loyalty.ProgressContest,
	Join: engine.JoinBy(func(a *ContestProgress, b ContestProgress) {
		a.Entries, a.Paid = a.Entries+b.Entries, append(a.Paid, b.Paid...)
	})}

// OnlyContest returns the only contest with entries of the customer, for an event that names none. It fails with
// ErrEntriesTooFew, and with ErrSeveral.
func OnlyContest(r *engine.Run) (string, error) {
	all, err := r.ProgressOf(loyalty.ProgressContest)
	if err != nil {
		return "", err
	}
	id, err := engine.OnlyOne("contest_id", all, loyalty.ErrEntriesTooFew.With("entries", int64(0)))
	if err != nil {
		return "", err
	}
	return id, r.FillIn("contest_id", id)
}
