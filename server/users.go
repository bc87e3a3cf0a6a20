package server

import (
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// keyOfUser replaces the access key in a request of a user of the console: the rate limit, repeated requests, the log
// and the audit trail identify users by it.
func keyOfUser(u *loyalty.User) *loyalty.AccessKey {
	return &loyalty.AccessKey{ID: u.KeyID(), Label: u.Name}
}

// corrections are the actions by which an operator corrects points, which need a reason.
var corrections = []string{"point_add", "point_sub"}

// consent checks a user's request against their role: some bodies need a higher role or a fresh
// proof of identity, and corrections of points need a reason.
func consent(clock func() time.Time, fail func(*gin.Context, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := api.RequestOf(c)
		if r.Caller == nil || r.Operation == nil || r.Operation.Body == nil {
			return
		}
		if err := consented(r, clock()); err != nil {
			fail(c, err)
		}
	}
}

func consented(r *api.Request, now time.Time) error {
	bodies, when := eventsIn(r.Tree), r.Operation.When
	for _, body := range bodies {
		if value, _ := body[when.Property].(string); when.Property == "" || !slices.Contains(when.Values, value) {
			continue
		}
		switch {
		case when.Role != "" && !r.Caller.Role.Covers(when.Role):
			return loyalty.ErrRoleNeeded.With("role", string(when.Role))
		case !user.Confirmed(r.Caller, now.UnixMilli()):
			return loyalty.ErrConfirmNeeded
		}
	}

	if !r.Operation.FromTree || r.Operation.Reads {
		return nil
	}

	for _, body := range bodies {
		action, _ := body["action"].(string)
		data, _ := body["data"].(map[string]any)
		if reason, _ := data["reason"].(string); reason == "" && slices.Contains(corrections, action) {
			return loyalty.ErrReasonNeeded.With("action", action).At("data.reason")
		}
	}

	return nil
}

// eventsIn are the events in a checked body: itself, or the events of a bulk.
func eventsIn(tree any) []map[string]any {
	body, _ := tree.(map[string]any)
	all, bulk := body["events"].([]any)
	if !bulk {
		return []map[string]any{body}
	}
	events := make([]map[string]any, len(all))
	for i, e := range all {
		events[i], _ = e.(map[string]any)
	}
	return events
}

// OpenTo lists the operations that a caller may use, by their operationId.
func openTo(operations map[api.RouteKey]*api.Operation, r *api.Request) []string {
	names := []string{}
	for _, o := range operations {
		open := len(r.Key.APIs) == 0 || slices.Contains(r.Key.APIs, o.API)
		if r.Caller != nil {
			open = r.Caller.Role.Covers(o.Role)
		} else if r.Key.ReadOnly && !o.Reads {
			open = false
		}
		if open {
			names = append(names, o.Route.Operation.OperationID)
		}
	}

	slices.Sort(names)
	return names
}
