package main

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/intake"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// uploads does what was asked for of imports that came over HTTP.
func (a *app) uploads(keeper *admin.Admin) *intake.Uploads {
	return &intake.Uploads{
		Store: a.store, Ledger: a.store, Now: a.engine.Now,
		World: func(ctx context.Context) (intake.World, error) {
			lists, err := listIDs(ctx, keeper)
			return intake.World{Store: a.store, Programme: a.directory.Programme(), Contract: a.vocabulary, Lists: lists, Now: a.engine.Now()}, err
		},
		Begin: func(ctx context.Context, keyID string, i loyalty.Import) error {
			_, err := keeper.BeginImport(ctx, admin.Call{KeyID: keyID}, i)
			if err == nil {
				a.jobs.Wake("bulk")
			}
			return err
		},
	}
}
