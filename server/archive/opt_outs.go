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
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// OptOutsFile is the list of opt-outs beside backups. Each line is one: the customer by the
// id that no caller knows, and when it was recorded. It names no person, and outlives the
// database, so that an older copy of it forgets whom it must before it serves.
const OptOutsFile = "opt-outs.jsonl"

type optOutLine struct {
	Customer string    `json:"customer"`
	At       time.Time `json:"at"`
}

// ReadOptOuts reads a list of opt-outs. The last line may be torn: whoever wrote it was
// killed, and it will be written again.
func ReadOptOuts(path string) (list []store.OptOut, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
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

// Forget has everybody of a list opt out who is still known, and says how many they were.
// Merged customers leave with those whom they became.
func Forget(ctx context.Context, db *store.Store, list []store.OptOut, optOut func(ctx context.Context, customer string) error) (n int, err error) {
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
				return n, fmt.Errorf("somebody who opted out is still known: %w", err)
			}
			done[name] = true
			n++
		}
	}
	return n, nil
}

// late is how long after its instant an opt-out may still be committed.
const late = 10 * time.Minute

// KeepOptOuts adds to a list whoever opted out and is not in it, and says how many they
// were. A line that was torn is taken away first.
func KeepOptOuts(ctx context.Context, db *store.Store, path string) (n int, err error) {
	list, err := ReadOptOuts(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	var since time.Time
	known := make(map[loyalty.ID]bool, len(list))
	for _, o := range list {
		known[o.Customer] = true
		if o.At.After(since) {
			since = o.At
		}
	}
	if !since.IsZero() {
		since = since.Add(-late)
	}
	found, err := db.OptOuts(ctx, since)
	if err != nil {
		return 0, err
	}
	var lines []byte
	for _, o := range found {
		if known[o.Customer] {
			continue
		}
		line, err := json.Marshal(optOutLine{o.Customer.String(), o.At})
		if err != nil {
			return 0, err
		}
		lines = append(append(lines, line...), '\n')
		n++
	}
	if n == 0 {
		return 0, nil
	}
	return n, appendLines(path, lines)
}

// appendLines adds whole lines to a file, behind its last whole line, and onto the disk.
func appendLines(path string, lines []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	end := int64(bytes.LastIndexByte(text, '\n') + 1)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.WriteAt(lines, end)
	}
	return errors.Join(err, f.Sync(), f.Close())
}
