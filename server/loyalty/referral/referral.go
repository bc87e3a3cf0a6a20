// Package referral is the bonus for referring a friend.
package referral

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// foresee adds what a bonus reads of the friend.
func foresee(action string, n *loyalty.CustomerNeeds) {
	switch action {
	case "checkout", "checkout_accept", "opt_in", "refund", "partial_refund", "refund_item":
		n.Progress |= loyalty.Kinds(loyalty.ProgressReferral)
	}
}

// Refer records the referrer of the run's customer. A referrer with the customer's own e-mail address is the same
// person, and is left out with a warning. It fails with ErrReferrerUnknown, or with ErrReferrerSelf. Only the internal
// id is stored: the name belongs to another person, and is forgotten when they leave.
func Refer(r *engine.Run, name string) error {
	ref := loyalty.Name{Kind: loyalty.NameCustomer, Value: name}
	if err := r.Require(loyalty.CustomerNeeds{Names: []loyalty.Name{ref}}); err != nil {
		return err
	}

	id, known := r.Owner(ref)
	switch {
	case !known:
		return loyalty.ErrReferrerUnknown.At("data.referrer")
	case id == r.Customer.ID:
		return loyalty.ErrReferrerSelf.At("data.referrer")
	}

	themselves, err := sharesAddress(r, id)
	switch {
	case err != nil:
		return err
	case !themselves:
		r.Customer.Profile.Referrer = id
		r.Event.Tell().Referrer = &id
	case !r.Programme.SuppressPII: // otherwise the answer would reveal that person's address
		r.Warn(loyalty.ErrSelfReferral.At("data.referrer"))
	}

	var data map[string]json.RawMessage
	// the name must not stay in the event either
	if err := json.Unmarshal(r.Event.Data, &data); err != nil {
		return err
	}

	delete(data, "referrer")
	r.Event.Data = loyalty.JSON(data)
	return nil
}

// sharesAddress reports whether a referrer has the e-mail address of the run's customer.
func sharesAddress(r *engine.Run, referrer loyalty.ID) (bool, error) {
	other, err := otherSide(r, referrer, loyalty.CustomerNeeds{})
	if err != nil || other == nil {
		return false, err
	}
	key := loyalty.EmailKey(r.Customer.Profile.Email)
	return key != "" && key == loyalty.EmailKey(other.Customer.Profile.Email), nil
}

// bonus records that a friend's referral was paid, which happens once. It is part of the friend's progress, and is
// removed when everything that was paid was taken back.
type bonus struct {
	On          string `json:"on"`                    // PayOnCheckout or PayOnOptIn
	Transaction string `json:"transaction,omitempty"` // the purchase with which it is taken back
}

var bonusKey = loyalty.ProgressKey{Kind: loyalty.ProgressReferral, Key: "bonus"}

// referral pays the bonus for referring a customer.
func referral(o *engine.Occurrence) error {
	if !o.Programme.On[programme.ModuleFriendReferral] || o.Line != nil || o.Customer.Profile.Referrer == (loyalty.ID{}) {
		return nil
	}
	pays := o.Programme.Referral.PayOn
	if (o.Action == "opt_in" && pays == programme.PayOnOptIn) ||
		(o.Action == "checkout" && pays == programme.PayOnCheckout) {
		return payBonus(o, pays)
	}
	return nil
}

// payBonus pays both sides, once, and records with the purchase what they got. It counts as paid even if neither side
// got anything: a referral module that is configured later does not pay for the past.
func payBonus(o *engine.Occurrence, on string) error {
	var b bonus
	if paid, err := o.Progress(loyalty.ProgressReferral, bonusKey.Key, &b); paid || err != nil {
		return err
	}

	b.On = on
	if o.Accepted != nil {
		b.Transaction = o.Accepted.Name
	}

	c := o.Programme.Referral
	referrer, err := payReferrer(o, int64(c.ReferrerPoints), &b)
	if err != nil {
		return err
	}

	friend, err := pay(o, o.Run, int64(c.FriendPoints), &b)
	if err != nil {
		return err
	}

	if t := o.Accepted; t != nil {
		t.Detail.Referral = slices.Concat(referrer, friend)
		engine.TellPurchase(o.Run, o.Trigger, t)
	}

	return o.SetProgress(o.Trigger, bonusKey, b, time.Time{})
}

