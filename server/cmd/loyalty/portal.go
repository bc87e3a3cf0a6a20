package main

import (
	"net/http"

	"github.com/loyalty-platform/loyalty/server/docs"
)

// What LOYALTY_DOCS can be.
const (
	docsOff  = "off"
	docsRead = "read"
	docsTry  = "try"
)

// portal makes the pages for those who write against the platform; nil: there are none.
// On a loopback address requests can be tried from them, elsewhere only where it was chosen.
func portal(s *settings, a *app) http.Handler {
	host, _, _ := hostPort(s.listen) // it was checked
	switch {
	case s.docs == docsOff:
		return nil
	case s.docs == docsTry || s.docs == "" && isLoopback(host):
		return docs.New(s.region, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.server.ServeHTTP(w, r) }))
	}
	return docs.New(s.region, nil)
}
