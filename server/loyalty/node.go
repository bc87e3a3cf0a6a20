package loyalty

import "time"

// Node is a server of the database. Each tells that it is there every NodeTells.
type Node struct {
	ID        ID // drawn when it started
	Host      string
	Version   string // of the program
	StartedAt time.Time
	SeenAt    time.Time // when it last told
}

// NodeTells is how often a node tells that it is there, NodeGone how long one has been
// silent that is taken for stopped, and NodeLife how long it is remembered.
const (
	NodeTells = 30 * time.Second
	NodeGone  = 2 * time.Minute
	NodeLife  = 24 * time.Hour
)
