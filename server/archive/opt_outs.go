package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// OptOutsFile is the list of opt-outs beside backups. Each line is one: the customer by the
// id that no caller knows, and when it was recorded. It names nobody, and outlives the
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
