package administration

import (
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ListFailedRequests lists the last failed requests of all nodes, the newest first. It includes this node's latest
// ones.
func (a *API) ListFailedRequests(
	ctx context.Context, in administration.ListFailedRequestsRequestObject,
) (administration.ListFailedRequestsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	a.Failures.flush(api.Plain(ctx))
	var found []loyalty.FailedRequest
	if conditions, readable := p.Conditions(); readable {
		if found, err = a.Admin.Failures(api.Plain(ctx),
			loyalty.FailureQuery{Conditions: since(conditions), Page: p.Store()}); err != nil {
			return nil, err
		}
	}

	l := list.Linked(p, found, a.Clock(),
		func(f loyalty.FailedRequest) list.Cursor { return list.Cursor{At: f.At, ID: f.ID[:]} })
	out := administration.ListFailedRequests200JSONResponse{
		Data: make([]administration.FailedRequest, len(l.Entries)), Next: l.Next,
		Previous: l.Previous, Time: &l.Time, NotKept: a.Failures.notKept(),
	}
	for i := range l.Entries {
		out.Data[i] = failedRequest(&l.Entries[i])
	}

	return out, nil
}

// since reads the filter since: the beginning of the period.
func since(all []loyalty.Condition) []loyalty.Condition {
	all = slices.DeleteFunc(all, func(c loyalty.Condition) bool { return c.Field == "since" && c.Operator != loyalty.Gte })
	for i := range all {
		if all[i].Field == "since" {
			all[i].Field = "at"
		}
	}
	return all
}

func failedRequest(f *loyalty.FailedRequest) administration.FailedRequest {
	out := administration.FailedRequest{
		At: common.Instant(f.At), RequestID: f.RequestID, Method: f.Method,
		Route: api.TextOrNil(f.Route), API: api.TextOrNil(f.API),
		Status: f.Status, Type: string(api.Types[f.Status]),
		KeyID: api.TextOrNil(f.KeyID), Fields: f.Fields, Duration: f.Duration.Seconds(),
	}
	if f.Code != UnknownCode {
		out.Code = &f.Code
	}
	if out.Fields == nil {
		out.Fields = []string{}
	}
	return out
}
