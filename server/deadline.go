package server

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
)

// waitTime limits what a request waits for, so that a database that does not answer cannot hold
// callers. Bulks and operations with large bodies have longer: what of a bulk was not begun by then
// is refused, event by event. A page of the feed may wait for an event; its streams and exports
// have no deadline and extend that of writing themselves.
const (
	waitTime = 10 * time.Second
	bulkTime = 60 * time.Second
)

// The operations that write as much as there is: a table, all that is known of one customer, what an import found.
const (
	exportPath         = "/admin/exports/:table"
	customerExportPath = "/customers/:customer_id/export"
	findingsPath       = "/admin/imports/:import_id/findings"
)

// bound gives a request its deadline, and ends it when its caller goes away.
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
