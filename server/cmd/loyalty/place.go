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

// masterKeyFile is the file with the embedded database's master key.
const masterKeyFile = "master.key"

// embedded reports whether the database is an SQLite file.
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

// open opens the database and migrates it. The first start makes the data folder, the master key and the database.
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

// copyBefore copies an embedded database before it is migrated, so that an older program can go back to it.
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
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // only its owner can read it
	if err != nil {
		return fmt.Errorf("copying the database before migrating: %w", err)
	}

	err = db.CopyFile(ctx, f.Name())
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("copying the database before migrating: %w", errors.Join(err, os.Remove(f.Name())))
	}

	s.copied = path
	return nil
}

// sweepCopies deletes unfinished copies of killed programs.
func sweepCopies(path string) {
	left, _ := filepath.Glob(path + ".*") // it fails only for bad patterns
	for _, l := range left {
		if info, err := os.Stat(l); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(l) // the next start tries again
		}
	}
}

// openExisting opens an existing database as it is.
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

// openToCopy opens a database to copy it. It also accepts one with pending migrations, because operators copy before
// they upgrade.
func (s *settings) openToCopy(ctx context.Context) (*store.Store, error) {
	db, err := s.openExisting(ctx)
	if errors.Is(err, store.ErrMigrationsPending) {
		return nil, coded{codeUsage,
			errors.New("the database's schema is older than this program: copy it with the program that has served it so far")}
	}
	return db, err
}

// current fails if a database cannot be used as it is.
func current(ctx context.Context, db *store.Store) error {
	if err := errors.Join(db.Restored(ctx), db.Ready(ctx)); err != nil {
		return err
	}
	return db.CheckMasterKey(ctx)
}

// unusable names the setting with which a database cannot be used.
func unusable(err error) error {
	if errors.Is(err, store.ErrMasterKey) {
		return coded{codeUsage, err}
	}
	return fault("database-url", "%w", err)
}

// openUnsealed opens an existing database, migrated or not, for work that reads no sealed values and so needs no master
// key.
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

// databaseSetting is the setting with the place of the database.
func (s *settings) databaseSetting() string {
	if s.databaseURL == "" {
		return "data"
	}
	return "database-url"
}

// storeAt is called at each point that a write passes. Only tests that kill the program there set it.
var storeAt func(store.Point)

// clock is this node's clock; nil: the system's. Tests set it.
var clock func() time.Time

// openWith opens the database. The store's errors name the faulty setting.
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

// masterKeyOrNew returns the configured master key, else the embedded database's, which it makes together with the
// database. An existing database without its key is an error, because a new key would be wrong.
func (s *settings) masterKeyOrNew() ([32]byte, error) {
	if s.masterKey != "" {
		return parseMasterKey(s.masterKey)
	}
	if !s.embedded() {
		return [32]byte{}, fault("master-key",
			"is needed with PostgreSQL, the same on every node: 64 hex digits, such as those of openssl rand -hex 32")
	}

	path := filepath.Join(s.data, masterKeyFile)
	key, found, err := readMasterKey(path)
	if err != nil || found {
		return key, err
	}

	if info, err := os.Stat(s.databaseFile()); err == nil && info.Size() > 0 {
		key, found, err := readMasterKey(path) // another process may have made both meanwhile
		if err == nil && !found {
			err = fault("master-key", "%s is missing, but %s was sealed with it: put that key back", path, s.databaseFile())
		}
		return key, err
	}

	return s.newMasterKey(path)
}

// masterKeyThere is the configured master key, or the one in the data folder. A new key could open nothing in an
// archive.
func (s *settings) masterKeyThere() ([32]byte, error) {
	if s.masterKey != "" || !s.embedded() {
		return s.masterKeyOrNew()
	}
	path := filepath.Join(s.data, masterKeyFile)
	key, found, err := readMasterKey(path)
	if err == nil && !found {
		err = fault("master-key",
			"is needed to restore: put the master.key of the archive's programme at %s, or name it with LOYALTY_MASTER_KEY_FILE",
			path)
	}
	if err == nil {
		err = os.MkdirAll(s.data, 0o700)
	}
	return key, err
}

// oldMasterKey is the previous key while the key is being changed; nil if there is none.
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

// newMasterKey makes the key in a temporary file and links it to its place, so that only one of several starting
// processes makes it, and no process reads half of it.
func (s *settings) newMasterKey(path string) (key [32]byte, err error) {
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return key, fault("data", "%w", err)
	}

	_, _ = rand.Read(key[:])                            // never fails: crypto/rand ends the program instead
	f, err := os.CreateTemp(s.data, masterKeyFile+".*") // only its owner can read it
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
