package challenge

import (
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// uncount subtracts a count from the days that still have it, and leaves the rest in k: that part is kept elsewhere, or
// has aged out.
func uncount(k *loyalty.Counting, criteria []int64, days []map[calendar.Day]int64) (found bool) {
	for i := range min(len(k.Moves), len(criteria)) {
		n := min(k.Moves[i], criteria[i])
		if len(days) == len(criteria) {
			n = min(n, days[i][k.Day])
		}
		if n <= 0 {
			continue
		}
		if len(days) == len(criteria) { // the caller passed its own maps
			if days[i][k.Day] -= n; days[i][k.Day] == 0 {
				delete(days[i], k.Day)
			}
		}
		criteria[i], k.Moves[i], found = criteria[i]-n, k.Moves[i]-n, true
	}

	return found
}

// nothing clears the attribution and the start of the progress once there is no progress.
func (st *ChallengeState) nothing() {
	// otherwise the window would go on running with nothing in it
	if !slices.ContainsFunc(st.Criteria, positive) {
		st.Started, st.Parts, st.Sole = time.Time{}, nil, loyalty.ID{}
	}
}

func positive(n int64) bool { return n > 0 }

// holds reports whether a completion still has enough counts.
func holds(k *loyalty.Completion) bool {
	for i, n := range k.Needs {
		if i >= len(k.Criteria) || k.Criteria[i] < n {
			return false
		}
	}
	return true
}

// own is a copy of the completion whose counts can be changed.
func own(k loyalty.Completion) loyalty.Completion {
	k.Criteria, k.Days = slices.Clone(k.Criteria), cloneDays(k.Days)
	return k
}

// own is a copy of the state whose counts can be changed.
func (st ChallengeState) own() ChallengeState {
	st.Criteria, st.Days = slices.Clone(st.Criteria), cloneDays(st.Days)
	return st
}

func cloneDays(days []map[calendar.Day]int64) []map[calendar.Day]int64 {
	days = slices.Clone(days)
	for i := range days {
		days[i] = maps.Clone(days[i])
	}
	return days
}

// fill tops up a completion that lost a part with counts made since, so that a customer who has replaced the part
// meanwhile keeps the completion. If that is not enough, the completion's remaining counts become progress. c is the
// challenge as it is now, or nil if it is gone.
func (st *ChallengeState) fill(k *loyalty.Completion, c *Challenge) (filled bool) {
	same := c != nil && c.of == k.Of
	if same && st.Of != k.Of { // counts for other criteria are void
		c.reset(st)
	}
	if st.Of != k.Of || len(st.Criteria) != len(k.Criteria) {
		return false
	}

	// from the earliest window on: it borrows the days that the next completion would lose first
	for _, end := range ends(k, st) {
		all, left := own(*k), st.own()
		for i := range all.Criteria {
			let(&all, i, end)
			if n := all.Needs[i] - all.Criteria[i]; n > 0 {
				if !same || c.Criteria[i].Sum != "" {
					n = maxSum // a sum cannot be split, so all of it is lent
				}
				left.lend(&all, i, n, end)
			}
		}

		if holds(&all) {
			all.For, left.Sole = slices.Concat(k.For, st.Parts), loyalty.ID{}
			// if all counts were lent, the progress begins anew with the next one
			left.nothing()
			*k, *st = all, left
			return true
		}
	}

	if slices.ContainsFunc(k.Criteria, positive) {
		st.add(ChallengeState{Criteria: k.Criteria, Days: k.Days, Started: k.Started, Parts: k.For})
	}

	return false
}

// ends are the candidates for the last day of the window of the completion. Without a window it is one day that is not
// used.
func ends(k *loyalty.Completion, st *ChallengeState) []calendar.Day {
	switch {
	case k.Window == 0 && st.Days == nil:
		return []calendar.Day{0}
	case k.Window == 0 || len(k.Days) != len(k.Criteria) || len(st.Days) != len(k.Criteria):
		return nil // the challenge's window was added or removed since
	}
	ends := map[calendar.Day]bool{}
	for _, days := range slices.Concat(k.Days, st.Days) {
		for d := range days {
			ends[d] = true
		}
	}
	return slices.Sorted(maps.Keys(ends))
}

// let drops a criterion's counts outside the window that ends on the given day.
func let(k *loyalty.Completion, criterion int, end calendar.Day) {
	if k.Window == 0 {
		return
	}
	for d, n := range k.Days[criterion] {
		if d > end || d <= end-calendar.Day(k.Window) {
			k.Criteria[criterion] -= n
			delete(k.Days[criterion], d)
		}
	}
}

// lend moves up to n of a criterion's later counts into a completion, oldest days first.
func (st *ChallengeState) lend(k *loyalty.Completion, criterion int, n int64, end calendar.Day) {
	if k.Window == 0 {
		n = min(n, st.Criteria[criterion])
		st.Criteria[criterion], k.Criteria[criterion] = st.Criteria[criterion]-n, k.Criteria[criterion]+n
		return
	}

	for _, d := range slices.Sorted(maps.Keys(st.Days[criterion])) {
		if d > end || d <= end-calendar.Day(k.Window) || n == 0 {
			continue
		}
		if k.Days[criterion] == nil {
			k.Days[criterion] = map[calendar.Day]int64{}
		}
		m := min(n, st.Days[criterion][d])
		st.Days[criterion][d], k.Days[criterion][d] = st.Days[criterion][d]-m, k.Days[criterion][d]+m
		if st.Days[criterion][d] == 0 {
			delete(st.Days[criterion], d)
		}
		st.Criteria[criterion], k.Criteria[criterion], n = st.Criteria[criterion]-m, k.Criteria[criterion]+m, n-m
	}
}

// uncomplete removes a completion. Not all completions are kept, so the date of the last one that still stands is found
// through the predecessor that each one names.
func (st *ChallengeState) uncomplete(k *loyalty.Completion) {
	last := st.Completed
	switch st.Completions = max(0, st.Completions-1); {
	case st.Completions == 0:
		st.Completed, st.Passed = time.Time{}, nil
		return
	case !k.At.Equal(last):
		st.Passed = append(st.Passed, passed{k.At, k.Before})
		return
	}

	before := k.Before
	for {
		i := slices.IndexFunc(st.Passed, func(p passed) bool { return p.At.Equal(before) })
		if i < 0 {
			break
		}
		before = st.Passed[i].Before
		st.Passed = slices.Delete(st.Passed, i, i+1)
	}

	if !before.IsZero() { // zero if the predecessor belongs to a merged account
		st.Completed = before
	}
}

// undoing removes a purchase from the progress of challenges.
type undoing struct {
	*engine.Run
	event  *loyalty.Event // the event that undoes the purchase
	states map[string]*ChallengeState
}

// undoPurchase removes a purchase's counts from the progress of challenges, on the event that undoes it, and takes back
// the completions that no longer hold, latest first. It goes by the counts as they were recorded, even if the challenge
// has changed, is gone, or its module is off: the customer got the points under the old terms.
func undoPurchase(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	counted := t.Detail.Counted
	if len(counted) == 0 {
		return nil
	}

	// an undone purchase has nothing left to take out
	t.Detail.Counted = nil
	u := undoing{Run: r, event: e, states: map[string]*ChallengeState{}}
	if err := u.all(counted); err != nil {
		return err
	}

	for _, id := range slices.Sorted(maps.Keys(u.states)) {
		st := u.states[id]
		// cut at the end and not before: a count may be in any of the completions that were put back
		st.Kept = st.Kept[max(0, len(st.Kept)-maxKept):]
		if err := r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressChallenge, Key: id}, st,
			time.Time{}); err != nil {
			return err
		}
	}

	return nil
}

