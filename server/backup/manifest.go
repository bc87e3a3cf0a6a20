// Package backup makes copies of a running programme's database in its own format, proves them, and restores one.
package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/store"
)

// formatVersion is the version of manifests: a program reads its own only.
const formatVersion = 1

// manifestSuffix is appended to a backup's name for its manifest.
const manifestSuffix = ".json"

// The kinds of databases.
const (
	kindSQLite   = "sqlite"
	kindPostgres = "postgres"
)

// The results of checking a copy.
const (
	// Proven: it was opened, its content is what was to be copied, and its ledger holds.
	Proven = "proven"
	// Read: it was read to its end. There was no database to open it in.
	Read = "read"
	// Broken: it was opened, and its ledger does not hold, like the ledger of the copied database.
	Broken = "broken"
)

// Manifest describes a backup. It is beside the backup, under its name with .json.
type Manifest struct {
	Version int       `json:"version"`
	Kind    string    `json:"kind"`
	MadeAt  time.Time `json:"made_at"` // the copy contains everything that was acknowledged before
	// MasterKey identifies the master key of the sealed values, without revealing it.
	MasterKey string `json:"master_key"`
	store.Facts
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256"`
	Checked string `json:"checked"`
}

// ErrDamaged means that a backup differs from what was made.
var ErrDamaged = errors.New("the backup is damaged")

// readManifest reads the manifest of a backup.
func readManifest(path string) (*Manifest, error) {
	text, err := os.ReadFile(path + manifestSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no manifest: %w", path, err)
	}
	if err != nil {
		return nil, err
	}

	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path+manifestSuffix, err)
	}

	switch {
	case m.Version != formatVersion:
		return nil, fmt.Errorf("%s is of version %d, and this program reads version %d", path, m.Version, formatVersion)
	case m.Kind != kindSQLite && m.Kind != kindPostgres:
		return nil, fmt.Errorf("%w: %s: the kind %q is not known", ErrDamaged, path+manifestSuffix, m.Kind)
	}

	return m, nil
}

// write writes the manifest beside the backup, completely or not at all.
func (m *Manifest) write(path string) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	partial := path + manifestSuffix + partialSuffix
	if err := os.WriteFile(partial, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(partial, path+manifestSuffix)
}

// sum reads the file and computes its sum.
func sum(path string) (size int64, sha string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = f.Close() }() // only read
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// whole checks a file against its manifest.
func (m *Manifest) whole(path string) error {
	size, sha, err := sum(path)
	switch {
	case err != nil:
		return err
	case size != m.Size:
		return fmt.Errorf("%w: %s has %d octets and should have %d", ErrDamaged, path, size, m.Size)
	case sha != m.SHA256:
		return fmt.Errorf("%w: the checksum of %s has changed since it was made", ErrDamaged, path)
	}
	return nil
}

// Backup is a backup in a folder.
type Backup struct {
	Path string
	Manifest
}

// List returns the backups of a folder, the newest first. A file without a manifest is none.
func List(folder string) (list []Backup, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}

	for _, e := range entries {
		name, isManifest := strings.CutSuffix(e.Name(), manifestSuffix)
		if !isManifest {
			continue
		}
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		m, err := readManifest(path)
		if err != nil {
			continue // another JSON file, or an unreadable manifest
		}
		list = append(list, Backup{path, *m})
	}

	slices.SortStableFunc(list, func(a, b Backup) int { return b.MadeAt.Compare(a.MadeAt) })
	return list, nil
}

// Newest is when the last backup of a folder with a valid ledger was made; zero if there is none.
func Newest(folder string) time.Time {
	list, err := List(folder)
	if err != nil {
		return time.Time{}
	}
	for _, b := range list {
		if b.Checked != Broken {
			return b.MadeAt
		}
	}
	return time.Time{}
}

// prune deletes all backups with generated names except the newest.
func prune(folder string, keep int) error {
	list, err := List(folder)
	if err != nil {
		return err
	}
	if err := sweep(folder); err != nil {
		return err
	}

	kept := 0
	for _, b := range list {
		if !strings.HasPrefix(filepath.Base(b.Path), namePrefix) {
			continue
		}
		if kept++; kept <= keep {
			continue
		}
		// The manifest goes last: a backup without one counts as unfinished.
		if err := errors.Join(os.Remove(b.Path), os.Remove(b.Path+manifestSuffix)); err != nil {
			return err
		}
	}

	return nil
}

// leftAfter is the age at which an unfinished file is deleted.
const leftAfter = 24 * time.Hour

// sweep deletes the files that killed programs left behind.
func sweep(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, namePrefix+"*"+partialSuffix))
	for _, path := range left {
		if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) < leftAfter {
			continue
		}
		if err := gone(path); err != nil {
			return err
		}
	}
	return err
}
