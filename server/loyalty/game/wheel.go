package game

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// The periods of a wheel's limit, in the programme's time zone. A week begins on Monday.
const (
	periodDay   = "day"
	periodWeek  = "week"
	periodMonth = "month"
	periodEver  = "ever"
)

// The types of a wheel's option.
const (
	OptionReward = "reward"
	OptionPoints = "points"
	OptionEmpty  = "empty"
)

// Wheel is a prize wheel (prize-wheels/wheel).
type Wheel struct {
	ID     string        `json:"-"`
	Name   loyalty.Texts `json:"name"`
	Points int64         `json:"points"` // what a spin costs
	Limit  struct {
		Count  int64  `json:"count"` // 0: no limit
		Period string `json:"period"`
	} `json:"limit"`
	Options []WheelOption `json:"options"`
	loyalty.Dates

	// Custom holds the programme's custom attributes, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// WheelOption is a slice of a wheel.
type WheelOption struct {
	Type   string        `json:"type"` // reward, points or empty
	Label  loyalty.Texts `json:"label"`
	Weight int64         `json:"weight"` // its share of the sum of all weights is its probability
	Points int64         `json:"points"` // of the type points
	Reward string        `json:"reward"` // of the type reward
}

// Wheels are the prize wheels (module prize_wheels).
var Wheels = &programme.EntityType[*Wheel]{Type: "prize-wheels/wheel",
	Module: programme.ModulePrizeWheels, Read: readWheel}

// readWheel refuses a wheel on which no option can come up, and rewards that do not exist.
func readWheel(p *programme.Programme, e loyalty.Entity) (*Wheel, error) {
	w := &Wheel{ID: e.ID, Custom: programme.CustomFields(e)}
	if err := programme.Decode(e, w); err != nil {
		return nil, err
	}
	for i, o := range w.Options {
		if o.Type == OptionReward && reward.Rewards.Of(p)[o.Reward] == nil {
			return nil, programme.Missing(fmt.Sprintf("options[%d].reward", i), loyalty.RewardType, o.Reward)
		}
	}
	if weights(w.Options) == 0 {
		return nil, programme.Fault("options", "weights_zero", nil)
	}
	return w, programme.CheckDates(w.Dates)
}

func weights(options []WheelOption) (sum int64) {
	for _, o := range options {
		sum += o.Weight
	}
	return sum
}

// pickOption draws one of the options, each with the probability of its weight over the sum of all
// weights, and returns -1 if no option has a weight. random returns a number from 0 to n-1 with
// equal probability. It walks the weights instead of making a table, because wheels have few
// options, and they change between draws when a reward is out of stock.
func pickOption(options []WheelOption, random func(n int64) int64) int {
	all := weights(options)
	if all == 0 {
		return -1
	}
	n := random(all)
	for i, o := range options {
		if n -= o.Weight; n < 0 {
			return i
		}
	}
	return -1
}

// SpinResult is the result of prize_wheel_spin.
type SpinResult struct {
	ID     loyalty.ID    `json:"id"` // the event that records it
	Wheel  string        `json:"wheel"`
	Result loyalty.Texts `json:"result"` // the label of the option that came up
	Type   string        `json:"type"`
	Points int64         `json:"points"` // points won
	Spent  int64         `json:"spent"`  // points that the spin cost
	// Claim is the reward that was won; nil if none.
	Claim *reward.ClaimResult `json:"claim,omitempty"`
}

// MaySpin returns a wheel that the customer can spin, and their progress with it. Besides the
// failures of InForce it fails with ErrSuspended (110003) if a spin costs something, with
// ErrSpinLimit, and with ErrNotEnoughToSpend.
func MaySpin(r *engine.Run, id string) (*Wheel, WheelProgress, error) {
	var p WheelProgress
	ref := engine.Reference{Type: "prize-wheels/wheel", ID: id}
	w, err := engine.InForce(r, Wheels.Of(r.Programme), ref)
	if err != nil {
		return nil, p, err
	}
	// checked here and not by the action's standing: only a spin with a price is spending
	if w.Points > 0 && r.Customer.Status == loyalty.Suspended {
		return nil, p, loyalty.ErrSuspended
	}
	if _, err := r.Progress(loyalty.ProgressWheel, w.ID, &p); err != nil {
		return nil, p, err
	}
	if p.Left(w, r.At, r.Programme.Location) == 0 {
		return nil, p, r.Refuse(ref, "reason.limit", loyalty.ErrSpinLimit.With("limit", w.Limit.Count))
	}

	return w, p, r.Afford(w.Points)
}

// WheelOutlook is a customer's standing with a prize wheel.
type WheelOutlook struct {
	Refusal error  // the error that a spin would get; nil: it would be accepted
	Spins   int64  // all spins
	Left    *int64 // spins that the limit still allows now; nil: no limit
}

// WheelNeeds is what the outlooks on all wheels read, so that it can be loaded at once.
func WheelNeeds(p *programme.Programme) loyalty.CustomerNeeds {
	prizes := map[string]*reward.Reward{}
	for _, w := range Wheels.Of(p) {
		for _, o := range w.Options {
			if prize := reward.Rewards.Of(p)[o.Reward]; o.Type == OptionReward && prize != nil {
				prizes[o.Reward] = prize
			}
		}
	}
	n := reward.ClaimNeeds(prizes)
	n.Progress |= loyalty.Kinds(loyalty.ProgressWheel)
	return n
}

// OutlookOnWheel evaluates a wheel by the rules of prize_wheel_spin.
func OutlookOnWheel(r *engine.Run, w *Wheel) (o WheelOutlook, err error) {
	var p WheelProgress
	if _, err = r.Progress(loyalty.ProgressWheel, w.ID, &p); err != nil {
		return o, err
	}

	o.Spins = p.Total
	if left := p.Left(w, r.At, r.Programme.Location); left >= 0 {
		o.Left = &left
	}

	o.Refusal, err = r.Outlook("prize_wheel_spin", func() error {
		if _, _, err := MaySpin(r, w.ID); err != nil {
			return err
		}
		return mayPrize(r, w)
	})

	return o, err
}

// mayPrize returns the error if no option of a wheel could come up, as Prize does, but gives nothing; nil if one could.
func mayPrize(r *engine.Run, w *Wheel) (refusal error) {
	for _, o := range w.Options {
		if o.Weight == 0 {
			continue
		}
		if o.Type != OptionReward {
			return nil
		}
		err := mayWin(r, o.Reward)
		if err == nil || loyalty.AsError(err).Kind != loyalty.Refused {
			return err
		}
		refusal = err
	}

	return refusal
}

func mayWin(r *engine.Run, id string) error {
	prize, err := prizeOf(r, id)
	if err != nil {
		return err
	}
	if _, err := reward.MayClaim(r, prize, 0); err != nil || prize.Type != reward.RewardCoupon {
		return err
	}
	return coupon.MayIssue(r, "reward_claim", prize.Source())
}

// prizeOf returns a reward as a wheel gives it: its limit for one customer does not count.
func prizeOf(r *engine.Run, id string) (*reward.Reward, error) {
	if !r.Programme.On[programme.ModuleRewards] {
		return nil, loyalty.ErrActionOff.With("module", programme.ModuleRewards).With("action", "reward_claim")
	}
	// a copy: for claims, the programme's reward keeps its limit
	prize := *reward.Rewards.Of(r.Programme)[id]
	prize.MaxClaims = nil
	return &prize, nil
}

// Prize draws an option of a wheel and gives its reward, on a reward_claim below the spin's event. The reward costs
// nothing, and its limit for one customer does not count. A reward that cannot be given, for example because it is out
// of stock, does not come up: another draw is made among the remaining options, which keeps their proportions. If none
// remains, the spin is refused with the failure of the last reward.
func Prize(
	r *engine.Run, spin *loyalty.Event, w *Wheel, random func(n int64) int64,
) (*WheelOption, *reward.ClaimResult, error) {
	options := slices.Clone(w.Options)
	var refusal error
	for {
		i := pickOption(options, random)
		if i < 0 {
			return nil, nil, refusal
		}

		won := options[i]
		if won.Type != OptionReward {
			return &won, nil, nil
		}

		claim, err := prizeReward(r, spin, won.Reward)
		if err == nil || loyalty.AsError(err).Kind != loyalty.Refused {
			return &won, claim, err
		}

		refusal = err
		options = slices.Delete(options, i, i+1)
	}
}

// prizeReward claims a reward at no price, or undoes the attempt if it cannot be claimed.
func prizeReward(r *engine.Run, spin *loyalty.Event, id string) (*reward.ClaimResult, error) {
	prize, err := prizeOf(r, id)
	if err != nil {
		return nil, err
	}
	before, last := len(r.Events()), r.Customer.LastEvent
	claim, err := reward.Claim(r, prize, 0, spin)
	if err != nil {
		r.Unrecord(before, last) // only the claim finds out that a pool has no codes left
	}
	return claim, err
}

// WheelProgress is a customer's progress with a wheel.
type WheelProgress struct {
	Period string `json:"period,omitempty"` // the period that Spins counts, such as week 2026-03-02
	Spins  int64  `json:"spins"`
	Total  int64  `json:"total"` // spins ever
}

// Left returns how many spins the limit of a wheel leaves at an instant; -1 means any number.
func (p WheelProgress) Left(w *Wheel, at time.Time, zone *time.Location) int64 {
	switch period := w.period(at, zone); {
	case w.Limit.Count == 0:
		return -1
	case w.Limit.Period == periodEver:
		return max(0, w.Limit.Count-p.Total)
		// Spins counts another period: there are none in this one
	case period != p.Period:
		return w.Limit.Count
	}
	return max(0, w.Limit.Count-p.Spins)
}

// Spin records one spin at an instant.
func (p *WheelProgress) Spin(w *Wheel, at time.Time, zone *time.Location) {
	if period := w.period(at, zone); period != p.Period {
		// the period is stored as a name instead of a date, so that a change of the limit starts a new count
		p.Period, p.Spins = period, 0
	}
	p.Spins++
	p.Total++
}

// period names the day, week or month of the limit that contains an instant; empty if the limit has
// no period.
func (w *Wheel) period(at time.Time, zone *time.Location) string {
	at = at.In(zone)
	year, month, day := at.Date()
	switch w.Limit.Period {
	case periodWeek:
		day -= (int(at.Weekday()) + 6) % 7
	case periodMonth:
		day = 1
	case periodDay:
	default:
		return ""
	}
	return w.Limit.Period + " " + time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// WheelFeature is the module prize_wheels.
var WheelFeature = engine.Feature{Name: "prize_wheels", Progress: loyalty.ProgressWheel, Join: engine.JoinBy(joinSpins)}

func joinSpins(a *WheelProgress, b WheelProgress) {
	switch {
	case a.Period == b.Period:
		a.Spins += b.Spins
	case a.Period < b.Period: // the period of b is later
		a.Period, a.Spins = b.Period, b.Spins
	}
	a.Total += b.Total
}
