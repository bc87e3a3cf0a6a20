//go:build unix

package main

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFaultPostgresSilentConnections lets every open connection to the database
// fall silent for ever, as a failover or a forgetful firewall does, while new
// ones work: the program must find its way to new ones, and above all still see
// that a key was revoked.
func TestFaultPostgresSilentConnections(t *testing.T) {
	t.Parallel()
	direct := newGround(t, anyPostgres(t))
	r := newRelay(t, direct.url)
	through := *direct
	through.env = append([]string{"LOYALTY_DATABASE_URL=" + r.url}, direct.env[1:]...)
	s := through.start(t)
	c := newCaller(t, direct.key)
	enrol(t, c, s.address, "ada")
	till := direct.newKey(t)
	revoked := newCaller(t, till)
	becomes := func(what string, status int, ask func() answer) {
		t.Helper()
		for until := time.Now().Add(3 * patience); ; time.Sleep(100 * time.Millisecond) { // each silent connection costs a caller ten seconds
			a := ask()
			require.NoError(t, a.err, "%s hangs", what)
			if a.status == status {
				return
			}
			require.True(t, time.Now().Before(until), "%s stays %d, not %d", what, a.status, status)
		}
	}

	list := func() answer { return revoked.get(s.address + "/customers") }
	becomes("the key", http.StatusOK, list)

	r.silence()
	require.Equal(t, 0, command(t, direct.dir, direct.env, "keys", "revoke", till.KeyID).code)
	becomes("/livez", http.StatusOK, func() answer { return c.get(s.address + "/livez") })
	becomes("/readyz", http.StatusOK, func() answer { return c.get(s.address + "/readyz") })
	becomes("a write", http.StatusOK, func() answer {
		return c.post(s.address, "/events", `{"customer":"ada","action":"point_add","data":{"points":1}}`, "one")
	})
	becomes("a read", http.StatusOK, func() answer { return c.get(s.address + "/customers/ada") })
	becomes("a revoked key", http.StatusUnauthorized, list)
	require.Equal(t, 0, s.stop(terminate), s.log())
	require.Equal(t, 0, command(t, direct.dir, direct.env, "ledger", "verify").code)
}

// relay stands between the program and its database.
type relay struct {
	url        string
	target     string
	generation atomic.Int64 // connections of an earlier one are silent
	mu         sync.Mutex
	open       []net.Conn
}

func newRelay(t *testing.T, database string) *relay {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{target: u.Host}
	u.Host = l.Addr().String()
	r.url = u.String()
	go r.accept(l)
	t.Cleanup(func() {
		_ = l.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, c := range r.open {
			_ = c.Close()
		}
	})

	return r
}

// silence swallows what the connections that are open now will carry.
func (r *relay) silence() { r.generation.Add(1) }

func (r *relay) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}

		server, err := net.Dial("tcp", r.target)
		if err != nil {
			_ = client.Close()
			continue
		}

		r.mu.Lock()
		r.open = append(r.open, client, server)
		r.mu.Unlock()
		born := r.generation.Load()
		go r.carry(server, client, born)
		go r.carry(client, server, born)
	}
}

// carry copies until an end closes; a silent connection carries nothing, not
// even that.
func (r *relay) carry(to, from net.Conn, born int64) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if r.generation.Load() != born {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}
