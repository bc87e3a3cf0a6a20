package loyalty

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
)

// join makes one progress of two documents of a kind: the one that this customer
// has, and the one of the customer who becomes part of them. key names the thing
// that both made progress with.
type join func(r *Run, key string, mine, theirs json.RawMessage) (any, error)

// joins says for each kind how two accounts of one person add up: what is counted
// is added, of what can happen once the first time stays, of two tiers the higher
// one does. A kind that is not in it would be lost, so that a test holds the table
// against the kinds.
var joins = map[ProgressKind]join{
	ProgressTier:      joinTiers,
	ProgressChallenge: joinChallenges,
	ProgressReward:    merged(func(a *RewardStanding, b RewardStanding) { a.Merge(b) }),
	ProgressContest: merged(func(a *ContestProgress, b ContestProgress) {
		a.Entries, a.Paid = a.Entries+b.Entries, append(a.Paid, b.Paid...)
	}),
	ProgressWheel: merged(joinSpins),
	ProgressTreasure: merged(func(a *TreasureProgress, b TreasureProgress) {
		if b.FoundAt.Before(a.FoundAt) {
			*a = b
		}
	}),
	ProgressOffer: merged(joinOffers),
	ProgressCampaign: merged(func(a *campaignCount, b campaignCount) {
		a.Count += b.Count
	}),
	ProgressQuiz: merged(func(a *QuizProgress, b QuizProgress) {
		if b.AnsweredAt.Before(a.AnsweredAt) {
			*a = b
		}
	}),
	ProgressFlow: merged(func(a *FlowProgress, b FlowProgress) {
		a.Rewarded = a.Rewarded || b.Rewarded
		for _, q := range b.Answered {
			if !slices.Contains(a.Answered, q) {
				a.Answered = append(a.Answered, q)
			}
		}
	}),
	ProgressHeld:     mine,
	ProgressReferral: mine,
}

// merged reads both documents and adds the second to the first.
func merged[D any](add func(*D, D)) join {
	return func(_ *Run, _ string, mine, theirs json.RawMessage) (any, error) {
		var a, b D
		if err := json.Unmarshal(mine, &a); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(theirs, &b); err != nil {
			return nil, err
		}
		add(&a, b)
		return a, nil
	}
}

// mine keeps this customer's: held events are told apart by their ids, and one
// friend brings one bonus.
func mine(_ *Run, _ string, mine, _ json.RawMessage) (any, error) { return mine, nil }

func joinSpins(a *WheelProgress, b WheelProgress) {
	switch {
	case a.Period == b.Period:
		a.Spins += b.Spins
	case a.Period < b.Period: // a later one
		a.Period, a.Spins = b.Period, b.Spins
	}
	a.Total += b.Total
}

func joinOffers(a *OfferProgress, b OfferProgress) {
	if a.ClaimedAt == nil || (b.ClaimedAt != nil && b.ClaimedAt.Before(*a.ClaimedAt)) {
		a.ClaimedAt = b.ClaimedAt
	}
	a.Redeemed += b.Redeemed
	a.Last = append(slices.Clone(b.Last), a.Last...)
	a.Last = a.Last[max(0, len(a.Last)-maxOfferUses):]
}

// joinTiers keeps the higher tier, and of those that were given by hand the higher
// one too. What the figures add up to is made again from both journals.
func joinTiers(r *Run, key string, mine, theirs json.RawMessage) (any, error) {
	s := Structures.Of(r.Programme)[key]
	if s == nil { // archived: what this customer had stays on record
		return mine, nil
	}
	return merged(func(a *TierState, b TierState) {
		if s.rank(b.Tier) > s.rank(a.Tier) {
			a.Tier, a.Since = b.Tier, b.Since
		}
		if s.rank(b.Earned) > s.rank(a.Earned) {
			a.Earned, a.GraceUntil = b.Earned, b.GraceUntil
		}
		longer := a.Manual == b.Manual && !a.ManualUntil.IsZero() && (b.ManualUntil.IsZero() || b.ManualUntil.After(a.ManualUntil))
		if s.rank(b.Manual) > s.rank(a.Manual) || (longer && b.Manual != "") {
			a.Manual, a.ManualUntil, a.ManualOver = b.Manual, b.ManualUntil, b.ManualOver
		}
		a.TierFigures = TierFigures{}
	})(r, key, mine, theirs)
}

