package traffic

import (
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// recentConflicts holds the customers that several nodes write at once: their batches recently conflicted with another
// writer more than once. Their next batches take the locks at once and wait for their turn. Without the locks each of
// the nodes would load, decide and lose in turn.
type recentConflicts struct {
	mu  sync.Mutex
	met map[loyalty.Name]meetings
}

// meetings counts the recent conflicts of a customer's batches, and when the last one happened.
type meetings struct {
	times int
	last  time.Time
}

const (
	lately         = time.Second // after this, a batch is tried without locks again
	mostRemembered = 4096        // customers remembered
)

// note records that a batch with this customer conflicted with another writer.
func (c *recentConflicts) note(customer loyalty.Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.met) >= mostRemembered {
		clear(c.met) // customers who still conflict are recorded again soon
	}
	if c.met == nil {
		c.met = map[loyalty.Name]meetings{}
	}
	m := c.met[customer]
	if time.Since(m.last) > 2*lately {
		m.times = 0
	}
	c.met[customer] = meetings{m.times + 1, time.Now()}
}

// has reports whether a batch with this customer should take its locks at once. A single conflict may be chance.
func (c *recentConflicts) has(customer loyalty.Name) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.met) == 0 {
		return false
	}
	m := c.met[customer]
	return m.times > 1 && time.Since(m.last) <= lately
}
