package action

import (
	"time"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// contest_entry_revoke takes entries of a contest back, the last ones first, also
// when it is over. With refund_points what they cost returns to the lots that
// paid, on a refund_contest_entry event.
var contestEntryRevoke = loyalty.Action[events.ContestEntryRevokeData]{
	Name: "contest_entry_revoke", Standing: loyalty.Earner,
	Needs: func(d events.ContestEntryRevokeData, n *loyalty.CustomerNeeds) {
		n.Progress = loyalty.Kinds(loyalty.ProgressContest)
		if deref(d.RefundPoints) {
			n.Lots = loyalty.UsedLots
		}
	},
	Apply: applyContestEntryRevoke,
}

func applyContestEntryRevoke(r *loyalty.Run, d events.ContestEntryRevokeData) error {
	var p loyalty.ContestProgress
	entered, err := r.Progress(loyalty.ProgressContest, d.ContestID, &p)
	if err != nil {
		return err
	}
	if !entered && r.Programme.Contests[d.ContestID] == nil {
		return loyalty.ErrEntityNotFound.With("type", "contests/contest").With("id", d.ContestID).At("data.contest_id")
	}
	count := p.Entries
	if d.Count != nil {
		count = *d.Count
	}
	if count == 0 || count > p.Entries {
		return loyalty.ErrEntriesTooFew.With("entries", p.Entries).At("data.count")
	}
	if err := revokeEntries(r, d, &p, count); err != nil {
		return err
	}
	key := loyalty.ProgressKey{Kind: loyalty.ProgressContest, Key: d.ContestID}
	if p.Entries == 0 {
		return r.SetProgress(r.Event, key, nil, time.Time{})
	}
	return r.SetProgress(r.Event, key, p, time.Time{})
}

func revokeEntries(r *loyalty.Run, d events.ContestEntryRevokeData, p *loyalty.ContestProgress, count int64) error {
	if !deref(d.RefundPoints) {
		return p.Revoke(count, nil)
	}
	var refund *loyalty.Event
	var returned int64
	err := p.Revoke(count, func(burn []points.Portion, n int64) ([]points.Portion, error) {
		// What point_unspend gave back meanwhile is not given back again.
		if n = min(n, r.Book.Restorable(burn)); n == 0 {
			return burn, nil
		}
		if refund == nil {
			refund = r.Derive(r.Event, "refund_contest_entry", map[string]string{"contest_id": d.ContestID})
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
