package administration

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
)

// CountRequests counts the requests of this node in the last hour, minute by minute.
func (a *API) CountRequests(
	context.Context, administration.CountRequestsRequestObject,
) (administration.CountRequestsResponseObject, error) {
	minutes := a.Pace.last()
	out := administration.RequestCounts{
		At: common.Instant(a.Clock()), Since: common.Instant(a.Pace.began),
		Minutes: make([]administration.RequestMinute, len(minutes)),
	}
	for i, m := range minutes {
		out.Minutes[i] = administration.RequestMinute{At: common.Instant(time.Unix(m.minute*60, 0).UTC()),
			Requests: m.requests, Refused: m.refused, Failed: m.failed}
	}
	return administration.CountRequests200JSONResponse{Data: out}, nil
}
