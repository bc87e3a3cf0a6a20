package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Store keeps the programme in one database. It is safe for concurrent use. Its parts are divided by what they read
// or write; each part holds the database and nothing else.
type Store struct {
	*database
	batchStore
	customerStore
	journalStore
	purchaseStore
	couponStore
	claimStore
	adminStore
	bulkStore
	jobStore
	boardStore
	tailStore
	exportStore
	userStore
	statisticsStore
	importStore
	uploadStore
	webhookStore
	nodeStore
	proof
	upkeep
	portable
	backupStore
}

var (
	_ loyalty.Store      = (*Store)(nil)
	_ loyalty.Reader     = (*Store)(nil)
	_ loyalty.AdminStore = (*Store)(nil)
	_ loyalty.JobStore   = (*Store)(nil)
	_ loyalty.BoardStore = (*Store)(nil)

	_ loyalty.ExportReader    = (*Store)(nil)
	_ loyalty.StatisticsStore = (*Store)(nil)
	_ loyalty.ImportStore     = (*Store)(nil)
	_ loyalty.UploadStore     = (*Store)(nil)
	_ loyalty.UploadAdminTx   = (*adminTx)(nil)
	_ loyalty.WebhookStore    = (*Store)(nil)
)

// newStore creates the parts over a database.
func newStore(d *database) *Store {
	return &Store{
		database: d, batchStore: batchStore{d}, customerStore: customerStore{d}, journalStore: journalStore{d},
		purchaseStore: purchaseStore{d}, couponStore: couponStore{d}, claimStore: claimStore{d}, adminStore: adminStore{d},
		bulkStore: bulkStore{d}, jobStore: jobStore{d}, boardStore: boardStore{d}, tailStore: tailStore{d}, exportStore: exportStore{d}, importStore: importStore{d}, uploadStore: uploadStore{d}, userStore: userStore{d}, proof: proof{d}, upkeep: upkeep{d},
		portable:        portable{d},
		backupStore:     backupStore{d},
		statisticsStore: statisticsStore{d},
		webhookStore:    webhookStore{d},
		nodeStore:       nodeStore{d},
	}
}

// Open connects and checks the database. An empty or older database opens too: Migrate brings it up to date, and
// until then Ready fails. A newer one fails with ErrNewerSchema. Every error names LOYALTY_DATABASE_URL or
// LOYALTY_DATA.
func Open(ctx context.Context, o Options) (*Store, error) {
	var old [][32]byte
	if o.OldMasterKey != nil {
		old = append(old, *o.OldMasterKey)
	}

	sealer, err := newSealer(o.MasterKey, old...)
	if err != nil {
		return nil, err
	}

	d := &database{own: own{news: make(chan struct{}, 1)}, sealer: sealer, now: o.Now, at: o.At, told: o.Asked}
	if d.now == nil {
		d.now = time.Now
	}

	scheme, _, found := strings.Cut(o.URL, ":")
	switch {
	case scheme == "postgres" || scheme == "postgresql":
		if err = openPostgres(ctx, d, o); err == nil {
			err = spreadOver(ctx, d, o)
		}
	case o.URL == "" || found && scheme == "sqlite":
		err = openSQLite(ctx, d, o)
	default:
		err = errors.New("LOYALTY_DATABASE_URL: neither postgres://… nor sqlite:path")
	}

	if err != nil {
		return nil, err
	}
	if err := d.current(ctx); err != nil && !errors.Is(err, ErrMigrationsPending) {
		return nil, errors.Join(fmt.Errorf("LOYALTY_DATABASE_URL: %w", err), d.close())
	}

	return newStore(d), nil
}

// Close releases all connections.
func (s *Store) Close() error { return s.close() }
