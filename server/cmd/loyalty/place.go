package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store"
)

// masterKeyFile is where the embedded database's master key lives.
const masterKeyFile = "master.key"

// embedded says that the database is a file of ours.
func (s *settings) embedded() bool {
	return s.databaseURL == "" || strings.HasPrefix(s.databaseURL, "sqlite:")
}

// databaseFile is the path of the embedded database.
func (s *settings) databaseFile() string {
	if s.databaseURL == "" {
		return filepath.Join(s.data, "loyalty.db")
	}
	return strings.TrimPrefix(strings.TrimPrefix(s.databaseURL, "sqlite:"), "//")
}

// open opens the database and brings its schema up to date. A first start makes
// the data folder, the master key and the database.
func (s *settings) open(ctx context.Context) (*store.Store, error) {
	key, err := s.masterKeyOrNew()
	if err != nil {
		return nil, err
	}
	db, err := s.openWith(ctx, key)
	if err != nil {
		return nil, err
	}
	if s.noMigrate {
		err = current(ctx, db)
	} else if err = errors.Join(db.Restored(ctx), s.copyBefore(ctx, db)); err == nil {
		err = db.Migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(unusable(err), db.Close())
	}
	return db, nil
}

// copyBefore copies an embedded database that is to be migrated beside itself, so that an
// older program can go on with it.
func (s *settings) copyBefore(ctx context.Context, db *store.Store) error {
	if !db.Embedded() || !errors.Is(db.Ready(ctx), store.ErrMigrationsPending) {
		return nil
	}
	version, err := db.SchemaVersion(ctx)
	if err != nil || version == 0 {
		return err
	}
	path := fmt.Sprintf("%s.schema-%d", s.databaseFile(), version)
	sweepCopies(path)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // readable by its owner only
	if err != nil {
		return fmt.Errorf("a copy before migrating: %w", err)
	}
	err = db.CopyFile(ctx, f.Name())
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("a copy before migrating: %w", errors.Join(err, os.Remove(f.Name())))
	}
	s.copied = path
	return nil
}

// sweepCopies deletes what programs that were killed had of such a copy.
func sweepCopies(path string) {
	left, _ := filepath.Glob(path + ".*") // it fails for bad patterns only
	for _, l := range left {
		if info, err := os.Stat(l); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(l) // the next one tries again
		}
	}
}

