package store

import "time"

// Pool is how a pool of connections is used.
type Pool struct {
	Name           string // batches or reads
	Used, Idle     int
	Most           int
	Waits          int64         // for a connection, since the start
	Waited         time.Duration // in all
	Opened, Closed int64         // since the start, where it is counted
}
