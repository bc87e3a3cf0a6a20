package store

import (
	"context"
	"time"
)

// Options say where the data are and how they are kept.
type Options struct {
	// URL is LOYALTY_DATABASE_URL: postgres://…, sqlite:path, or empty for loyalty.db in DataDir.
	URL string
	// DataDir is LOYALTY_DATA; it is created (mode 0700) for an SQLite database in it.
	DataDir string
	// Copy says that an SQLite file is a copy that must not be written: reading it changes no byte.
	Copy bool
	// MasterKey seals customer keys, signing secrets and stored answers.
	MasterKey [32]byte
	// OldMasterKey opens values that were sealed before MasterKey, and seals nothing; nil: there is none.
	OldMasterKey *[32]byte
	// BatchConnections and ReadConnections limit the two pools: batches; reads, administration and jobs. Zero means
	// what the URL says (pool_max_conns), otherwise 16. On SQLite one connection writes, and ReadConnections read.
	BatchConnections, ReadConnections int
	// Now is the clock for the months of the journal; nil means time.Now.
	Now func() time.Time
	// Asked is called for reads and for changes of the programme, with the kind (read or change) and its start; may
	// be nil.
	Asked func(ctx context.Context, kind string, began time.Time)
	// At is called at every point of every write; may be nil.
	At func(Point)
}
