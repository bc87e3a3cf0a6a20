package storetest

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// entities checks that entities are stored by type and id, and that those that rules read are part of the snapshot.
func entities(t *testing.T, b *bench) {
	ctx := context.Background()
	read, other := loyalty.RewardType, loyalty.ProductType
	at := func(kind, id string, created time.Time) loyalty.Entity {
		return loyalty.Entity{Type: kind, ID: id, Data: json.RawMessage(`{"a": 1.0}`), CreatedAt: created, UpdatedAt: created}
	}
	young, old, product := at(read, "a", b.now), at(read, "é", b.now.Add(-time.Hour)), at(other, "a", b.now)
	save := func(list ...loyalty.Entity) {
		require.NoError(t, b.s.Change(ctx, func(tx loyalty.AdminTx) error {
			for _, e := range list {
				require.NoError(t, tx.SaveEntity(e))
				got, found, err := tx.Entity(e.Type, e.ID)
				require.NoError(t, err)
				require.True(t, found)
				require.Equal(t, e.Data, got.Data)
			}
			return nil
		}))
	}

	before, err := b.s.Version(ctx)
	require.NoError(t, err)
	save(young, old, product)
	after, err := b.s.Version(ctx)
	require.NoError(t, err)
	require.Greater(t, after, before, "the other nodes must read again")

	archived := old
	archived.Data, archived.UpdatedAt, archived.ArchivedAt = json.RawMessage(`{}`), b.now, b.now
	changed := archived
	changed.CreatedAt = b.now.Add(time.Hour) // the creation time is not updated
	save(changed)
	snapshot, err := b.s.Snapshot(ctx, []string{read})
	require.NoError(t, err)
	require.Equal(t, []loyalty.Entity{archived, young}, snapshot.Entities)

	list := func(q loyalty.EntityQuery) []loyalty.Entity {
		got, err := b.s.Entities(ctx, q)
		require.NoError(t, err)
		return got
	}

	require.Equal(t, []loyalty.Entity{young}, list(loyalty.EntityQuery{Type: read}))
	require.Equal(t, []loyalty.Entity{archived, young}, list(loyalty.EntityQuery{Type: read, Archived: true}))
	require.Equal(t, []loyalty.Entity{young},
		list(loyalty.EntityQuery{Type: read, Archived: true, Page: loyalty.Page{Limit: 1, Offset: 1}}))
	require.Equal(t, []loyalty.Entity{product}, list(loyalty.EntityQuery{Type: other}))
	got, found, err := b.s.Entity(ctx, other, "a")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, product, got)
	for _, absent := range [][2]string{{other, "b"}, {"x/y", "a"}, {other, "a\x00"}} {
		_, found, err = b.s.Entity(ctx, absent[0], absent[1])
		require.NoError(t, err)
		require.False(t, found)
	}
}

// jobTable checks that rows are swapped only if they have not changed.
func jobTable(t *testing.T, b *bench) {
	ctx := context.Background()
	fresh := loyalty.JobRow{Name: "expiry", NextAt: b.now}
	taken := fresh
	taken.Owner, taken.LeaseUntil, taken.StartedAt = "node-1", b.now.Add(time.Minute), b.now
	done := taken
	done.Owner, done.LeaseUntil, done.FinishedAt, done.NextAt, done.Runs = "", time.Time{}, b.now, b.now.Add(time.Hour), 1
	done.Done, done.Failed, done.Result, done.State = 7, 1, "why", json.RawMessage(`{"after": 1.0}`)
	swap := func(before *loyalty.JobRow, after loyalty.JobRow) bool {
		ok, err := b.s.SwapJob(ctx, before, after)
		require.NoError(t, err)
		return ok
	}

	rows := func() []loyalty.JobRow {
		list, err := b.s.Jobs(ctx)
		require.NoError(t, err)
		return list
	}

	require.Empty(t, rows())
	require.False(t, swap(&fresh, taken), "there is no row")
	require.True(t, swap(nil, fresh))
	require.False(t, swap(nil, taken), "there is one")
	require.Equal(t, []loyalty.JobRow{fresh}, rows())
	require.True(t, swap(&fresh, taken))
	require.False(t, swap(&fresh, taken), "it is taken")
	require.Equal(t, []loyalty.JobRow{taken}, rows())
	require.True(t, swap(&taken, done))
	require.False(t, swap(&taken, done))
	require.Equal(t, []loyalty.JobRow{done}, rows())

	var won atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if ok, err := b.s.SwapJob(ctx, &done, taken); err == nil && ok {
				won.Add(1)
			}
		})
	}

	wg.Wait()
	require.Equal(t, int64(1), won.Load())
	b.walk(t)
}

// walk goes through the customers in steps.
func (b *bench) walk(t *testing.T) {
	t.Helper()
	var want []loyalty.ID
	for i, status := range []loyalty.Status{loyalty.Active, loyalty.Merged, loyalty.Suspended,
		loyalty.OptedOut, loyalty.Inactive} {
		c := b.customer(name(i))
		c.ID, c.Status = loyalty.NewID(b.now.Add(time.Duration(i)*time.Second), loyalty.ID{}), status
		b.enrol(t, c)
		if i%2 == 0 {
			want = append(want, c.ID)
		}
	}

	var got []loyalty.ID
	after := loyalty.ID{}
	for range want {
		list, err := b.s.CustomersAfter(context.Background(), after, 1)
		require.NoError(t, err)
		got, after = append(got, list...), list[0]
	}

	require.Equal(t, want, got)
	list, err := b.s.CustomersAfter(context.Background(), after, 1)
	require.NoError(t, err)
	require.Empty(t, list)
}
