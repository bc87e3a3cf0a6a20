// Package archive writes a whole programme into one portable file, and fills an empty database from it, between any of
// the supported databases.
package archive

import (
	"errors"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/store"
)

// The format of archives and its version: a program reads its own version only.
const (
	formatName    = "loyalty-dump"
	formatVersion = 1
)

// manifestName is the last entry of an archive, which describes the others.
const manifestName = "manifest.json"

// entryName is the entry with the rows of a table.
func entryName(table string) string { return "tables/" + table + ".jsonl" }

// Manifest describes the content of an archive. It does not tell the source database or the time, so that the same rows
// give the same file.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Schema is the newest migration of the database that was read.
	Schema int64 `json:"schema"`
	// MasterKey identifies the master key of the sealed values, without revealing it.
	MasterKey string  `json:"master_key"`
	Journal   Journal `json:"journal"`
	OptOuts   OptOuts `json:"opt_outs"`
	Tables    []Table `json:"tables"`
}

// Journal is the range of the archive's events, by when they were recorded, in milliseconds since 1970.
type Journal struct {
	Events int64 `json:"events"`
	First  int64 `json:"first,omitempty"`
	Last   int64 `json:"last,omitempty"`
}

// String describes the range of the journal.
func (j Journal) String() string {
	if j.Events == 0 {
		return "no events"
	}
	return fmt.Sprintf("%d events, the last of %s", j.Events, time.UnixMilli(j.Last).UTC().Format(time.RFC3339))
}

// OptOuts is the number of opt-outs in the archive and the instant of the last one: customers who opted out later are
// still known in it.
type OptOuts struct {
	Count int64 `json:"count"`
	Last  int64 `json:"last,omitempty"`
}

// Table is a table of an archive with the sum over all its lines.
type Table struct {
	store.Table
	Rows int64 `json:"rows"`
	// Bytes is the size of all lines, Longest the size of the longest one, in bytes with line ends. A reader refuses
	// anything larger.
	Bytes   int64  `json:"bytes"`
	Longest int64  `json:"longest"`
	SHA256  string `json:"sha256"`
}

// rows is the number of all rows.
func (m *Manifest) rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// began is the instant of the first event; zero if there is none.
func (m *Manifest) began() time.Time {
	if m.Journal.Events == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m.Journal.First)
}

// ErrDamaged means that a file differs from what was written, or is no archive.
var ErrDamaged = errors.New("the archive is damaged")

// Progress is the progress of some work, in rows.
type Progress struct {
	Done, Of int64
}

// meter counts rows and reports the progress.
type meter struct {
	Progress
	told func(Progress)
}

// tellEvery is the number of rows between two reports.
const tellEvery = 1000

func (m *meter) row() {
	if m.Done++; m.told != nil && (m.Done%tellEvery == 0 || m.Done == m.Of) {
		m.told(m.Progress)
	}
}
