package loyalty

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Some events may leave out what they are about: then it is the only thing that the
// customer has of its kind. What it was is kept with the event.

// mostNamed is how many things a refusal names.
const mostNamed = 20

// only gives the one of all; missing is the failure where there is none. Several are
// refused with ErrSeveral (190400), which names them.
func only(attribute string, all []string, missing *Error) (string, error) {
	switch len(all) {
	case 0:
		return "", missing.At("data." + attribute)
	case 1:
		return all[0], nil
	}
	named := strings.Join(all[:min(len(all), mostNamed)], ", ")
	if len(all) > mostNamed {
		named += ", …"
	}
	return "", ErrSeveral.With("property", attribute).With("choices", named).At("data." + attribute)
}

// fillIn adds to the submitted event an attribute that was left out, so that the
// journal and the rules know what it was about.
func (r *Run) fillIn(attribute, value string) error {
	r.Data = maps.Clone(r.Data) // the one that was sent is shared by every attempt
	if r.Data == nil {
		r.Data = map[string]json.RawMessage{}
	}
	r.Data[attribute] = marshal(value)
	if r.Event.as != "" {
		return nil // the row of another action, which applies a held event
	}
	data := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.Event.Data, &data); err != nil {
		return err
	}
	data[attribute] = marshal(value)
	r.Event.Data = marshal(data)
	return nil
}

// OnlyContest is the contest that the customer has entries of, for an event that
// names none. It fails with ErrEntriesTooFew, and with ErrSeveral.
func (r *Run) OnlyContest() (string, error) {
	all, err := r.ProgressOf(ProgressContest)
	if err != nil {
		return "", err
	}
	id, err := only("contest_id", all, ErrEntriesTooFew.With("entries", int64(0)))
	if err != nil {
		return "", err
	}
	return id, r.fillIn("contest_id", id)
}

// UnassignOnly is UnassignCoupon of the one coupon that this customer has claimed. It
// fails with ErrCouponNotFound (1601), and with ErrSeveral.
func (r *Run) UnassignOnly(e *Event) error {
	all, err := r.claimedCodes()
	if err != nil {
		return err
	}
	code, err := only("code", all, ErrCouponNotFound)
	if err != nil {
		return err
	}
	if err := r.UnassignCoupon(e, code); err != nil {
		return err
	}
	return r.fillIn("code", code)
}

// claimedCodes lists the codes of the coupons that this customer has claimed and can
// still use, in order.
func (r *Run) claimedCodes() ([]string, error) {
	if err := r.require(CustomerNeeds{Codes: true}); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	if l := r.account.loaded; l != nil {
		for code, expires := range l.Codes {
			known[code] = expires.IsZero() || r.At.Before(expires)
		}
	}
	for _, later := range []map[string]*Coupon{r.batch.coupons, r.work.coupons} {
		for code, c := range later {
			known[code] = c.Customer == r.Customer.ID && c.StateAt(r.At) == CouponClaimed
		}
	}
	maps.DeleteFunc(known, func(_ string, claimed bool) bool { return !claimed })
	return slices.Sorted(maps.Keys(known)), nil
}

// onlyReward is the reward of which the customer has a claim to pass on. It fails
// with ErrRewardNotFound (160320), and with ErrSeveral.
func (r *Run) onlyReward() (string, error) {
	claims, err := r.RewardClaims()
	if err != nil {
		return "", err
	}
	var rewards, codes, passable []string
	for _, c := range claims {
		if claimMoves["transfer"][c.State] == "" || slices.Contains(rewards, c.Reward) {
			continue
		}
		own, err := r.rewardCodes(c.Reward)
		if err != nil {
			return "", err
		}
		rewards, codes = append(rewards, c.Reward), append(codes, own...)
	}
	if err := r.require(CustomerNeeds{Coupons: codes}); err != nil {
		return "", err
	}
	for _, reward := range rewards {
		_, _, err := r.claimToPass(reward)
		if err == nil {
			passable = append(passable, reward)
		} else if !errors.Is(err, ErrRewardNotFound) {
			return "", err
		}
	}
	slices.Sort(passable)
	return only("reward", passable, ErrRewardNotFound)
}
