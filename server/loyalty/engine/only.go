package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Some events may leave out what they are about: then it is the only thing that the
// customer has of its kind. What it was is kept with the event.

// mostNamed is how many things a refusal names.
const mostNamed = 20

// OnlyOne gives the one of all; missing is the failure where there is none. Several are
// refused with ErrSeveral (190400), which names them.
func OnlyOne(attribute string, all []string, missing *loyalty.Error) (string, error) {
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
	return "", loyalty.ErrSeveral.With("property", attribute).With("choices", named).At("data." + attribute)
}

// FillIn adds to the submitted event an attribute that was left out, so that the
// journal and the rules know what it was about.
func (r *Run) FillIn(attribute, value string) error {
	r.Data = maps.Clone(r.Data) // the one that was sent is shared by every attempt
	if r.Data == nil {
		r.Data = map[string]json.RawMessage{}
	}
	r.Data[attribute] = loyalty.JSON(value)
	if r.Event.As != "" {
		return nil // the row of another action, which applies a held event
	}
	data := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.Event.Data, &data); err != nil {
		return err
	}
	data[attribute] = loyalty.JSON(value)
	r.Event.Data = loyalty.JSON(data)
	return nil
}

// ClaimedCodes lists the codes of the coupons that this customer has claimed and can
// still use, in order.
func (r *Run) ClaimedCodes() ([]string, error) {
	if err := r.Require(loyalty.CustomerNeeds{Codes: true}); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	if l := r.account.loaded; l != nil {
		for code, expires := range l.Codes {
			known[code] = expires.IsZero() || r.At.Before(expires)
		}
	}
	for _, later := range []map[string]*loyalty.Coupon{r.batch.coupons, r.work.coupons} {
		for code, c := range later {
			known[code] = c.Customer == r.Customer.ID && c.StateAt(r.At) == loyalty.CouponClaimed
		}
	}
	maps.DeleteFunc(known, func(_ string, claimed bool) bool { return !claimed })
	return slices.Sorted(maps.Keys(known)), nil
}
