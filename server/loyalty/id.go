package loyalty

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// ID is a UUID version 7 in binary form. Its first 48 bits are milliseconds, so
// ids of one customer sort in the order of commit.
type ID = uuid.UUID

// NewID makes an id for the instant now that sorts after every id up to after. Within one millisecond, and when the
// clock steps back, it increments a counter in the 12 bits behind the time. The rest is random, so that ids of two
// nodes never collide.
func NewID(now time.Time, after ID) ID {
	var id ID
	if _, err := rand.Read(id[6:]); err != nil {
		panic(err) // crypto/rand never fails on a supported system
	}

	ms, seq := uint64(now.UnixMilli()), uint64(0)
	if last, n := parts(after); ms <= last {
		ms, seq = last, n+1
		if seq > 0xfff {
			ms, seq = ms+1, 0
		}
	}

	var head [8]byte
	binary.BigEndian.PutUint64(head[:], ms<<16|0x7000|seq)
	copy(id[:8], head[:])
	id[8] = id[8]&0x3f | 0x80
	return id
}

// parts reads the milliseconds and the counter of an id.
func parts(id ID) (ms, seq uint64) {
	head := binary.BigEndian.Uint64(id[:8])
	return head >> 16, head & 0xfff
}

// CompareID orders ids as both databases do: byte by byte.
func CompareID(a, b ID) int { return bytes.Compare(a[:], b[:]) }
