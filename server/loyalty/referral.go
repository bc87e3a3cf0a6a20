package loyalty

import (
	"encoding/json"
	"errors"
	"time"
)

// When a referral pays.
const (
	PayOnCheckout = "first_checkout"
	PayOnOptIn    = "opt_in"
)

// Referral is the configuration of friend_referral.
type Referral struct {
	ReferrerPoints int    `json:"referrer_points"`
	FriendPoints   int    `json:"friend_points"`
	PayOn          string `json:"pay_on"`
}

// maxReferral bounds what a referral gives, in points.
const maxReferral = 1_000_000_000

func readReferral(raw json.RawMessage) (any, error) {
	c := Referral{PayOn: PayOnCheckout}
	o := openObject(raw, "config")
	o.count("referrer_points", &c.ReferrerPoints, 0, maxReferral)
	o.count("friend_points", &c.FriendPoints, 0, maxReferral)
	o.choice("pay_on", &c.PayOn, PayOnCheckout, PayOnOptIn)
	return c, o.done()
}

func (c Referral) compile(p *Programme) { p.Referral = c }

// foresee adds what a bonus reads of the friend.
func foresee(action string, n *CustomerNeeds) {
	switch action {
	case "checkout", "checkout_accept", "opt_in", "refund":
		n.Progress |= Kinds(ProgressReferral)
	}
}

// Refer notes who brought the run's customer. It fails with ErrReferrerUnknown, or
// with ErrReferrerSelf. Only the internal id is kept: the name they go by is
// another person's, and is forgotten when they leave.
func (r *Run) Refer(name string) error {
	ref := Name{NameCustomer, name}
	if err := r.require(CustomerNeeds{Names: []Name{ref}}); err != nil {
		return err
	}
	id, known := r.owner(ref)
	switch {
	case !known:
		return ErrReferrerUnknown.At("data.referrer")
	case id == r.Customer.ID:
		return ErrReferrerSelf.At("data.referrer")
	}
	r.Customer.Profile.Referrer = id
	r.Event.effects().Referrer = &id
	var data map[string]json.RawMessage
	if err := json.Unmarshal(r.Event.Data, &data); err != nil {
		return err
	}
	delete(data, "referrer")
	r.Event.Data = marshal(data)
	return nil
}

// referrerName is what the customer who brought this one is called; empty where
// there is none, or they left.
func (r *Run) referrerName() (string, error) {
	id := r.Customer.Profile.Referrer
	if id == (ID{}) {
		return "", nil
	}
	a, loaded := r.batch.accounts[id]
	if !loaded && !r.batch.asked.people[person{id: id}] {
		return "", &wanting{needs: CustomerNeeds{ID: id}}
	}
	if !loaded || a.customer.Status == OptedOut {
		return "", nil
	}
	return a.customer.Name, nil
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
	Customer ID    `json:"customer"`
	Event    ID    `json:"event"` // its lot
	Points   int64 `json:"points"`
}

var bonusKey = ProgressKey{ProgressReferral, "bonus"}

// referral pays the bonus for bringing a customer, and takes it back when the
// purchase that it was paid for is refunded.
func referral(o *occurrence) error {
	if !o.Programme.On[ModuleFriendReferral] || o.line != nil {
		return nil
	}
	pays, brought := o.Programme.Referral.PayOn, o.Customer.Profile.Referrer != (ID{})
	switch {
	case o.action == "refund":
		return o.takeBonusBack()
	case brought && o.action == "opt_in" && pays == PayOnOptIn,
		brought && o.action == "checkout" && pays == PayOnCheckout:
		return o.payBonus(pays)
	}
	return nil
}

func (o *occurrence) payBonus(on string) error {
	var b bonus
	if paid, err := o.Progress(ProgressReferral, bonusKey.Key, &b); paid || err != nil {
		return err
	}
	b.On = on
	if o.transaction != nil {
		b.Transaction = o.transaction.Name
	}
	c := o.Programme.Referral
	var err error
	if b.Referrer, err = o.payReferrer(int64(c.ReferrerPoints), &b); err != nil {
		return err
	}
	if b.Friend, err = o.pay(o.Run, int64(c.FriendPoints), &b); err != nil {
		return err
	}
	return o.SetProgress(o.event, bonusKey, b, time.Time{})
}

