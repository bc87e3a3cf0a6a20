package server

import (
	"errors"
	"sync/atomic"
)

// DefaultBodyMemory is how much memory the bodies of all requests on a node may
// take together, in bytes.
const DefaultBodyMemory = 256 << 20

// workFactor is how many times its size a body counts while it is worked on:
// the decoded tree and what the rules make of it.
const workFactor = 8

// bodyMemory bounds what bodies take together on this node. Callers whose key is
// not ours share a quarter of it, so that they cannot lock out the others.
type bodyMemory struct{ known, unknown room }

// room is memory that many requests share, in bytes.
type room struct {
	size int64
	used atomic.Int64
}

func newBodyMemory(size int64) *bodyMemory {
	return &bodyMemory{known: room{size: size - size/4}, unknown: room{size: size / 4}}
}

// share begins the part of one request.
func (m *bodyMemory) share(known bool) bodyShare {
	if known {
		return bodyShare{room: &m.known}
	}
	return bodyShare{room: &m.unknown}
}

// bodyShare is what one request holds of a room.
type bodyShare struct {
	room *room
	held int64
}

// take counts n more bytes, or returns false if there is no room for them.
func (b *bodyShare) take(n int64) bool {
	if b.room.used.Add(n) > b.room.size {
		b.room.used.Add(-n)
		return false
	}
	b.held += n
	return true
}

// work counts what decoding and deciding a body takes, beyond the body itself.
func (b *bodyShare) work(size int) bool { return b.take(int64(size) * (workFactor - 1)) }

func (b *bodyShare) release() {
	b.room.used.Add(-b.held)
	b.held = 0
}

// errNoRoom says that the request bodies in memory leave no room for another one.
var errNoRoom = errors.New("the bodies in memory leave no room")
