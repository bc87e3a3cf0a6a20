// Package referral is the bonus for a friend who was brought.
package referral

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// foresee adds what a bonus reads of the friend.
func foresee(action string, n *loyalty.CustomerNeeds) {
	switch action {
	case "checkout", "checkout_accept", "opt_in", "refund":
		n.Progress |= loyalty.Kinds(loyalty.ProgressReferral)
	}
}

// Refer records who brought the run's customer. It fails with ErrReferrerUnknown, or with
// ErrReferrerSelf. Only the internal id is kept: the name they go by is another person's, and is
// forgotten when they leave.
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
	r.Customer.Profile.Referrer = id
	r.Event.Tell().Referrer = &id
	var data map[string]json.RawMessage
	// the name must not stay in the event either
	if err := json.Unmarshal(r.Event.Data, &data); err != nil {
		return err
	}
	delete(data, "referrer")
	r.Event.Data = loyalty.JSON(data)
	return nil
}

// bonus is what a referral paid: one for each friend, for ever. It is the friend's
// progress.
type bonus struct {
	On          string     `json:"on"`                    // PayOnCheckout or PayOnOptIn
	Transaction string     `json:"transaction,omitempty"` // whose full refund takes it back
	Referrer    *bonusPart `json:"referrer,omitempty"`
	Friend      *bonusPart `json:"friend,omitempty"`
	TakenBack   bool       `json:"taken_back,omitempty"`
}

// bonusPart is what one side got.
type bonusPart struct {
	Customer loyalty.ID `json:"customer"`
	Event    loyalty.ID `json:"event"` // its lot
	Points   int64      `json:"points"`
}

var bonusKey = loyalty.ProgressKey{Kind: loyalty.ProgressReferral, Key: "bonus"}

// referral pays the bonus for bringing a customer, and takes it back when the
// purchase that it was paid for is refunded.
func referral(o *engine.Occurrence) error {
	if !o.Programme.On[programme.ModuleFriendReferral] || o.Line != nil {
		return nil
	}
	pays, brought := o.Programme.Referral.PayOn, o.Customer.Profile.Referrer != (loyalty.ID{})
	switch {
	case o.Action == "refund":
		return takeBonusBack(o)
	case brought && o.Action == "opt_in" && pays == programme.PayOnOptIn,
		brought && o.Action == "checkout" && pays == programme.PayOnCheckout:
		return payBonus(o, pays)
	}
	return nil
}

// payBonus pays both sides, once. It is noted as paid even where neither side got anything: a referral module that is
// configured later pays no past.
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
	var err error
	if b.Referrer, err = payReferrer(o, int64(c.ReferrerPoints), &b); err != nil {
		return err
	}
	if b.Friend, err = pay(o, o.Run, int64(c.FriendPoints), &b); err != nil {
		return err
	}
	return o.SetProgress(o.Trigger, bonusKey, b, time.Time{})
}

// payReferrer pays the customer who brought the friend, or the one they were
// merged into. One who left or is not enrolled gets nothing, and no customer is paid
// for bringing themselves.
func payReferrer(o *engine.Occurrence, n int64, b *bonus) (*bonusPart, error) {
	if n == 0 {
		return nil, nil
	}
	r, err := otherSide(o, o.Customer.Profile.Referrer, loyalty.CustomerNeeds{})
	switch {
	case err != nil:
		return nil, err
		// a merge can make both one customer
	case r == nil || r == o.Run:
		o.Trace("referral", "skipped", "reason.standing", 0)
		return nil, nil
	}
	return pay(o, r, n, b)
}

// otherSide opens the account of another customer of a referral; nil: they are
// gone.
func otherSide(o *engine.Occurrence, id loyalty.ID, n loyalty.CustomerNeeds) (*engine.Run, error) {
	n.ID, n.Key = id, true
	r, err := o.Other(n)
	if errors.Is(err, loyalty.ErrCustomerNotFound) {
		return nil, nil
	}
	return r, err
}

// pay gives one side its points. The event of one customer does not name the
// other one, nor their purchase.
// The reason is sealed: it would tell one customer what the other did.
func pay(o *engine.Occurrence, r *engine.Run, n int64, b *bonus) (*bonusPart, error) {
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
	// the purchase is the friend's
	if r != o.Run {
		e.Transaction = ""
	}
	if err := r.Credit(e, n, b.Transaction); err != nil {
		return nil, engine.TooMany(programme.ModuleFriendReferral)
	}
	o.Trace("referral", "applied", "reason.referral", n)
	return &bonusPart{r.Customer.ID, e.ID, n}, nil
}

// referralPoints are the attributes of referral_bonus and of what takes it back.
type referralPoints struct {
	Points int64 `json:"points"`
}

// takeBonusBack takes from both sides what the refunded purchase had brought them.
func takeBonusBack(o *engine.Occurrence) error {
	var b bonus
	paid, err := o.Progress(loyalty.ProgressReferral, bonusKey.Key, &b)
	if err != nil || !paid || b.TakenBack || b.Transaction == "" || b.Transaction != o.Trigger.Transaction {
		return err
	}
	if err := takePart(o, b.Referrer, &b); err != nil {
		return err
	}
	if err := takePart(o, b.Friend, &b); err != nil {
		return err
	}
	// for ever: a later refund of the same purchase must not take it once more
	b.TakenBack = true
	return o.SetProgress(o.Trigger, bonusKey, b, time.Time{})
}

// takePart takes one side's points back by a point_sub: from the lot of the bonus
// and what of it expired, then from other lots; what nothing covers becomes debt,
// unless points_economy lets no balance fall below zero.
func takePart(o *engine.Occurrence, part *bonusPart, b *bonus) error {
	if part == nil {
		return nil
	}
	r, err := otherSide(o, part.Customer, loyalty.CustomerNeeds{Lots: loyalty.UsedLots, Transactions: []string{b.Transaction}})
	if err != nil || r == nil || r.Customer.Status == loyalty.OptedOut {
		return err
	}
	n := part.Points
	if r.Programme.Economy.NegativeRefuse {
		n = min(n, r.Coverable(part.Event))
	}
	if n == 0 {
		return nil
	}
	personal := map[string]json.RawMessage{"reason": loyalty.JSON("referral_refund")}
	e, err := r.DeriveSealed(o.Trigger, "point_sub", referralPoints{n}, personal)
	if err != nil {
		return err
	}
	if r != o.Run {
		e.Transaction = ""
	}
	if err := r.Book.TakeBack(e.ID, b.Transaction, n, part.Event); err != nil {
		return engine.TooMany(programme.ModuleFriendReferral)
	}
	e.Shown(-n)
	o.Trace("referral", "applied", "reason.referral_back", -n)
	return nil
}

// ReferralFeature pays for friends who are brought (module friend_referral). One friend
// brings one bonus: a merge keeps the target's.
var ReferralFeature = engine.Feature{
	Name: "referral", Progress: loyalty.ProgressReferral, React: referral,
	Needs: func(p *programme.Programme, action string, n *loyalty.CustomerNeeds) {
		if p.On[programme.ModuleFriendReferral] {
			foresee(action, n)
		}
	},
}
