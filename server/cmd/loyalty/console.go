package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/console"
	"github.com/loyalty-platform/loyalty/server/limit"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// The console is there, or it is not.
const (
	consoleOn  = "on"
	consoleOff = "off"
)

// hasConsole says whether the console is served: where it was not chosen, when only this
// machine reaches the server.
func hasConsole(s *settings) bool {
	if s.console != "" {
		return s.console == consoleOn
	}
	host, _, err := hostPort(s.listen)
	return err == nil && isLoopback(host)
}

// consoleOf makes the console over the server's own handler.
func consoleOf(s *settings, a *app, catalogue *i18n.Catalogue, limiter limit.Limiter) func(http.Handler, func(*http.Request) (netip.Addr, bool)) (http.Handler, error) {
	return func(api http.Handler, peer func(*http.Request) (netip.Addr, bool)) (http.Handler, error) {
		return console.New(console.Options{
			Users: user.New(a.store, nil), Catalogue: catalogue, Limiter: limiter, Logger: a.logger, API: api, Peer: peer,
			URL: s.consoleURL, Outside: s.outside.options(a.admin), Passkeys: admin.UsersOf(a.admin),
		})
	}
}

// firstLink is how long the link that a start prints is good.
const firstLink = 10 * time.Minute

// welcomeConsole says where the console is. As long as no owner has a password, and
// only this machine reaches it, it prints a link by which the first owner signs in once.
func welcomeConsole(ctx context.Context, s *settings, users *admin.Users, addr net.Addr, out io.Writer) error {
	if !hasConsole(s) {
		return nil
	}
	address := "http://" + reachable(addr)
	host, _, _ := hostPort(s.listen) // it was checked
	if !isLoopback(host) {
		fmt.Fprintf(out, "Console on %s/console/; make the first owner with: loyalty users create --role owner NAME\n", address)
		return nil
	}
	owner, err := users.FirstOwner(ctx)
	none := errors.Is(err, loyalty.ErrUserNotFound) // there are users, and no owner among them can sign in
	if err != nil && !none {
		return err
	}
	if none || owner.Password != "" {
		fmt.Fprintf(out, "Console on %s/console/\n", address)
		return nil
	}
	done, err := users.Invite(ctx, admin.Call{KeyID: admin.CommandLine}, owner.ID.String(), firstLink)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Console: open %s/console/#enter/%s (once, within ten minutes)\n", address, done.Value.Token)
	return nil
}
