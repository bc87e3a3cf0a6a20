package store

import (
	"context"
	"time"
)

// Options say where the data are and how they are kept.
type Options struct {
	// URL is LOYALTY_DATABASE_URL: postgres://…, sqlite:path, or empty for
	// loyalty.db in DataDir.
	URL string
	// DataDir is LOYALTY_DATA; it is made (mode 0700) when an SQLite database
	// is to live in it.
	DataDir string
	// Copy says that an SQLite file is a copy that is not written: it is read as it is, and
	// not an octet of it changes.
	Copy bool
	// MasterKey seals customer keys, signing secrets and stored answers.
	MasterKey [32]byte
	// OldMasterKey opens what was sealed before MasterKey, and seals nothing; nil: there is
	// none.
	OldMasterKey *[32]byte
	// BatchConnections and ReadConnections bound the two pools: batches; reads,
	// administration and jobs. Zero: what the URL says (pool_max_conns), else 16. On
	// SQLite one connection writes, and ReadConnections read.
	BatchConnections, ReadConnections int
	// Now is the clock for the months of the journal. Nil: time.Now.
	Now func() time.Time
	// Asked hears of questions that were put to the database and of changes of the programme:
	// what kind it was (read or change) and since when. Nil: it is not told.
	Asked func(ctx context.Context, kind string, began time.Time)
	// At is called at every point of every write. Nil: nothing is.
	At func(Point)
}