func (u *undoing) state(challenge string) (*ChallengeState, error) {
	if st := u.states[challenge]; st != nil {
		return st, nil
	}
	var st ChallengeState
	known, err := u.Progress(loyalty.ProgressChallenge, challenge, &st)
	if err != nil || !known {
		return nil, err
	}
	u.states[challenge] = &st
	return &st, nil
}

// all removes counts, latest first. Completions that were kept with the purchase are put among the others first,
// because a count may be in any of them.
func (u *undoing) all(counted []loyalty.Counting) error {
	for _, k := range counted {
		if k.Whole == nil {
			continue
		}
		st, err := u.state(k.Challenge)
		if err != nil {
			return err
		}
		if st != nil {
			st.Kept = append(st.Kept, *k.Whole)
		}
	}

	// latest first: a later completion may rest on an earlier one
	for i := range slices.Backward(counted) {
		if err := u.out(&counted[i]); err != nil {
			return err
		}
		if err := u.Effort(1); err != nil {
			return err
		}
	}

	return nil
}

// out removes one count from the progress and from the completions that have it. None has it if the challenge was reset
// or counts something else by now.
func (u *undoing) out(k *loyalty.Counting) error {
	st, err := u.state(k.Challenge)
	if err != nil || st == nil {
		return err
	}

	rest := *k
	rest.Moves = slices.Clone(k.Moves)
	if slices.Contains(st.Parts, k.For) && uncount(&rest, st.Criteria, st.Days) {
		st.nothing()
		u.told(k.Challenge, "reason.challenge_out", 0)
	}

	for i := len(st.Kept) - 1; i >= 0 && slices.ContainsFunc(rest.Moves, positive); i-- {
		if !slices.Contains(st.Kept[i].For, k.For) {
			continue
		}

		done := own(st.Kept[i])
		if !uncount(&rest, done.Criteria, done.Days) {
			continue
		}

		// A surplus at the time, or counts made since, may replace what is removed.
		if holds(&done) || st.fill(&done, Challenges.Of(u.Programme)[k.Challenge]) {
			st.Kept[i] = done
			u.told(k.Challenge, "reason.challenge_holds", 0)
			continue
		}

		st.Kept = slices.Delete(st.Kept, i, i+1)
		st.uncomplete(&done)
		if err := u.takeBack(k.Challenge, &done); err != nil {
			return err
		}
		// the completion was itself an occurrence, which other challenges have counted
		if err := u.all(done.Counts); err != nil {
			return err
		}

		i = len(st.Kept) // the indices may have changed
	}

	return nil
}

