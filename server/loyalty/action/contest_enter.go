package action

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// contestEntry are the attributes of contest_enter.
type contestEntry struct {
	ContestID string `json:"contest_id"`
	Count     *int64 `json:"count"`
}

// contest_enter gives the customer entries of a contest, each for its points:
// all of them or none. It answers loyalty.ContestEntries.
var contestEnter = engine.Action[contestEntry]{
	Name: "contest_enter", Standing: engine.Spender,
	Needs: func(_ contestEntry, n *loyalty.CustomerNeeds) {
		n.Lots, n.Progress = loyalty.OpenLots, loyalty.Kinds(loyalty.ProgressContest)
	},
	Check: func(d contestEntry) error {
		if d.Count != nil && (*d.Count < 1 || *d.Count > points.Max) {
			return loyalty.ErrPropertyInvalid.With("property", "count").With("reason", "range").At("data.count")
		}
		return nil
	},
	Apply: applyContestEnter,
}

// applyContestEnter checks the contest, takes the price and counts the entries. If the caller left the number out, the
// event is recorded with the number that was used.
func applyContestEnter(r *engine.Run, d contestEntry) error {
	count := int64(1)
	if d.Count != nil {
		count = *d.Count
	}

	c, p, err := game.MayEnter(r, d.ContestID, count)
	if err != nil {
		return err
	}

	// paid in one go: the lots that paid are kept with the entries, so that a refund finds them
	burn, err := pay(r, count*c.Points)
	if err != nil {
		return err
	}

	p.Enter(count, c.Points, burn)
	// the journal shows the number even if the caller left it out
	r.Record(contestEntry{c.ID, &count})
	r.Value = game.ContestEntries{ID: r.Event.ID, Contest: c.ID, Count: count, Entries: p.Entries,
		Points: count * c.Points}
	return r.SetProgress(r.Event, loyalty.ProgressKey{Kind: loyalty.ProgressContest, Key: c.ID}, p, time.Time{})
}

// pay takes n points for what the event brings, and returns the lots that paid.
func pay(r *engine.Run, n int64) ([]points.Portion, error) {
	if n == 0 {
		return nil, nil
	}
	burn, err := r.Book.Spend(r.Event.ID, n)
	if err != nil {
		return nil, r.NotEnough(n)
	}
	r.Event.Shown(-n)
	r.Trace("spend", "applied", "reason.spent", -n)
	return burn, nil
}
