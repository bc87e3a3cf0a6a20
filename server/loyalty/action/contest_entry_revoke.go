package action

import (
	"time"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// contest_entry_revoke takes entries of a contest back, the last ones first, even after the contest has ended. With
// refund_points their price returns to the lots that paid, on a refund_contest_entry event.
var contestEntryRevoke = engine.Action[events.ContestEntryRevokeData]{
	Name: "contest_entry_revoke", Standing: engine.Earner,
	Needs: func(d events.ContestEntryRevokeData, n *loyalty.CustomerNeeds) {
		n.Progress = loyalty.Kinds(loyalty.ProgressContest)
		// used-up lots as well: the points go back into the lots that paid
		if deref(d.RefundPoints) {
			n.Lots = loyalty.UsedLots
		}
	},
	Apply: applyContestEntryRevoke,
}

// applyContestEntryRevoke also works for an archived contest: what customers have outlives it.
func applyContestEntryRevoke(r *engine.Run, d events.ContestEntryRevokeData) error {
	var p game.ContestProgress
	contest, err := revokedContest(r, d.ContestID)
	if err != nil {
		return err
	}

	entered, err := r.Progress(loyalty.ProgressContest, contest, &p)
	if err != nil {
		return err
	}
	if !entered && game.Contests.Of(r.Programme)[contest] == nil {
		return loyalty.ErrEntityNotFound.With("type", game.Contests.Type).With("id", contest).At("data.contest_id")
	}

	count := p.Entries
	if d.Count != nil {
		count = *d.Count
	}
	// all or none: a caller that counts differently must notice
	if count == 0 || count > p.Entries {
		return loyalty.ErrEntriesTooFew.With("entries", p.Entries).At("data.count")
	}
	if err := revokeEntries(r, d, &p, contest, count); err != nil {
		return err
	}

	key := loyalty.ProgressKey{Kind: loyalty.ProgressContest, Key: contest}
	// no row is kept for a customer without entries, as if they had never entered
	if p.Entries == 0 {
		return r.SetProgress(r.Event, key, nil, time.Time{})
	}

	return r.SetProgress(r.Event, key, p, time.Time{})
}

// revokedContest is the contest that is named, or the only one that the customer has entered.
func revokedContest(r *engine.Run, named *string) (string, error) {
	if named != nil {
		return *named, nil
	}
	return game.OnlyContest(r)
}

// revokeEntries takes entries back price by price. One refund event carries all points; without points to return there
// is none.
func revokeEntries(
	r *engine.Run, d events.ContestEntryRevokeData, p *game.ContestProgress, contest string, count int64,
) error {
	if !deref(d.RefundPoints) {
		return p.Revoke(count, nil)
	}

	var refund *loyalty.Event
	var returned int64
	err := p.Revoke(count, func(burn []points.Portion, n int64) ([]points.Portion, error) {
		// Points that point_unspend has given back meanwhile are not given back again.
		if n = min(n, r.Book.Restorable(burn)); n == 0 {
			return burn, nil
		}
		if refund == nil {
			// derived with the first points that come back, so that an empty refund leaves no event
			refund = r.Derive(r.Event, "refund_contest_entry", map[string]string{"contest_id": contest})
		}
		returned += n
		return r.Book.Restore(refund.ID, burn, n)
	})

	if refund != nil {
		refund.Shown(returned)
		r.Trace("refund_contest_entry", "applied", "reason.unspent", returned)
	}

	return err
}
