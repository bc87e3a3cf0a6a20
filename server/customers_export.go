package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/server/export"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// ExportCustomer starts the export of all data of a customer.
func (a *customersAPI) ExportCustomer(ctx context.Context, in customers.ExportCustomerRequestObject) (customers.ExportCustomerResponseObject, error) {
	r, personal := requestOf(ctx), loyalty.Deref(in.Params.Personal)
	if err := mayName(r, personal); err != nil {
		return nil, err
	}

	who, err := a.customers.current(plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}

	from, err := export.OfCustomer(plain(ctx), a.exports.reader, a.reader, who.ID, personal)
	if err != nil {
		return nil, err
	}

	if personal {
		if err := a.admin.NoteExport(plain(ctx), admin.Call{KeyID: r.key.ID}, "customers/"+who.ID.String(), admin.Exported{Format: string(export.NDJSON)}); err != nil {
			return nil, err
		}
	}

	return exportStream{a.exports, r, from, export.Ask{Table: "customer", Personal: personal}, export.NDJSON, 0}, nil
}
