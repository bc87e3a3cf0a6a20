package server

import (
	"context"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/export"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// ExportTable starts the export of a table.
func (a *administrationAPI) ExportTable(ctx context.Context, in administration.ExportTableRequestObject) (administration.ExportTableResponseObject, error) {
	r, p := requestOf(ctx), in.Params
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
	if err := mayName(r, ask.Personal); err != nil {
		return nil, err
	}

	from, err := export.Open(a.exports.reader, ask)
	if errors.Is(err, export.ErrAfter) {
		return nil, contract.ErrInvalidParameter.With("parameter", "after").With("reason", "export_key").At("after")
	}
	if err != nil {
		return nil, err
	}

	if ask.Personal {
		told := admin.Exported{From: ask.From, To: ask.Before, After: ask.After, Format: string(form)}
		if err := a.admin.NoteExport(plain(ctx), admin.Call{KeyID: r.key.ID}, ask.Table, told); err != nil {
			return nil, err
		}
	}

	return exportStream{a.exports, r, from, ask, form, loyalty.Deref(p.Limit)}, nil
}
