//go:build unix

package main

import (
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// dice throw what the faults and their load leave to chance: the same in every plain
// run, as far as goroutines come in the same order, and others under LOYALTY_TORTURE.
var dice = throwing()

type seeded struct {
	sync.Mutex
	*rand.Rand
}

func throwing() *seeded {
	seed := uint64(1)
	if os.Getenv("LOYALTY_TORTURE") != "" {
		seed = rand.Uint64() //nolint:gosec // any number
	}
	return &seeded{Rand: rand.New(rand.NewPCG(seed, 11))} //nolint:gosec // repeatable, and no secret
}

func (s *seeded) IntN(n int) int { return int(s.Int64N(int64(n))) }

func (s *seeded) Int64N(n int64) int64 {
	s.Lock()
	defer s.Unlock()
	return s.Rand.Int64N(n)
}

// within is a moment of less than d.
func (s *seeded) within(d time.Duration) time.Duration { return time.Duration(s.Int64N(int64(d))) }
