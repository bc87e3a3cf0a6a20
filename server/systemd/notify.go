// Package systemd runs the program under systemd: its notifications, and a matching unit.
package systemd

import (
	"context"
	_ "embed"
	"net"
	"strconv"
	"strings"
	"time"
)

// Unit is a unit for systemd.
//
//go:embed loyalty.service
var Unit []byte

// Manager is the service manager that started the program; the zero Manager receives nothing.
type Manager struct {
	socket   string
	watchdog time.Duration
}

// NewManager finds the service manager in the environment: NOTIFY_SOCKET, and WATCHDOG_USEC if it expects signs of
// life.
func NewManager(environment func(string) (string, bool)) Manager {
	m := Manager{}
	m.socket, _ = environment("NOTIFY_SOCKET")
	if text, _ := environment("WATCHDOG_USEC"); text != "" {
		if us, err := strconv.ParseInt(text, 10, 64); err == nil && us > 0 {
			m.watchdog = time.Duration(us) * time.Microsecond
		}
	}
	return m
}

// Ready reports that the program serves, Stopping that it begins to end.
func (m Manager) Ready() error    { return m.tell("READY=1") }
func (m Manager) Stopping() error { return m.tell("STOPPING=1") }

func (m Manager) tell(state string) error {
	if m.socket == "" {
		return nil
	}

	path := m.socket
	if strings.HasPrefix(path, "@") { // an abstract socket, without a file
		path = "\x00" + path[1:]
	}

	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // the message was sent

	_, err = c.Write([]byte(state))
	return err
}

// Watch reports that the program is alive, twice as often as required, while alive succeeds. A manager that receives
// nothing for too long restarts the program.
func (m Manager) Watch(ctx context.Context, alive func(context.Context) error) {
	if m.watchdog == 0 {
		return
	}

	tick := time.NewTicker(m.watchdog / 2)
	defer tick.Stop()
	for {
		look, cancel := context.WithTimeout(ctx, m.watchdog/3)
		if alive(look) == nil {
			_ = m.tell("WATCHDOG=1") // a manager that cannot be reached acts by itself
		}
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
