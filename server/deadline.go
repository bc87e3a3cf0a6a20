package server

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/api/events"
)

// bulkTime bounds how long a bulk or an operation with large bodies waits; other requests wait for WaitTime. Events of a
// bulk that have not started by then are refused one by one. A page of the feed may wait for an event. Streams and
// exports have no deadline here and extend the deadline of writing themselves.
const bulkTime = 60 * time.Second

// The operations with answers of any length: a table, all data of one customer, the findings of an import.
const (
	exportPath         = "/admin/exports/:table"
	customerExportPath = "/customers/:customer_id/export"
	findingsPath       = "/admin/imports/:import_id/findings"
)

// bound gives a request its deadline, and cancels it when its caller goes away.
func (s *Server) bound(c *gin.Context) {
	wait := api.WaitTime
	if o := s.operations[api.RouteKey{Method: c.Request.Method, Path: c.FullPath()}]; o != nil &&
		(o.BodyLimit > 0 || c.FullPath() == api.BulkPath) {
		wait = bulkTime
	}

	switch c.FullPath() {
	case events.FeedPath:
		wait += events.FeedWait
		fallthrough
	case exportPath, customerExportPath, findingsPath:
		api.RequestOf(c).Unbound = c.Request.Context()
	}

	ctx, cancel := context.WithTimeout(c.Request.Context(), wait)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}
