package coupon

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// Addressee names the customer who receives something. Target takes precedence over the e-mail address.
type Addressee struct {
	Target string // a customer's identifier
	Email  string
}

// Received are the attributes of coupon_receive and reward_receive. Original is the internal id of
// the previous holder, because their own identifier must be forgettable.
type Received struct {
	Code     string `json:"code,omitempty"`
	Original string `json:"original"`
	Reward   string `json:"reward,omitempty"`
}

// ReceiverOf returns the receiver of the submitted event: another customer, by identifier or e-mail address, in any
// state. An address that no customer has creates an inactive customer if invite is set. It fails with
// ErrCustomerNotFound, and with ErrToOneself.
func ReceiverOf(r *engine.Run, to Addressee, invite bool) (*engine.Run, error) {
	needs, field := loyalty.CustomerNeeds{Ref: loyalty.Name{Kind: loyalty.NameCustomer, Value: to.Target}}, "data.target"
	if to.Target == "" {
		needs, field = loyalty.CustomerNeeds{Match: loyalty.EmailKey(to.Email)}, "data.email"
	}

	other, err := r.Other(needs)
	switch {
	case errors.Is(err, loyalty.ErrCustomerNotFound) && to.Target == "" && invite:
		return inviteByMail(r, to.Email)
	case errors.Is(err, loyalty.ErrCustomerNotFound):
		return nil, loyalty.ErrCustomerNotFound.At(field)
	case err != nil:
		return nil, err
	case other.Customer.ID == r.Customer.ID:
		return nil, loyalty.ErrToOneself.At(field)
	}

	return other, nil
}

// inviteByMail begins an inactive customer with an e-mail address, under a generated identifier.
func inviteByMail(r *engine.Run, email string) (*engine.Run, error) {
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

// Receive writes the event by which the receiver gets something. The e-mail address that named them is kept there,
// under their key, and nowhere else.
func Receive(r *engine.Run, from *engine.Run, action string, data Received, email string) (*loyalty.Event, error) {
	data.Original = from.Customer.ID.String()
	var personal map[string]json.RawMessage
	if email != "" {
		personal = map[string]json.RawMessage{"email": loyalty.JSON(email)}
	}
	e, err := r.DeriveSealed(from.Event, action, data, personal)
	if err != nil {
		return nil, err
	}
	if r.New() && r.Customer.Status == loyalty.Inactive {
		e.Tell().Status = loyalty.Inactive
	}
	return e, passedOn(from, r.Customer.ID)
}

// passedOn replaces target and email in the submitted event by the receiver's internal id: the sender's journal must
// not preserve a person that the receiver's opt-out forgets.
func passedOn(r *engine.Run, to loyalty.ID) error {
	own, _ := r.Parts()
	plain, personal := maps.Clone(own.Plain), maps.Clone(own.Personal)
	delete(personal, "email")
	plain["target"] = loyalty.JSON(to.String())
	r.Event.Data = loyalty.JSON(plain)
	var err error
	r.Event.Personal, err = r.Seal(personal, r.Event.ID)
	return err
}

// Transfer passes on a coupon of this customer, on the submitted event: the one with the code, or else the newest of a
// reward that they hold and can pass on. It fails with ErrCouponNotFound (1601), with ErrForbiddenState for one that is
// used up or expired, and as ReceiverOf does.
func Transfer(r *engine.Run, code, reward string, to Addressee) error {
	c, err := toPass(r, code, reward)
	if err != nil {
		return err
	}
	if err := c.Move("transfer", r.At); err != nil {
		return err
	}

	if code != "" {
		if err := asMade(r, code, c); err != nil {
			return err
		}
	}

	other, err := ReceiverOf(r, to, true)
	if err != nil {
		return err
	}

	// kept with the receiver only if it named them
	email := to.Email
	if to.Target != "" {
		email = ""
	}

	e, err := Receive(other, r, "coupon_receive", Received{Code: c.Code}, email)
	if err != nil {
		return err
	}

	c.PassTo(other.Customer.ID, r.At)
	other.Coupons().Changed(e, c)
	r.Trace("coupon", "applied", "reason.transferred", 0)
	return holdCoupon(other, e, c)
}

// holdCoupon records a coupon that a reward issued with its receiver, who has no claim that names
// it. Otherwise a transfer by reward could pass a coupon on once and never again.
func holdCoupon(r *engine.Run, e *loyalty.Event, c *loyalty.Coupon) error {
	if c.Reward == "" {
		return nil
	}
	standing, err := r.Claims().Standing(c.Reward)
	if err != nil || slices.Contains(standing.Coupons, c.Code) {
		return err
	}
	standing.Coupons = append(standing.Coupons, c.Code)
	return r.Claims().SetStanding(e, c.Reward, standing)
}

// toPass returns the coupon of a transfer.
func toPass(r *engine.Run, code, reward string) (*loyalty.Coupon, error) {
	if code != "" {
		return Own(r, code)
	}

	codes, err := RewardCodes(r, reward)
	if err != nil {
		return nil, err
	}
	if err := r.Require(loyalty.CustomerNeeds{Coupons: codes}); err != nil {
		return nil, err
	}

	var newest *loyalty.Coupon
	for _, code := range codes {
		c, err := r.Coupons().Find(code)
		if err != nil {
			return nil, err
		}
		_, free := loyalty.CouponMoves["transfer"][c.StateAt(r.At)]
		if free && c.Customer == r.Customer.ID && (newest == nil || laterThan(c, newest)) {
			newest = c
		}
	}

	if newest == nil {
		return nil, loyalty.ErrCouponNotFound.At("data.reward_id")
	}

	return newest, nil
}

func laterThan(c *loyalty.Coupon, o *loyalty.Coupon) bool {
	if n := c.ClaimedAt.Compare(o.ClaimedAt); n != 0 {
		return n > 0
	}
	return loyalty.CompareID(c.ID, o.ID) > 0
}

// RewardCodes lists the codes of a reward that came to this customer in any way. They may have
// passed them on since.
func RewardCodes(r *engine.Run, reward string) ([]string, error) {
	if err := r.Require(loyalty.CustomerNeeds{Claims: true, Progress: loyalty.Kinds(loyalty.ProgressReward)}); err != nil {
		return nil, err
	}

	standing, err := r.Claims().Standing(reward)
	if err != nil {
		return nil, err
	}

	claims, err := r.Claims().All()
	codes := slices.Clone(standing.Coupons)
	for _, c := range claims {
		if c.Reward == reward && c.Coupon != "" && !slices.Contains(codes, c.Coupon) {
			codes = append(codes, c.Coupon)
		}
	}

	return codes, err
}
