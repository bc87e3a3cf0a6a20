package server

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
)

// bulkTime bounds how long a bulk or an operation with large bodies waits; other requests wait for waitTime. Events of a
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
	wait := waitTime
	if o := s.operations[routeKey{c.Request.Method, c.FullPath()}]; o != nil && (o.bodyLimit > 0 || c.FullPath() == bulkPath) {
		wait = bulkTime
	}

	switch c.FullPath() {
	case feedPath:
		wait += feedWait
		fallthrough
	case exportPath, customerExportPath, findingsPath:
		requestOf(c).unbound = c.Request.Context()
	}

	ctx, cancel := context.WithTimeout(c.Request.Context(), wait)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}
