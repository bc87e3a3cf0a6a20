package store

import "sync"

// joined remembers the names of customers that others were merged into.
type joined struct {
	mu    sync.Mutex
	names map[string]bool
}

// mostJoined is how many names are kept; then the set starts afresh.
const mostJoined = 10_000

func (j *joined) has(name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.names[name]
}

func (j *joined) note(name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.names == nil || len(j.names) >= mostJoined {
		j.names = map[string]bool{}
	}
	j.names[name] = true
}