// payReferrer pays the customer who brought the friend, or the one they were
// merged into. One who left or is not enrolled gets nothing, and nobody is paid
// for bringing themselves.
func (o *occurrence) payReferrer(n int64, b *bonus) (*bonusPart, error) {
	if n == 0 {
		return nil, nil
	}
	r, err := o.otherSide(o.Customer.Profile.Referrer, CustomerNeeds{})
	switch {
	case err != nil:
		return nil, err
	case r == nil || r == o.Run:
		o.Trace("referral", "skipped", "reason.standing", 0)
		return nil, nil
	}
	return o.pay(r, n, b)
}

// otherSide opens the account of another customer of a referral; nil: they are
// gone.
func (o *occurrence) otherSide(id ID, n CustomerNeeds) (*Run, error) {
	n.ID, n.Key = id, true
	r, err := o.Other(n)
	if errors.Is(err, ErrCustomerNotFound) {
		return nil, nil
	}
	return r, err
}

// pay gives one side its points. The event of one customer does not name the
// other one, nor their purchase.
func (o *occurrence) pay(r *Run, n int64, b *bonus) (*bonusPart, error) {
	switch {
	case n == 0:
		return nil, nil
	case r.Customer.Status != Active && r.Customer.Status != Suspended:
		o.Trace("referral", "skipped", "reason.standing", 0)
		return nil, nil
	}
	personal := map[string]json.RawMessage{"reason": marshal(b.On)}
	e, err := r.DeriveSealed(o.event, "referral_bonus", referralPoints{n}, personal)
	if err != nil {
		return nil, err
	}
	if r != o.Run {
		e.Transaction = ""
	}
	if err := r.credit(e, n, b.Transaction); err != nil {
		return nil, ErrTooLarge.With("property", "points of friend_referral")
	}
	o.Trace("referral", "applied", "reason.referral", n)
	return &bonusPart{r.Customer.ID, e.ID, n}, nil
}

// referralPoints are the attributes of referral_bonus and of what takes it back.
type referralPoints struct {
	Points int64 `json:"points"`
}

// takeBonusBack takes from both sides what the refunded purchase had brought them.
func (o *occurrence) takeBonusBack() error {
	var b bonus
	paid, err := o.Progress(ProgressReferral, bonusKey.Key, &b)
	if err != nil || !paid || b.TakenBack || b.Transaction == "" || b.Transaction != o.event.Transaction {
		return err
	}
	if err := o.takePart(b.Referrer, &b); err != nil {
		return err
	}
	if err := o.takePart(b.Friend, &b); err != nil {
		return err
	}
	b.TakenBack = true
	return o.SetProgress(o.event, bonusKey, b, time.Time{})
}

// takePart takes one side's points back by a point_sub: from the lot of the bonus
// and what of it expired, then from other lots; what nothing covers becomes debt,
// unless points_economy lets no balance fall below zero.
func (o *occurrence) takePart(part *bonusPart, b *bonus) error {
	if part == nil {
		return nil
	}
	r, err := o.otherSide(part.Customer, CustomerNeeds{Lots: UsedLots, Transactions: []string{b.Transaction}})
	if err != nil || r == nil || r.Customer.Status == OptedOut {
		return err
	}
	n := part.Points
	if r.Programme.Economy.NegativeRefuse {
		n = min(n, r.coverable(part.Event))
	}
	if n == 0 {
		return nil
	}
	personal := map[string]json.RawMessage{"reason": marshal("referral_refund")}
	e, err := r.DeriveSealed(o.event, "point_sub", referralPoints{n}, personal)
	if err != nil {
		return err
	}
	if r != o.Run {
		e.Transaction = ""
	}
	if err := r.Book.TakeBack(e.ID, b.Transaction, part.Event, n); err != nil {
		return ErrTooLarge.With("property", "points of friend_referral")
	}
	e.Shown(-n)
	o.Trace("referral", "applied", "reason.referral_back", -n)
	return nil
}

// coverable is what can be taken without a balance below zero: what can be spent,
// and what expired of a lot.
func (r *Run) coverable(lot ID) int64 {
	n := max(0, r.Book.Figures.Spendable())
	if l := r.Book.Lot(lot); l != nil {
		n += l.Expired
	}
	return n
}

// ReferralFeature pays for friends who are brought (module friend_referral). One friend
// brings one bonus: a merge keeps the target's.
var ReferralFeature = Feature{
	Name: "referral", Progress: ProgressReferral, React: referral,
	Needs: func(p *Programme, action string, n *CustomerNeeds) {
		if p.On[ModuleFriendReferral] {
			foresee(action, n)
		}
	},
}
