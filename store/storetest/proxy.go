package storetest

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Cut is what a Proxy does to a round trip.
type Cut int

// The ways to lose a connection.
const (
	Pass     Cut = iota
	Unsent       // the request never reaches the server
	Answered     // the server executes it, but its answer never arrives
	Severed      // likewise, and the store notices at once that the connection is gone
)

// Proxy is a proxy between a store and PostgreSQL that counts messages and cuts connections at a chosen one. It
// understands the wire protocol, so a test is exact where a delay would be a guess.
type Proxy struct {
	Statements atomic.Int64 // executions of statements
	Prepared   atomic.Int64 // statements prepared
	RoundTrips atomic.Int64 // requests that wait for an answer

	// Pooler makes the proxy report an invented session to its clients, as a pooler does.
	Pooler atomic.Bool

	url      *url.URL
	server   string
	listener net.Listener
	plan     atomic.Pointer[func(trip int64) Cut]
	mu       sync.Mutex
	open     map[net.Conn]bool
	shut     bool
}

// NewProxy starts to listen in front of the database at address.
func NewProxy(t testing.TB, address string) *Proxy {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{url: u, server: u.Host, listener: l, open: map[net.Conn]bool{}}
	go p.accept()
	t.Cleanup(func() {
		p.Shut()
		_ = l.Close()
	})
	return p
}

// URL is the address of the database through the proxy.
func (p *Proxy) URL() string {
	u := *p.url
	u.Host = p.listener.Addr().String()
	q := u.Query()
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	return u.String()
}

// Plan decides about every later round trip, numbered from 1. Nil passes all.
func (p *Proxy) Plan(plan func(trip int64) Cut) {
	p.Reset()
	if plan == nil {
		p.plan.Store(nil)
		return
	}
	p.plan.Store(&plan)
}

// Reset sets the counters to zero.
func (p *Proxy) Reset() {
	p.Statements.Store(0)
	p.Prepared.Store(0)
	p.RoundTrips.Store(0)
}

// Shut closes every connection and refuses new ones, until Reopen.
func (p *Proxy) Shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	for c := range p.open {
		_ = c.Close()
	}
}

// Reopen ends Shut.
func (p *Proxy) Reopen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = false
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil || !p.register(client, server) {
			_ = client.Close()
			continue
		}
		muted := new(atomic.Bool)
		go p.requests(client, server, muted)
		go p.answers(client, server, muted)
	}
}

func (p *Proxy) register(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		_ = conns[1].Close()
		return false
	}
	for _, c := range conns {
		p.open[c] = true
	}
	return true
}

func (p *Proxy) end(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.open, c)
	}
}

// requests forwards the store's messages one by one.
func (p *Proxy) requests(client, server net.Conn, muted *atomic.Bool) {
	message, err := readMessage(client, 0) // the first has no type
	for err == nil {
		switch message[0] {
		case 'E':
			p.Statements.Add(1)
		case 'P':
			p.Prepared.Add(1)
		case 'S', 'Q':
			trip, cut := p.RoundTrips.Add(1), Pass
			if plan := p.plan.Load(); plan != nil {
				cut = (*plan)(trip)
			}

			if cut == Unsent {
				p.end(client, server)
				return
			}

			if cut != Pass {
				muted.Store(true)
			}

			if cut == Severed { // its session continues until it has executed what it received
				_, _ = server.Write(message)
				p.end(client)
				return
			}
		}

		if _, err = server.Write(message); err == nil {
			message, err = readMessage(client, 1)
		}
	}

	p.end(server)
}

// answers forwards the server's messages. When muted, it waits until the server is ready again, which is after the
// commit, and closes.
func (p *Proxy) answers(client, server net.Conn, muted *atomic.Bool) {
	for {
		message, err := readMessage(server, 1)
		mute := muted.Load()
		if err == nil && message[0] == 'K' && p.Pooler.Load() {
			binary.BigEndian.PutUint32(message[5:], 1<<30) // not a session of the server
		}
		if err == nil && !mute {
			_, err = client.Write(message)
		}
		if err != nil || mute && message[0] == 'Z' {
			p.end(client, server)
			return
		}
	}
}

// readMessage reads one message of the protocol: a type, if it has one, and a length that includes itself.
func readMessage(r io.Reader, typed int) ([]byte, error) {
	head := make([]byte, typed+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	message := make([]byte, typed+int(binary.BigEndian.Uint32(head[typed:])))
	_, err := io.ReadFull(r, message[copy(message, head):])
	return message, err
}
