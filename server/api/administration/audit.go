package administration

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ListAudit lists the administrative changes, the newest first.
func (a *API) ListAudit(
	ctx context.Context, in administration.ListAuditRequestObject,
) (administration.ListAuditResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	var found []loyalty.AuditEntry
	if conditions, readable := p.Conditions(); readable {
		if found, err = a.Admin.AuditLog(api.Plain(ctx),
			loyalty.AuditQuery{Conditions: conditions, Page: p.Store()}); err != nil {
			return nil, err
		}
	}

	l := list.Linked(p, found, a.Clock(),
		func(e loyalty.AuditEntry) list.Cursor { return list.Cursor{At: e.At, ID: e.ID[:]} })
	out := administration.ListAudit200JSONResponse{
		Data: make([]administration.AuditEntry, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time,
	}
	for i, e := range l.Entries {
		out.Data[i] = administration.AuditEntry{
			At: common.Instant(e.At), KeyID: e.Actor, ActorKind: administration.AuditEntryActorKind(e.ActorKind),
			Action: e.Action, Target: e.Target, Before: e.Before, After: e.After,
		}
	}

	return out, nil
}
