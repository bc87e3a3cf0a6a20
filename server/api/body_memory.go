package api

import (
	"errors"
	"sync/atomic"
)

// DefaultBodyMemory bounds the memory for the bodies of all requests on a node, in bytes.
const DefaultBodyMemory = 256 << 20

// workFactor is how many times its size a body counts while it is processed: the decoded tree and the values that the
// rules derive from it.
const workFactor = 8

// BodyMemory bounds the memory of bodies on this node. Callers with an unknown key share a quarter of it, so that they
// cannot lock out the others.
type BodyMemory struct{ known, unknown room }

// room is memory that many requests share, in bytes.
type room struct {
	size int64
	used atomic.Int64
}

// NewBodyMemory divides a number of bytes between callers with known and with unknown keys.
func NewBodyMemory(size int64) *BodyMemory {
	return &BodyMemory{known: room{size: size - size/4}, unknown: room{size: size / 4}}
}

// Share starts the share of one request.
func (m *BodyMemory) Share(known bool) BodyShare {
	if known {
		return BodyShare{room: &m.known}
	}
	return BodyShare{room: &m.unknown}
}

// BodyShare is the memory that one request holds of a room.
type BodyShare struct {
	room *room
	held int64
}

// Take counts n more bytes, or returns false if there is no room for them.
func (b *BodyShare) Take(n int64) bool {
	if b.room.used.Add(n) > b.room.size {
		b.room.used.Add(-n)
		return false
	}
	b.held += n
	return true
}

// Work counts the memory for decoding and deciding a body, beyond the body itself.
func (b *BodyShare) Work(size int) bool { return b.Take(int64(size) * (workFactor - 1)) }

// Release gives back all that the share holds.
func (b *BodyShare) Release() {
	b.room.used.Add(-b.held)
	b.held = 0
}

// ErrNoRoom means that the request bodies in memory leave no room for another one.
var ErrNoRoom = errors.New("the bodies in memory leave no room")
