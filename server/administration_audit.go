package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// auditFields are what the audit trail can be filtered by.
var auditFields = map[string]field{
	"action": {kind: textField},
	"target": {kind: textField},
	"key_id": {kind: textField},
	"at":     {kind: instantField},
}

// ListAudit lists the administrative changes, the newest first.
func (a *administrationAPI) ListAudit(ctx context.Context, in administration.ListAuditRequestObject) (administration.ListAuditResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	var found []loyalty.AuditEntry
	if conditions, readable := conditions(requestOf(ctx).query, auditFields); readable {
		if found, err = a.admin.AuditLog(plain(ctx), loyalty.AuditQuery{Conditions: conditions, Page: storePage(p)}); err != nil {
			return nil, err
		}
	}
	l := linked(p, found, a.clock(), func(e loyalty.AuditEntry) cursor { return cursor{at: e.At, id: e.ID[:]} })
	out := administration.ListAudit200JSONResponse{
		Data: make([]administration.AuditEntry, len(l.entries)), Next: l.next, Previous: l.previous, Time: &l.time,
	}
	for i, e := range l.entries {
		out.Data[i] = administration.AuditEntry{
			At: common.Instant(e.At), KeyID: e.KeyID, Action: e.Action, Target: e.Target, Before: e.Before, After: e.After,
		}
	}
	return out, nil
}
