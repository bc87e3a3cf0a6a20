package store

import "time"

// Pool is the use of a pool of connections.
type Pool struct {
	Name           string // batches or reads
	Used, Idle     int
	Most           int
	Waits          int64         // for a connection, since the start
	Waited         time.Duration // in total
	Opened, Closed int64         // since the start, if counted
}
