package server

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/levels"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
)

// GiveLevel puts a customer into a level by hand.
func (a *levelsAPI) GiveLevel(ctx context.Context, in levels.GiveLevelRequestObject) (levels.GiveLevelResponseObject, error) {
	gift := *in.Body
	var ends time.Time
	data := map[string]any{"structure": gift.Structure, "tier": gift.Tier}
	if gift.Expdate != nil {
		var err error
		if ends, err = calendar.ReadEnd(*gift.Expdate, a.programme().Location); err != nil {
			return nil, loyalty.ErrPropertyInvalid.With("property", "expdate").With("reason", "instant").At("expdate")
		}
		data["expdate"] = common.Instant(ends) // the journal has instants only
	}

	if gift.Reason != nil {
		data["reason"] = *gift.Reason
	}

	give := customerAction{customer: in.CustomerID, action: "tier_change", data: data}
	give.body = func(_ *tongue, o *loyalty.Outcome) any {
		e := give.eventOf(o)
		return levels.GivenLevelAnswer{Data: levels.GivenLevel{
			ID: e.ID, Customer: o.Customer.Name, Structure: gift.Structure, Tier: gift.Tier,
			GivenAt: common.Instant(e.RecordedAt), ExpiresAt: instantOrNil(ends),
		}}
	}

	return a.submitter.submitFor(ctx, give)
}
