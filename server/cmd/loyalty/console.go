package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// The console is served, not served, or served on an address of its own.
const (
	consoleOn  = "on"
	consoleOff = "off"
)

// hasConsole reports whether the console is served. Without a setting it is if only this machine can reach the server.
func hasConsole(s *settings) bool {
	if s.console != "" {
		return s.console != consoleOff
	}
	host, _, err := hostPort(s.listen)
	return err == nil && isLoopback(host) && withConsole
}

// consoleApart is the console's own address; empty if it has none.
func consoleApart(s *settings) string {
	if s.console == consoleOn || s.console == consoleOff {
		return ""
	}
	return s.console
}

// checkConsole checks the console's address and the hosts of its pictures.
func checkConsole(s *settings) error {
	for _, host := range s.consoleImages {
		if !pictureHost.MatchString(host) {
			return fault("console-images", "%q must be a host such as cdn.example.com or *.example.com, optionally with a port",
				host)
		}
	}

	if !withConsole && s.console != "" && s.console != consoleOff {
		return fault("console", "this program was built without the console (no_console)")
	}

	at := consoleApart(s)
	if at == "" {
		return nil
	}

	_, port, err := hostPort(at)
	if err != nil {
		return fault("console", "%q must be %s, %s or host:port", at, consoleOn, consoleOff)
	}

	for flag, other := range map[string]string{"listen": s.listen, "manage": s.manageAt} {
		if _, taken, err := hostPort(other); err == nil && port != 0 && port == taken && (flag == "listen" || s.manageGiven) {
			return fault("console", "%s uses the port of %s, %s: choose another port, or set it to %s",
				at, envName(flag), other, consoleOn)
		}
	}

	return nil
}

// pictureHost is a host that a page's policy may name; a text with a blank or a semicolon would change the policy.
var pictureHost = regexp.MustCompile(`^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?(:[0-9]{1,5})?$`)

// listenConsole listens on the console's own address; nil if it has none.
func listenConsole(ctx context.Context, s *settings) (net.Listener, error) {
	if consoleApart(s) == "" {
		return nil, nil
	}
	on, err := (&net.ListenConfig{}).Listen(ctx, "tcp", consoleApart(s))
	if err != nil {
		return nil, fault("console", "%w", err)
	}
	return on, nil
}

// firstLink is how long the link of a first start is valid.
const firstLink = 10 * time.Minute

// welcomeConsole prints the address of the console. As long as no owner has a password, and only this machine can reach
// the console, it prints a link by which the first owner signs in once.
func welcomeConsole(ctx context.Context, s *settings, users *admin.Users, addr net.Addr, out io.Writer) error {
	if !hasConsole(s) {
		return nil
	}

	address, at := cmp.Or(s.consoleURL, "http://"+reachable(addr)), s.listen
	if apart := consoleApart(s); apart != "" {
		at = apart
	}

	host, _, _ := hostPort(at) // checked already
	if !isLoopback(host) || s.collected() {
		fmt.Fprintf(out, "Console on %s/console/; make the first owner with: loyalty users create --role owner NAME\n",
			address)
		return nil
	}

	owner, err := users.FirstOwner(ctx)
	none := errors.Is(err, loyalty.ErrUserNotFound) // there are users, but no owner who can sign in
	if unwritable(err) {
		return noLink(out, address, err)
	}
	if err != nil && !none {
		return err
	}

	if none || owner.Password != "" {
		fmt.Fprintf(out, "Console on %s/console/\n", address)
		return nil
	}

	done, err := users.Invite(ctx, admin.Call{KeyID: admin.CommandLine}, owner.ID.String(), firstLink)
	if unwritable(err) {
		return noLink(out, address, err)
	}
	if err != nil {
		return err
	}

	fmt.Fprintf(out, "Console: open %s/console/#enter/%s (once, within ten minutes)\n", address, done.Value.Token)
	return nil
}

// unwritable reports whether the error means that the database takes no writes, for example because its disk is full.
// The server starts nevertheless and serves reads.
func unwritable(err error) bool {
	return errors.Is(err, loyalty.ErrUnavailable) || errors.Is(err, loyalty.ErrDatabaseAway)
}

// noLink prints why there is no link to the console.
func noLink(out io.Writer, address string, why error) error {
	_, err := fmt.Fprintf(out, "Console on %s/console/; no sign-in link was made: %s\n", address, oneLine(why.Error()))
	return err
}
