// Package archive writes a whole programme into one portable file and fills an empty
// database with one: out of either database, into either.
package archive

import (
	"errors"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/store"
)

// The format of archives, and its version: a program reads its own and older ones.
const (
	formatName    = "loyalty-dump"
	formatVersion = 1
)

// manifestName is the entry that says what the others are; it is the last one.
const manifestName = "manifest.json"

// entryName is where the rows of a table are.
func entryName(table string) string { return "tables/" + table + ".jsonl" }

// Manifest says what an archive holds. Nothing in it tells which database it came from, or
// when: the same rows give the same file.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Schema is the newest migration of the database that was read.
	Schema int64 `json:"schema"`
	// MasterKey tells which master key opens what is sealed in it; it does not give it away.
	MasterKey string  `json:"master_key"`
	Journal   Journal `json:"journal"`
	OptOuts   OptOuts `json:"opt_outs"`
	Tables    []Table `json:"tables"`
}

// Journal says which events the archive has, by when they were recorded, in milliseconds
// since 1970.
type Journal struct {
	Events int64 `json:"events"`
	First  int64 `json:"first,omitempty"`
	Last   int64 `json:"last,omitempty"`
}

// String says how far the journal goes.
func (j Journal) String() string {
	if j.Events == 0 {
		return "no events"
	}
	return fmt.Sprintf("%d events, the last of %s", j.Events, time.UnixMilli(j.Last).UTC().Format(time.RFC3339))
}

// OptOuts says how many opt-outs the archive knows of, and when the last one was recorded:
// whoever opted out later is still known in it.
type OptOuts struct {
	Count int64 `json:"count"`
	Last  int64 `json:"last,omitempty"`
}

// Table is a table of an archive with its sum over all lines.
type Table struct {
	store.Table
	Rows int64 `json:"rows"`
	// Bytes is the size of all lines, and Longest that of the longest one, in octets with their line
	// ends. A reader refuses what goes beyond them.
	Bytes   int64  `json:"bytes"`
	Longest int64  `json:"longest"`
	SHA256  string `json:"sha256"`
}

// rows is how many rows there are in all.
func (m *Manifest) rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// began is the instant of the first event; zero: there is none.
func (m *Manifest) began() time.Time {
	if m.Journal.Events == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m.Journal.First)
}

// ErrDamaged says that a file is not what was written, or no archive at all.
var ErrDamaged = errors.New("the archive is damaged")

// Progress says how far some work has come, in rows.
type Progress struct {
	Done, Of int64
}

// meter counts rows for whoever wants to know.
type meter struct {
	Progress
	told func(Progress)
}

// tellEvery is after how many rows it is told.
const tellEvery = 1000

func (m *meter) row() {
	if m.Done++; m.told != nil && (m.Done%tellEvery == 0 || m.Done == m.Of) {
		m.told(m.Progress)
	}
}