// openExisting opens a database that must be there, as it is.
func (s *settings) openExisting(ctx context.Context) (*store.Store, error) {
	if err := s.mustExist(); err != nil {
		return nil, err
	}
	key, err := s.masterKeyOrNew()
	if err != nil {
		return nil, err
	}
	db, err := s.openWith(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := current(ctx, db); err != nil {
		return nil, errors.Join(unusable(err), db.Close())
	}
	return db, nil
}

// openToCopy opens a database to copy it. Whoever upgrades copies first: they are not sent to migrate
// before.
func (s *settings) openToCopy(ctx context.Context) (*store.Store, error) {
	db, err := s.openExisting(ctx)
	if errors.Is(err, store.ErrMigrationsPending) {
		return nil, coded{codeUsage, errors.New("the database's schema is older than this program: copy it with the program that has served it so far")}
	}
	return db, err
}

// current says whether a database can be used as it is.
func current(ctx context.Context, db *store.Store) error {
	if err := errors.Join(db.Restored(ctx), db.Ready(ctx)); err != nil {
		return err
	}
	return db.CheckMasterKey(ctx)
}

// unusable names the setting that a database cannot be used with.
func unusable(err error) error {
	if errors.Is(err, store.ErrMasterKey) {
		return coded{codeUsage, err}
	}
	return fault("database-url", "%w", err)
}

// openUnsealed opens a database that must be there, up to date or not, for work
// that opens nothing sealed and so needs no master key.
func (s *settings) openUnsealed(ctx context.Context) (*store.Store, error) {
	if err := s.mustExist(); err != nil {
		return nil, err
	}
	return s.openWith(ctx, [32]byte{})
}

// use opens a database, works with it and closes it.
func use(ctx context.Context, open func(context.Context) (*store.Store, error), work func(*store.Store) error) error {
	db, err := open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(work(db), db.Close())
}

func (s *settings) mustExist() error {
	if !s.embedded() {
		return nil
	}
	if _, err := os.Stat(s.databaseFile()); err != nil {
		return fault(s.databaseSetting(), "%w", err)
	}
	return nil
}

// databaseSetting is the setting that says where the database is.
func (s *settings) databaseSetting() string {
	if s.databaseURL == "" {
		return "data"
	}
	return "database-url"
}

// storeAt is told of every point that a write passes. Tests that kill the program
// there set it; nothing else does.
var storeAt func(store.Point)

// clock is this node's time of day; nil: the system's. Tests set it.
var clock func() time.Time

// openWith opens the database. The store's errors name the setting at fault.
func (s *settings) openWith(ctx context.Context, key [32]byte) (*store.Store, error) {
	old, err := s.oldMasterKey()
	if err != nil {
		return nil, err
	}
	if s.embedded() && s.touched.IsZero() {
		s.touched = touched(s.databaseFile())
	}
	db, err := store.Open(ctx, store.Options{
		URL: s.databaseURL, DataDir: s.data, MasterKey: key, OldMasterKey: old,
		BatchConnections: s.poolBatches, ReadConnections: s.poolReads, At: storeAt, Asked: s.tracing.Reads(),
	})
	if err != nil {
		return nil, coded{codeUsage, err}
	}
	return db, nil
}

// masterKeyOrNew gives the configured master key, else the one of the embedded
// database, which is made with it. A new key beside an old database would be
// the wrong one, so there it is missed.
func (s *settings) masterKeyOrNew() ([32]byte, error) {
	if s.masterKey != "" {
		return parseMasterKey(s.masterKey)
	}
	if !s.embedded() {
		return [32]byte{}, fault("master-key", "is needed with PostgreSQL, the same on every node: 64 hex digits, such as those of openssl rand -hex 32")
	}
	path := filepath.Join(s.data, masterKeyFile)
	key, found, err := readMasterKey(path)
	if err != nil || found {
		return key, err
	}
	if info, err := os.Stat(s.databaseFile()); err == nil && info.Size() > 0 {
		key, found, err := readMasterKey(path) // another process may have made both meanwhile
		if err == nil && !found {
			err = fault("master-key", "%s is missing, and %s was sealed with it", path, s.databaseFile())
		}
		return key, err
	}
	return s.newMasterKey(path)
}

// masterKeyThere is the configured master key, or that of the data folder. A new one would
// open nothing that an archive has.
func (s *settings) masterKeyThere() ([32]byte, error) {
	if s.masterKey != "" || !s.embedded() {
		return s.masterKeyOrNew()
	}
	path := filepath.Join(s.data, masterKeyFile)
	key, found, err := readMasterKey(path)
	if err == nil && !found {
		err = fault("master-key", "is needed to restore: put the master.key of the archive's programme at %s, or name it with LOYALTY_MASTER_KEY_FILE", path)
	}
	if err == nil {
		err = os.MkdirAll(s.data, 0o700)
	}
	return key, err
}

// oldMasterKey is the key before this one, while it is being changed; nil: there is none.
func (s *settings) oldMasterKey() (*[32]byte, error) {
	if s.masterKeyOld != "" {
		key, err := parseMasterKey(s.masterKeyOld)
		return &key, err
	}
	if s.masterKey != "" || !s.embedded() {
		return nil, nil
	}
	key, found, err := readMasterKey(filepath.Join(s.data, masterKeyFile+".old"))
	if err != nil || !found {
		return nil, err
	}
	return &key, nil
}

func readMasterKey(path string) (key [32]byte, found bool, err error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return key, false, nil
	case err != nil:
		return key, false, fault("data", "%w", err)
	}
	if key, err = parseMasterKey(string(text)); err != nil {
		return key, false, fault("master-key", "%s: %w", path, err)
	}
	return key, true, nil
}

// newMasterKey makes the key beside its place and links it there, so that of several
// processes that start at once one makes it, and no other reads half of it.
func (s *settings) newMasterKey(path string) (key [32]byte, err error) {
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return key, fault("data", "%w", err)
	}
	_, _ = rand.Read(key[:])                            // never fails: crypto/rand ends the program instead
	f, err := os.CreateTemp(s.data, masterKeyFile+".*") // readable by its owner only
	if err != nil {
		return key, fault("data", "%w", err)
	}
	_, err = fmt.Fprintln(f, hex.EncodeToString(key[:]))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Link(f.Name(), path)
	}
	gone := os.Remove(f.Name())
	if errors.Is(err, fs.ErrExist) {
		key, _, err = readMasterKey(path)
		return key, err
	}
	if err = errors.Join(err, gone); err != nil {
		return key, fault("data", "%w", err)
	}
	return key, nil
}

// adminOf is the administration of a database, without a server.
func adminOf(db *store.Store) *admin.Admin {
	return admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: db, APIs: openapi.Names()})
}
