//go:build no_console

package main

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
)

// withConsole: this program was built without the console and the portal.
const withConsole = false

func consoleOf(
	*settings, *app, *i18n.Catalogue, ratelimit.Limiter,
) func(http.Handler, func(*http.Request) (netip.Addr, bool)) (http.Handler, error) {
	return nil
}

func newPortal(*settings, *app) http.Handler { return nil }

func discover(context.Context, string) error { return nil }