// joinChallenges adds what was counted towards the same criteria; what was counted
// towards others is gone already.
func joinChallenges(r *Run, key string, mine, theirs json.RawMessage) (any, error) {
	return merged(func(a *ChallengeState, b ChallengeState) {
		c := Challenges.Of(r.Programme)[key]
		completions, completed := a.Completions+b.Completions, a.Completed
		kept, passed := slices.Concat(b.Kept, a.Kept), slices.Concat(b.Passed, a.Passed)
		if b.Completed.After(completed) {
			completed = b.Completed
		}
		switch {
		case c != nil && a.Of != c.of && b.Of == c.of:
			*a = b
		case a.Of == b.Of && len(a.Criteria) == len(b.Criteria):
			a.add(b)
		}
		a.Completions, a.Completed = completions, completed
		a.Kept, a.Passed = kept[max(0, len(kept)-maxKept):], passed
	})(r, key, mine, theirs)
}

// add adds counts towards the same criteria.
func (st *ChallengeState) add(o ChallengeState) {
	for i, n := range o.Criteria {
		st.Criteria[i] = min(maxSum, st.Criteria[i]+n)
	}
	st.Started = earlier(st.Started, o.Started)
	if len(st.Parts) == 0 {
		st.Sole = o.Sole
	} else if len(o.Parts) > 0 {
		st.Sole = ID{}
	}
	st.Parts = slices.Concat(st.Parts, o.Parts)
	if len(st.Days) != len(o.Days) {
		if st.Days == nil {
			st.Days = o.Days
		}
		return
	}
	for i, days := range o.Days {
		if st.Days[i] == nil {
			st.Days[i] = map[day]int64{}
		}
		for d, n := range days {
			st.Days[i][d] = min(maxSum, st.Days[i][d]+n)
		}
	}
}

// joinProgress moves what the source stood at, thing by thing. The source's rows
// go; the event tells that by whom it was merged from.
func (r *Run) joinProgress(s *Run) error {
	for _, key := range slices.SortedFunc(maps.Keys(s.account.progress), compareProgress) {
		p := s.account.progress[key]
		if p.Data == nil {
			continue
		}
		theirs, err := r.received(s, key, p.Data)
		if err != nil {
			return err
		}
		if err := r.joinOne(key, p, theirs); err != nil {
			return fmt.Errorf("joining progress %d %q: %w", key.Kind, key.Key, err)
		}
		s.account.progress[key] = &Progress{Customer: s.Customer.ID, ProgressKey: key, dirty: true}
	}
	return nil
}

func (r *Run) joinOne(key ProgressKey, p *Progress, theirs json.RawMessage) error {
	own := r.account.progress[key]
	if own == nil || own.Data == nil {
		return r.SetProgress(r.Event, key, theirs, p.DueAt)
	}
	add, known := joins[key.Kind]
	if !known {
		add = mine
	}
	sum, err := add(r, key.Key, own.Data, theirs)
	if err != nil {
		return err
	}
	return r.SetProgress(r.Event, key, sum, earlier(own.DueAt, p.DueAt))
}

// received is a document as the target may have it: what a held event sealed is
// sealed under the target's key from now on.
func (r *Run) received(s *Run, key ProgressKey, data json.RawMessage) (json.RawMessage, error) {
	if key.Kind != ProgressHeld {
		return data, nil
	}
	var h HeldEvent
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, err
	}
	id, err := uuid.Parse(key.Key)
	if err != nil {
		return nil, err
	}
	if h.Sealed, err = reseal(s.Customer.Key, r.Customer.Key, h.Sealed, id, id); err != nil {
		return nil, err
	}
	return marshal(h), nil
}
