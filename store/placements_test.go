package store

import (
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/citus"
)

// writtenTable finds the tables that a statement writes.
var writtenTable = regexp.MustCompile(`(?:INSERT INTO|UPDATE|DELETE FROM) ([a-z_]+)`)

// TestBatchesWriteKnownTables: what a batch or the tail writes on the coordinator is known to
// Citus. It leaves other tables out of its two phases, so that a crash between the commits
// of two machines would leave an event without its figures.
func TestBatchesWriteKnownTables(t *testing.T) {
	texts := []string{insertTail.postgres, upsertNumbered.postgres, moveHead.postgres, lockTally, lockCoupon, lockCustomer}
	for _, written := range everyWrite(t) {
		texts = append(texts, reflect.ValueOf(written).Elem().FieldByName("postgres").String())
	}

	seen := map[string]bool{}
	for _, text := range texts {
		for _, found := range writtenTable.FindAllStringSubmatch(text, -1) {
			seen[found[1]] = true
			_, known := citus.Key(found[1])
			require.True(t, known, "%s is written by batches, and Citus does not know it (schema.Tables): %s", found[1], text)
		}
	}

	for _, table := range []string{"balances", "events", "names", "coupons", "tallies", "campaign_figures", "bulk_items", "notices", "leavers", "tail", "claims", "list_members", "purchase_lines"} {
		require.True(t, seen[table], "%s is not among what was looked at", table)
	}
}

// everyWrite are the calls of a batch that writes a row of each kind, twice: with what each row
// begins with, and with rows that are changed, end and merge.
func everyWrite(t *testing.T) (list []calls) {
	t.Helper()
	key, err := newSealer([32]byte{1})
	require.NoError(t, err)
	id := loyalty.NewID(time.Now(), loyalty.ID{})
	for _, ends := range []bool{false, true} {
		var w loyalty.Writes
		v := reflect.ValueOf(&w).Elem()
		for i := range v.NumField() {
			require.Equal(t, reflect.Slice, v.Field(i).Kind(), "of %s one row is written here", v.Type().Field(i).Name)
			v.Field(i).Set(reflect.MakeSlice(v.Field(i).Type(), 1, 1))
		}

		w.DestroyKeys[0], w.Customers[0].Before.ID, w.Freed[0].Owner = id, id, id
		w.Customers[0].Before.Name, w.Customers[0].After.Status = "before", loyalty.OptedOut
		w.Customers[0].After.ID, w.NewCustomers[0].Key, w.CampaignGifts[0].Runs = id, []byte{1}, 1
		if ends {
			w.Customers[0].After.MergedInto, w.Customers[0].After.Name = loyalty.NewID(time.Now(), id), "changed"
			w.Progress[0].After.Data, w.Members[0].Gone = []byte("{}"), true
			w.NewTransactions[0].Detail.Items = make([]loyalty.Line, pieceLines+1)
		}

		calls, err := writeCalls(&w, key)
		require.NoError(t, err)
		list = append(list, calls...)
	}

	return list
}
