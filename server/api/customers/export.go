package customers

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/export"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// ExportCustomer starts the export of all data of a customer.
func (a *API) ExportCustomer(
	ctx context.Context, in customers.ExportCustomerRequestObject,
) (customers.ExportCustomerResponseObject, error) {
	r, personal := api.RequestOf(ctx), loyalty.Deref(in.Params.Personal)
	if err := api.MayName(r, personal); err != nil {
		return nil, err
	}

	who, err := a.Customers.Current(api.Plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}

	from, err := export.OfCustomer(api.Plain(ctx), a.Exports.Reader, a.Reader, who.ID, personal)
	if err != nil {
		return nil, err
	}

	if personal {
		if err := a.Admin.NoteExport(api.Plain(ctx), admin.Call{KeyID: r.Key.ID},
			"customers/"+who.ID.String(), admin.Exported{Format: string(export.NDJSON)}); err != nil {
			return nil, err
		}
	}

	return api.ExportStream{API: a.Exports, Request: r, From: from,
		Ask: export.Ask{Table: "customer", Personal: personal}, Form: export.NDJSON, Limit: 0}, nil
}
