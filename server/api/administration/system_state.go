package administration

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// System describes an installation for its operators, as one of its nodes sees it.
type System struct {
	At                     time.Time
	Node                   loyalty.ID // the node that examines
	Program                SystemProgram
	Database               SystemDatabase
	Replicas               []SystemReplica
	Nodes                  []loyalty.Node
	Head                   int64 // the last number of the tail
	Unnumbered             int64 // committed events of this node that have no number yet
	Followers              []SystemFollower
	Due                    int64          // counted customers with something due
	Oldest                 time.Time      // since when; zero: none is due
	Late, Failing, Running []string       // jobs
	Backups                *SystemBackups // nil: this node has no folder for them
	Webhooks               SystemWebhooks
	Proof                  loyalty.LedgerVerification // the last one; its At is zero if there was none
	Findings               []SystemFinding
}

// SystemProgram is the program of the examining node.
type SystemProgram struct{ Version, Go, Platform string }

// SystemDatabase is the database.
type SystemDatabase struct {
	Product, Version, Encoding string
	Schema, Bytes              int64
	LogBytes                   int64 // negative: it has no log of its own
}

// SystemReplica is a standby that answers reads.
type SystemReplica struct {
	Name, State string
	Lag         time.Duration // negative: unknown
	Reads, Lost int64
}

// SystemFollower is a follower of the tail.
type SystemFollower struct {
	Name   string
	Behind int64     // events
	Since  time.Time // when the first of them was recorded; zero: none
}

// SystemBackups are the backups in a folder.
type SystemBackups struct {
	Kept          int
	MadeAt        time.Time // the last one; zero: there is none
	Events, Bytes int64
	Checked       string // proven, read or broken
}

// SystemWebhooks are the webhooks by state, and their undelivered messages.
type SystemWebhooks struct {
	Active, Paused, Disabled int
	Waiting, Dead            int64
	Oldest                   time.Time
}

// SystemFinding is a finding of a check. Its message is the text doctor.NAME with its values.
type SystemFinding struct {
	Check, Severity, Name, Do string
	Args                      map[string]any
}

// systemAge is how old a result may be. Screens ask repeatedly, each for itself.
const systemAge = 2 * time.Second

// SystemLook examines the installation, once for all callers that ask at the same time.
type SystemLook struct {
	look  func(context.Context) (*System, error)
	clock func() time.Time
	turn  chan struct{} // holds a token while a caller examines
	last  *System       // guarded by turn
}

// NewSystemLook makes a SystemLook; look does the examination.
func NewSystemLook(look func(context.Context) (*System, error), clock func() time.Time) *SystemLook {
	return &SystemLook{look: look, clock: clock, turn: make(chan struct{}, 1)}
}

func (l *SystemLook) now(ctx context.Context) (*System, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-l.turn }()

	if l.last != nil {
		if age := l.clock().Sub(l.last.At); age >= 0 && age < systemAge {
			return l.last, nil
		}
	}

	found, err := l.look(ctx)
	if err == nil {
		l.last = found
	}

	return found, err
}
