package loyalty

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Addressee names whom something is passed on to. Target wins.
type Addressee struct {
	Target string // a customer's identifier
	Email  string
}

// received are the attributes of coupon_receive and reward_receive. Original is the
// internal id of who had it before: their own identifier must be forgettable.
type received struct {
	Code     string `json:"code,omitempty"`
	Original string `json:"original"`
	Reward   string `json:"reward,omitempty"`
}

// Receiver finds whom the submitted event passes something on to: another customer,
// by identifier or e-mail, of whatever status. An address that nobody has begins an
// inactive customer where invite is set. It fails with ErrCustomerNotFound, and
// with ErrToOneself.
func (r *Run) Receiver(to Addressee, invite bool) (*Run, error) {
	needs, field := CustomerNeeds{Ref: Name{NameCustomer, to.Target}}, "data.target"
	if to.Target == "" {
		needs, field = CustomerNeeds{Match: EmailKey(to.Email)}, "data.email"
	}
	other, err := r.Other(needs)
	switch {
	case errors.Is(err, ErrCustomerNotFound) && to.Target == "" && invite:
		return r.invite(to.Email)
	case errors.Is(err, ErrCustomerNotFound):
		return nil, ErrCustomerNotFound.At(field)
	case err != nil:
		return nil, err
	case other.Customer.ID == r.Customer.ID:
		return nil, ErrToOneself.At(field)
	}
	return other, nil
}

// invite begins the inactive customer of an e-mail, under a generated identifier.
func (r *Run) invite(email string) (*Run, error) {
	name, err := uuid.NewRandomFromReader(r.Random())
	if err != nil {
		return nil, err
	}
	other, err := r.Begin(name.String())
	if err != nil {
		return nil, err
	}
	other.Customer.Profile.Email = strings.TrimSpace(email)
	return other, other.Customer.Move("subscribe")
}

// receive writes the event by which the receiver gets something. The e-mail that
// named them is theirs: it is kept here under their key, and nowhere else.
func (r *Run) receive(from *Run, action string, data received, email string) (*Event, error) {
	data.Original = from.Customer.ID.String()
	var personal map[string]json.RawMessage
	if email != "" {
		personal = map[string]json.RawMessage{"email": marshal(email)}
	}
	e, err := r.DeriveSealed(from.Event, action, data, personal)
	if err != nil {
		return nil, err
	}
	if r.New() && r.Customer.Status == Inactive {
		e.effects().Status = Inactive
	}
	return e, from.passedOn(r.Customer.ID)
}

// passedOn words the submitted event without the person it names: the receiver's
// internal id stands in the place of target and email.
func (r *Run) passedOn(to ID) error {
	own, _ := r.Parts()
	plain, personal := maps.Clone(own.Plain), maps.Clone(own.Personal)
	delete(personal, "email")
	plain["target"] = marshal(to.String())
	r.Event.Data = marshal(plain)
	var err error
	r.Event.Personal, err = r.seal(personal, r.Event.ID)
	return err
}

// TransferCoupon passes a coupon of this customer on, in the name of the submitted
// event: the one with the code, else the newest of a reward that they hold and can
// pass on. It fails with ErrCouponNotFound (1601), with ErrForbiddenState for one
// that is used up or over, and as Receiver does.
func (r *Run) TransferCoupon(code, reward string, to Addressee) error {
	c, err := r.toPass(code, reward)
	if err != nil {
		return err
	}
	if err := c.Move("transfer", r.At); err != nil {
		return err
	}
	other, err := r.Receiver(to, true)
	if err != nil {
		return err
	}
	email := to.Email
	if to.Target != "" {
		email = ""
	}
	e, err := other.receive(r, "coupon_receive", received{Code: c.Code}, email)
	if err != nil {
		return err
	}
	c.Customer, c.ClaimedAt = other.Customer.ID, r.At
	other.ChangedCoupon(e, c)
	r.Trace("coupon", "applied", "reason.transferred", 0)
	return other.holdCoupon(e, c)
}

// holdCoupon remembers a coupon that a reward issued with its receiver, who has no
// claim that names it.
func (r *Run) holdCoupon(e *Event, c *Coupon) error {
	if c.Reward == "" {
		return nil
	}
	standing, err := r.RewardStanding(c.Reward)
	if err != nil || slices.Contains(standing.Coupons, c.Code) {
		return err
	}
	standing.Coupons = append(standing.Coupons, c.Code)
	return r.setRewardStanding(e, c.Reward, standing)
}

// toPass finds the coupon of a transfer.
func (r *Run) toPass(code, reward string) (*Coupon, error) {
	if code != "" {
		return r.OwnCoupon(code)
	}
	codes, err := r.rewardCodes(reward)
	if err != nil {
		return nil, err
	}
	if err := r.require(CustomerNeeds{Coupons: codes}); err != nil {
		return nil, err
	}
	var newest *Coupon
	for _, code := range codes {
		c, err := r.Coupon(code)
		if err != nil {
			return nil, err
		}
		_, free := couponMoves["transfer"][c.StateAt(r.At)]
		if free && c.Customer == r.Customer.ID && (newest == nil || c.laterThan(newest)) {
			newest = c
		}
	}
	if newest == nil {
		return nil, ErrCouponNotFound.At("data.reward_id")
	}
	return newest, nil
}

func (c *Coupon) laterThan(o *Coupon) bool {
	if n := c.ClaimedAt.Compare(o.ClaimedAt); n != 0 {
		return n > 0
	}
	return CompareID(c.ID, o.ID) > 0
}

// rewardCodes lists the codes of a reward that came to this customer in any way.
// They need not be theirs any more.
func (r *Run) rewardCodes(reward string) ([]string, error) {
	if err := r.require(CustomerNeeds{Claims: true, Progress: Kinds(ProgressReward)}); err != nil {
		return nil, err
	}
	standing, err := r.RewardStanding(reward)
	if err != nil {
		return nil, err
	}
	claims, err := r.RewardClaims()
	codes := slices.Clone(standing.Coupons)
	for _, c := range claims {
		if c.Reward == reward && c.Coupon != "" && !slices.Contains(codes, c.Coupon) {
			codes = append(codes, c.Coupon)
		}
	}
	return codes, err
}
