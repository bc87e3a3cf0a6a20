package action

import (
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// coupon_create makes a coupon under the caller's code and gives it to the customer. An amount is the balance of a gift
// card, so a coupon with an amount and no type is a gift card.
var couponCreate = engine.Action[events.CouponCreateData]{
	Name: "coupon_create", Standing: engine.Earner,
	Needs: func(d events.CouponCreateData, n *loyalty.CustomerNeeds) { n.Coupons = []string{d.Code} },
	Check: checkCoupon,
	Apply: func(r *engine.Run, d events.CouponCreateData) error {
		// here a pool is only a name for filters and figures: none of its codes is used up
		pool := deref(d.Pool)
		if pool != "" && coupon.Pools.Of(r.Programme)[pool] == nil {
			return loyalty.ErrEntityNotFound.With("type", coupon.PoolType).With("id", pool).At("data.pool")
		}

		expires, err := end(r, "expdate", d.Expdate)
		if err != nil {
			return err
		}

		c := loyalty.Coupon{
			Type: couponType(d), Value: money.Parts(d.Value), Currency: deref(d.Currency), Pool: pool,
			Cost:   money.Parts(deref(d.Cost)),
			Stores: separated(d.Stores), Products: separated(d.Product), ExpiresAt: expires,
		}

		// a name sent by the caller has one text, which stands for the programme's default language
		if name := deref(d.Name); name != "" {
			c.Name.Texts = map[string]string{r.Programme.Language.Default: name}
		}
		if d.Amount != nil { // the value of a gift card is its balance
			c.Value = money.Parts(*d.Amount)
		}
		if c.Type == loyalty.CouponGiftCard {
			c.Balance = c.Value
		}

		return coupon.Give(r, r.Event, d.Code, c)
	},
}

// checkCoupon refuses a percentage above 100 and a balance for a type that has none. The schema cannot express these
// rules; they are checked here, before a transaction begins.
func checkCoupon(d events.CouponCreateData) error {
	kind := couponType(d)
	if d.Amount != nil && kind != loyalty.CouponGiftCard {
		return programme.Unfit("amount", "type", kind)
	}
	// more than the whole price would be money that the till pays out
	if kind == loyalty.CouponPercentage && d.Value > 100*money.Unit {
		return loyalty.ErrPropertyInvalid.With("property", "value").With("reason", "range").At("data.value")
	}
	return nil
}

// couponType reads the type in either spelling. Without a type, an amount means a gift card.
func couponType(d events.CouponCreateData) string {
	switch t := strings.ReplaceAll(string(deref(d.Type)), " ", "_"); {
	case t != "":
		return t
	// older clients send no type: for them an amount has always meant a gift card
	case d.Amount != nil:
		return loyalty.CouponGiftCard
	default:
		return loyalty.CouponAmount
	}
}

// separated splits a list that is sent as one text.
func separated(text *string) []string {
	parts := strings.Split(deref(text), ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}

// start reads a day or an instant at which something begins; zero if none was sent.
func start(r *engine.Run, property string, sent *string) (time.Time, error) {
	return moment(property, sent,
		func(text string) (time.Time, error) { return calendar.ReadStart(text, r.Programme.Location) })
}

// end reads a day or an instant at which something ends; zero if none was sent. A day counts to its end in the
// programme's zone.
func end(r *engine.Run, property string, sent *string) (time.Time, error) {
	return moment(property, sent,
		func(text string) (time.Time, error) { return calendar.ReadEnd(text, r.Programme.Location) })
}

func moment(property string, sent *string, read func(string) (time.Time, error)) (time.Time, error) {
	text := strings.TrimSpace(deref(sent))
	if text == "" {
		return time.Time{}, nil
	}
	at, err := read(text)
	if err != nil {
		return at, loyalty.InvalidAttribute(property, "instant")
	}
	return at, nil
}
