package server

import (
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// withReferrer is one customer for callers, with its referrer.
func withReferrer(ctx context.Context, reader loyalty.Reader, choose fieldSelection, c *loyalty.Customer) (common.Customer, error) {
	out := []common.Customer{choose.customer(c)}
	err := nameReferrers(ctx, reader, choose, []loyalty.Customer{*c}, out)
	return out[0], err
}

// nameReferrers adds the referrers of customers by their public names. Referrers who opted out are not named, and
// customers who opted out get none.
func nameReferrers(ctx context.Context, reader loyalty.Reader, choose fieldSelection, list []loyalty.Customer, out []common.Customer) error {
	var ids []loyalty.ID
	for i := range list {
		if id := list[i].Profile.Referrer; id != (loyalty.ID{}) && list[i].Status != loyalty.OptedOut && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}

	if len(ids) == 0 || !choose.has("referrer") {
		return nil
	}

	names, err := reader.CustomerNames(ctx, ids)
	if err != nil {
		return err
	}

	for i := range list {
		if list[i].Status != loyalty.OptedOut {
			out[i].Referrer = textOrNil(names[list[i].Profile.Referrer])
		}
	}

	return nil
}
