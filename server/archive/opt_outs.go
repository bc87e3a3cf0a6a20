package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// OptOutsFile is the list of opt-outs beside backups. Each line is one: the customer by the internal id, which no
// caller knows, and when it was recorded. It names no person, and outlives the database, so that an older copy of the
// database forgets these customers before it serves.
const OptOutsFile = "opt-outs.jsonl"

type optOutLine struct {
	Customer string    `json:"customer"`
	At       time.Time `json:"at"`
}

// ReadOptOuts reads a list of opt-outs. The last line may be torn: its writer was killed, and will write it again.
func ReadOptOuts(path string) (list []store.OptOut, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read

	in := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}

		var o optOutLine
		if err := json.Unmarshal(line, &o); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}

		var id store.UUID
		if err := id.Scan(o.Customer); err != nil {
			return nil, fmt.Errorf("%s: line %d: %q is not an id", path, n, o.Customer)
		}

		list = append(list, store.OptOut{Customer: loyalty.ID(id), At: o.At})
	}
}

// forgetPage is how many names are looked up at once.
const forgetPage = 500

// Forget opts out every customer of a list who is still known, and returns how many they were. Merged customers leave
// with the customer that they were merged into.
func Forget(
	ctx context.Context, db *store.Store, list []store.OptOut, optOut func(ctx context.Context, customer string) error,
) (n int, err error) {
	for some := range slices.Chunk(list, forgetPage) {
		ids := make([]loyalty.ID, len(some))
		for i, o := range some {
			ids[i] = o.Customer
		}

		names, err := db.CustomerNames(ctx, ids)
		if err != nil {
			return n, err
		}

		done := map[string]bool{}
		for _, name := range names {
			if done[name] {
				continue
			}
			if err := optOut(ctx, name); err != nil {
				return n, fmt.Errorf("a customer who opted out is still in the database: %w", err)
			}
			done[name] = true
			n++
		}
	}

	return n, nil
}

// late is how long after its instant an opt-out may still be committed.
const late = 10 * time.Minute

// OptOutList maintains a list of opt-outs. It is safe for concurrent use.
type OptOutList struct {
	path string
	lock sync.Mutex
	// fault is the error of the last attempt to write the list. It can be read while a write hangs.
	fault atomic.Pointer[error]
}

// NewOptOutList returns the list in a file, which need not exist.
func NewOptOutList(path string) *OptOutList { return &OptOutList{path: path} }

// Fault is the error of the last attempt to write the list; nil if it succeeded.
func (l *OptOutList) Fault() error {
	if err := l.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// Add appends customers who opted out at an instant.
func (l *OptOutList) Add(customers []loyalty.ID, at time.Time) error {
	list := make([]store.OptOut, len(customers))
	for i, id := range customers {
		list[i] = store.OptOut{Customer: id, At: at}
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.done(appendOptOuts(l.path, list))
}

// Keep appends the opt-outs that the journal has and the list lacks.
func (l *OptOutList) Keep(ctx context.Context, db *store.Store) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	missing, err := MissingOptOuts(ctx, db, l.path)
	if err == nil {
		err = appendOptOuts(l.path, missing)
	}
	if errors.Is(err, loyalty.ErrDatabaseAway) {
		return err // the list itself is fine
	}
	return l.done(err)
}

// MissingOptOuts returns the opt-outs that the journal has and the list in a file lacks.
func MissingOptOuts(ctx context.Context, db *store.Store, path string) ([]store.OptOut, error) {
	list, err := ReadOptOuts(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}

	found, err := db.OptOuts(ctx, missingSince(list))
	if err != nil {
		return nil, err
	}

	known := make(map[loyalty.ID]bool, len(list))
	for _, o := range list {
		known[o.Customer] = true
	}

	return slices.DeleteFunc(found, func(o store.OptOut) bool { return known[o.Customer] }), nil
}

// missingSince is the instant from which the journal may have opt-outs that a list lacks: a commit that a stopping
// server interrupted is late by at most the time of one batch.
func missingSince(list []store.OptOut) (since time.Time) {
	for _, o := range list {
		if o.At.After(since) {
			since = o.At
		}
	}
	if since.IsZero() {
		return since
	}
	return since.Add(-late)
}

// done stores the outcome of a write for Fault.
func (l *OptOutList) done(err error) error {
	if err == nil {
		l.fault.Store(nil)
	} else {
		l.fault.Store(&err)
	}
	return err
}

// appendOptOuts adds opt-outs to a file as whole lines.
func appendOptOuts(path string, list []store.OptOut) error {
	if len(list) == 0 {
		return nil
	}
	var lines []byte
	for _, o := range list {
		line, err := json.Marshal(optOutLine{o.Customer.String(), o.At.UTC()})
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	return appendLines(path, lines)
}

// appendLines adds whole lines to a file and flushes them to the disk. First it cuts off a torn last line, which a
// killed program left behind.
func appendLines(path string, lines []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err = cutTorn(f); err == nil {
		_, err = f.Write(lines)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// maxOptOutLine is longer than any line of the list, in bytes.
const maxOptOutLine = 4096

// cutTorn cuts off everything after the last line end of a file.
func cutTorn(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	tail := make([]byte, min(info.Size(), maxOptOutLine))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return err
	}
	if torn := len(tail) - 1 - bytes.LastIndexByte(tail, '\n'); torn > 0 {
		return f.Truncate(info.Size() - int64(torn))
	}
	return nil
}