// payReferrer pays the customer who referred the friend, or the target of their merge. A referrer who left or is not
// enrolled gets nothing, and customers get nothing for referring themselves.
func payReferrer(o *engine.Occurrence, n int64, b *bonus) ([]loyalty.ReferralPart, error) {
	if n == 0 {
		return nil, nil
	}
	r, err := otherSide(o.Run, o.Customer.Profile.Referrer, loyalty.CustomerNeeds{})
	switch {
	case err != nil:
		return nil, err
		// a merge can make both the same customer
	case r == nil || r == o.Run:
		o.Trace("referral", "skipped", "reason.standing", 0)
		return nil, nil
	}
	return pay(o, r, n, b)
}

// otherSide opens the account of the other customer of a referral; nil: that customer has left.
func otherSide(r *engine.Run, id loyalty.ID, n loyalty.CustomerNeeds) (*engine.Run, error) {
	n.ID, n.Key = id, true
	other, err := r.Other(n)
	if errors.Is(err, loyalty.ErrCustomerNotFound) {
		return nil, nil
	}
	return other, err
}

// pay gives one side its points. The event of one customer names neither the other one nor their purchase. The reason
// is sealed, because it would tell one customer what the other did.
func pay(o *engine.Occurrence, r *engine.Run, n int64, b *bonus) ([]loyalty.ReferralPart, error) {
	switch {
	case n == 0:
		return nil, nil
	case r.Customer.Status != loyalty.Active && r.Customer.Status != loyalty.Suspended:
		o.Trace("referral", "skipped", "reason.standing", 0)
		return nil, nil
	}

	personal := map[string]json.RawMessage{"reason": loyalty.JSON(b.On)}
	e, err := r.DeriveSealed(o.Trigger, "referral_bonus", referralPoints{n}, personal)
	if err != nil {
		return nil, err
	}
	// the purchase belongs to the friend
	if r != o.Run {
		e.Transaction = ""
	}
	if err := r.Credit(e, n, b.Transaction); err != nil {
		return nil, engine.TooMany(programme.ModuleFriendReferral)
	}

	o.Trace("referral", "applied", "reason.referral", n)
	return []loyalty.ReferralPart{{Customer: r.Customer.ID, Event: e.ID, Points: n}}, nil
}

// referralPoints are the attributes of referral_bonus and of the event that takes it back.
type referralPoints struct {
	Points int64 `json:"points"`
}

// undone takes from both sides what an undone purchase had brought them. If nothing stays with them, the friend's next
// purchase pays again.
func undone(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	parts := t.Detail.Referral
	if len(parts) == 0 && r.Customer.Profile.Referrer == (loyalty.ID{}) {
		return nil
	}

	t.Detail.Referral = nil
	stays := false
	for _, part := range parts {
		all, err := takePart(r, e, t, part)
		if err != nil {
			return err
		}
		if !all {
			stays = true
			r.Trace("referral", "skipped", "reason.used", 0)
		}
	}

	if stays {
		return nil
	}

	var b bonus
	paid, err := r.Progress(loyalty.ProgressReferral, bonusKey.Key, &b)
	if err != nil || !paid || b.Transaction != t.Name {
		return err
	}

	return r.SetProgress(e, bonusKey, nil, time.Time{})
}

// takePart takes one side's points back by a point_sub, and reports whether it got all of them. A customer who left has
// nothing left.
func takePart(
	r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, part loyalty.ReferralPart,
) (all bool, err error) {
	side, err := otherSide(r, part.Customer, loyalty.CustomerNeeds{Lots: loyalty.UsedLots, Transactions: []string{t.Name}})
	if err != nil || side == nil || side.Customer.Status == loyalty.OptedOut {
		return true, err
	}
	n, err := engine.TakeLot(side, e, engine.Taking{
		Lot: part.Event, Points: part.Points, Transaction: t.Name, Giver: programme.ModuleFriendReferral,
		Reason: "referral_refund",
		Data:   func(n int64) any { return referralPoints{n} },
	})
	if n > 0 {
		r.Trace("referral", "applied", "reason.referral_back", -n)
	}
	return n == part.Points, err
}

// ReferralFeature pays for referred friends (module friend_referral). One friend brings one bonus: a merge keeps the
// target's.
var ReferralFeature = engine.Feature{
	Name: "referral", Progress: loyalty.ProgressReferral, React: referral, Undone: undone,
	Needs: func(p *programme.Programme, action string, n *loyalty.CustomerNeeds) {
		if p.On[programme.ModuleFriendReferral] {
			foresee(action, n)
		}
	},
}