// challengePoints are the attributes of the point_sub that takes a completion back.
type challengePoints struct {
	Points    int64  `json:"points"`
	Challenge string `json:"challenge"`
	Campaign  string `json:"campaign,omitempty"` // the campaign that gave them because of the completion
}

// takeBack takes back the points of a completion, and those that campaigns gave for it, with one
// point_sub per lot.
func (u *undoing) takeBack(challenge string, k *loyalty.Completion) error {
	n, err := u.takeLot(challengePoints{k.Points, challenge, ""}, k.Event)
	if err != nil {
		return err
	}

	u.told(challenge, "reason.challenge_taken_back", -n)
	for _, g := range k.Gave {
		n, err := u.takeLot(challengePoints{g.Points, challenge, g.Campaign}, g.Event)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		u.event.Tell().Campaigns = append(u.event.Tell().Campaigns,
			loyalty.CampaignEffect{Campaign: g.Campaign, CampaignGifts: loyalty.CampaignGifts{TakenBack: n}})
		if u.Tracing() {
			u.TraceInput(loyalty.Verdict{Rule: "campaign", Verdict: "applied", Reason: "reason.challenge_taken_back", Points: -n,
				Input: map[string]any{"campaign": g.Campaign, "challenge": challenge}})
		}
	}

	return engine.Ungive(u.Run, u.event, k.Runs)
}

// takeLot takes back points of a lot that a completion brought.
func (u *undoing) takeLot(p challengePoints, lot loyalty.ID) (int64, error) {
	if p.Points == 0 {
		return 0, nil
	}
	if err := u.requireLot(lot); err != nil {
		return 0, err
	}
	return engine.TakeLot(u.Run, u.event, engine.Taking{
		Lot: lot, Points: p.Points, Giver: "the challenge " + p.Challenge, Reason: "challenge_refund",
		Data: func(n int64) any { return challengePoints{n, p.Challenge, p.Campaign} },
	})
}

// requireLot makes sure that a lot was loaded, together with the lots of all completions that may be next.
func (u *undoing) requireLot(lot loyalty.ID) error {
	if u.Book.Lot(lot) != nil {
		return u.Require(loyalty.CustomerNeeds{Lots: loyalty.UsedLots})
	}
	all := []loyalty.ID{lot}
	for _, id := range slices.Sorted(maps.Keys(u.states)) {
		for i := range u.states[id].Kept {
			all = lots(&u.states[id].Kept[i], all)
		}
	}
	return engine.RequireLots(u.Run, all)
}

// lots appends the lots that a completion opened.
func lots(k *loyalty.Completion, to []loyalty.ID) []loyalty.ID {
	if k.Points > 0 {
		to = append(to, k.Event)
	}
	for _, g := range k.Gave {
		to = append(to, g.Event)
	}
	return to
}

func (u *undoing) told(challenge, reason string, n int64) {
	if u.Tracing() {
		u.TraceInput(loyalty.Verdict{Rule: "challenge", Verdict: "applied", Reason: reason, Points: n,
			Input: map[string]any{"challenge": challenge}})
	}
}
