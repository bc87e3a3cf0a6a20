package loyalty

import "time"

// Node is a server process on the database. It renews its row every NodeTells.
type Node struct {
	ID        ID // drawn when it started
	Host      string
	Version   string // of the program
	StartedAt time.Time
	SeenAt    time.Time // the last renewal
}

// NodeTells is how often a node renews its row, NodeGone is the silence after which it counts as stopped, and NodeLife
// is how long its row is kept.
const (
	NodeTells = 30 * time.Second
	NodeGone  = 2 * time.Minute
	NodeLife  = 24 * time.Hour
)
