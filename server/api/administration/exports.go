package administration

import (
	"context"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/export"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// ExportTable starts the export of a table.
func (a *API) ExportTable(
	ctx context.Context, in administration.ExportTableRequestObject,
) (administration.ExportTableResponseObject, error) {
	r, p := api.RequestOf(ctx), in.Params
	ask := export.Ask{Table: string(in.Table), After: loyalty.Deref(p.After), Personal: loyalty.Deref(p.Personal)}
	if p.From != nil {
		ask.From = time.Time(*p.From)
	}
	if p.To != nil {
		ask.Before = time.Time(*p.To)
	}

	form := export.NDJSON
	if p.Format != nil {
		form = export.Form(*p.Format)
	}
	if err := api.MayName(r, ask.Personal); err != nil {
		return nil, err
	}

	from, err := export.Open(a.Exports.Reader, ask)
	if errors.Is(err, export.ErrAfter) {
		return nil, contract.ErrInvalidParameter.With("parameter", "after").With("reason", "export_key").At("after")
	}
	if err != nil {
		return nil, err
	}

	if ask.Personal {
		told := admin.Exported{From: ask.From, To: ask.Before, After: ask.After, Format: string(form)}
		if err := a.Admin.NoteExport(api.Plain(ctx), admin.Call{KeyID: r.Key.ID}, ask.Table, told); err != nil {
			return nil, err
		}
	}

	return api.ExportStream{API: a.Exports, Request: r, From: from,
		Ask: ask, Form: form, Limit: loyalty.Deref(p.Limit)}, nil
}
