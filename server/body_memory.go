package server

import (
	"errors"
	"sync/atomic"
)

// DefaultBodyMemory bounds the memory for the bodies of all requests on a node, in bytes.
const DefaultBodyMemory = 256 << 20

// workFactor is how many times its size a body counts while it is processed: the decoded tree and the values that the
// rules derive from it.
const workFactor = 8

// bodyMemory bounds the memory of bodies on this node. Callers with an unknown key share a quarter of it, so that they
// cannot lock out the others.
type bodyMemory struct{ known, unknown room }

// room is memory that many requests share, in bytes.
type room struct {
	size int64
	used atomic.Int64
}

func newBodyMemory(size int64) *bodyMemory {
	return &bodyMemory{known: room{size: size - size/4}, unknown: room{size: size / 4}}
}

// share starts the share of one request.
func (m *bodyMemory) share(known bool) bodyShare {
	if known {
		return bodyShare{room: &m.known}
	}
	return bodyShare{room: &m.unknown}
}

// bodyShare is the memory that one request holds of a room.
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

// work counts the memory for decoding and deciding a body, beyond the body itself.
func (b *bodyShare) work(size int) bool { return b.take(int64(size) * (workFactor - 1)) }

func (b *bodyShare) release() {
	b.room.used.Add(-b.held)
	b.held = 0
}

// errNoRoom means that the request bodies in memory leave no room for another one.
var errNoRoom = errors.New("the bodies in memory leave no room")
