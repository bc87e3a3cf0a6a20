package ratelimit

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

const (
	shards     = 64               // so that keys seldom wait for each other
	maxKeys    = 1 << 17          // of one Memory, about 10 MB
	sweepEvery = time.Second / 10 // one shard each time, all of them in 6.4 s
	samples    = 8                // buckets to look at to find one to drop
)

// Memory limits on this node alone. Its memory is bounded: it drops drained buckets, which hold no information, and
// above 131,072 keys the one among a few that is nearest to drained. It starts no goroutine; each call cleans up a
// little.
type Memory struct {
	now       func() time.Time
	start     time.Time
	seed      maphash.Seed
	perShard  int
	nextSweep atomic.Int64 // nanoseconds since start
	swept     atomic.Uint32
	shards    [shards]shard
}

// shard stores the hashes of keys, not the keys, so that a long key takes no memory. Two keys share a bucket with a
// probability of 2^-64, under a secret seed.
type shard struct {
	mu      sync.Mutex
	buckets map[uint64]bucket
	high    int      // the most buckets since the map was made
	_       [40]byte // neighbours' locks on cache lines of their own
}

// NewMemory makes a limiter that reads the time from now (time.Now, except in tests).
func NewMemory(now func() time.Time) *Memory {
	m := &Memory{now: now, start: now(), seed: maphash.MakeSeed(), perShard: maxKeys / shards}
	for i := range m.shards {
		m.shards[i].buckets = make(map[uint64]bucket)
	}
	return m
}

// Allow implements Limiter.
func (m *Memory) Allow(_ context.Context, key string, perMinute, n int) (Verdict, error) {
	if err := checkRule(perMinute, n); err != nil {
		return Verdict{}, err
	}

	now := m.elapsed()
	m.sweep(now)
	hash := maphash.String(m.seed, key)
	s := &m.shards[hash%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.buckets[hash]
	if !known && len(s.buckets) >= m.perShard {
		s.giveUpOne()
	}

	v := b.take(now, perMinute, n)
	s.buckets[hash] = b
	s.high = max(s.high, len(s.buckets))
	return v, nil
}

// elapsed is monotonic with time.Now: setting the machine's clock has no effect.
func (m *Memory) elapsed() int64 { return int64(m.now().Sub(m.start)) }

// sweep drops the drained buckets of one shard when its turn has come. Any key's call does it for all keys, so idle
// keys are dropped while others are busy.
func (m *Memory) sweep(now int64) {
	next := m.nextSweep.Load()
	if now < next || !m.nextSweep.CompareAndSwap(next, now+int64(sweepEvery)) {
		return
	}
	s := &m.shards[m.swept.Add(1)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash, b := range s.buckets {
		if b.empty <= now {
			delete(s.buckets, hash)
		}
	}
	s.shrink()
}

// shrink frees memory after a flood of keys, which delete does not.
func (s *shard) shrink() {
	if s.high < 256 || len(s.buckets) > s.high/4 {
		return
	}
	smaller := make(map[uint64]bucket, len(s.buckets))
	for hash, b := range s.buckets {
		smaller[hash] = b
	}
	s.buckets, s.high = smaller, len(smaller)
}

// giveUpOne drops, of a few random buckets, the one that will drain first: forgetting it gives away the least. A key at
// its limit is chosen last.
func (s *shard) giveUpOne() {
	var first uint64
	var earliest int64
	seen := 0
	for hash, b := range s.buckets { // Go begins at a random place
		if seen == 0 || b.empty < earliest {
			first, earliest = hash, b.empty
		}
		if seen++; seen == samples {
			break
		}
	}
	delete(s.buckets, first)
}
