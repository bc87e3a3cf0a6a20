package main

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/importer"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// uploads does the ordered work on imports that came over HTTP.
func (a *app) uploads(keeper *admin.Admin) *importer.Uploads {
	return &importer.Uploads{
		Store: a.store, Ledger: a.store, Now: a.engine.Now,
		World: func(ctx context.Context) (importer.World, error) {
			lists, err := listIDs(ctx, keeper)
			return importer.World{Store: a.store, Programme: a.directory.Programme(), Contract: a.vocabulary, Lists: lists,
				Now: a.engine.Now()}, err
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

// listIDs are the existing customer lists.
func listIDs(ctx context.Context, a *admin.Admin) (map[string]bool, error) {
	ids := map[string]bool{}
	const page = 1000

	for offset := 0; ; offset += page {
		list, err := a.Entities(ctx,
			loyalty.EntityQuery{Type: loyalty.CustomerListType, Page: loyalty.Page{Limit: page, Offset: offset}})
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			ids[e.ID] = true
		}
		if len(list) < page {
			return ids, nil
		}
	}
}
