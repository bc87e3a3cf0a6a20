package levels

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/levels"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
)

// GiveLevel puts a customer into a level by hand.
func (a *API) GiveLevel(ctx context.Context, in levels.GiveLevelRequestObject) (levels.GiveLevelResponseObject, error) {
	gift := *in.Body
	var ends time.Time
	data := map[string]any{"structure": gift.Structure, "tier": gift.Tier}
	if gift.Expdate != nil {
		var err error
		if ends, err = calendar.ReadEnd(*gift.Expdate, a.Programme().Location); err != nil {
			return nil, loyalty.ErrPropertyInvalid.With("property", "expdate").With("reason", "instant").At("expdate")
		}
		data["expdate"] = common.Instant(ends) // the journal has instants only
	}

	if gift.Reason != nil {
		data["reason"] = *gift.Reason
	}

	give := api.CustomerAction{Customer: in.CustomerID, Action: "tier_change", Data: data}
	give.Body = func(_ *api.Localizer, o *loyalty.Outcome) any {
		e := give.EventOf(o)
		return levels.GivenLevelAnswer{Data: levels.GivenLevel{
			ID: e.ID, Customer: o.Customer.Name, Structure: gift.Structure, Tier: gift.Tier,
			GivenAt: common.Instant(e.RecordedAt), ExpiresAt: api.InstantOrNil(ends),
		}}
	}

	return a.Submitter.SubmitFor(ctx, give)
}
