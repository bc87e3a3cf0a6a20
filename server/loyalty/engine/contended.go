package engine

import (
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// contended holds the customers over whom nodes compete: whose batches met another writer's more
// than once lately. Their next batches take the locks at once and wait for their turn; without the
// locks each of several nodes would load, decide and lose in turn.
type contended struct {
	mu  sync.Mutex
	met map[loyalty.Name]meeting
}

// meeting counts how often a customer's batches met another writer's, and when last.
type meeting struct {
	times int
	last  time.Time
}

const (
	lately      = time.Second // after it a batch is tried without locks again
	mostMeeting = 4096        // customers who are remembered
)

// note records that a batch with this customer met another writer's.
func (c *contended) note(customer loyalty.Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.met) >= mostMeeting {
		clear(c.met) // who still meets others is known again soon
	}
	if c.met == nil {
		c.met = map[loyalty.Name]meeting{}
	}
	m := c.met[customer]
	if time.Since(m.last) > 2*lately {
		m.times = 0
	}
	c.met[customer] = meeting{m.times + 1, time.Now()}
}

// has reports whether a customer's batch should take its locks at once. One meeting is chance.
func (c *contended) has(customer loyalty.Name) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.met) == 0 {
		return false
	}
	m := c.met[customer]
	return m.times > 1 && time.Since(m.last) <= lately
}
