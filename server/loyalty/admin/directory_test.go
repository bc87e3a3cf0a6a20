package admin_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestDirectoryFollowsOtherNodes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		here, there := newDesk(t, url), newDesk(t, url)
		ctx, stop := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() { here.Directory.Watch(ctx, 5*time.Millisecond) })

		k := there.Create(t, administration.KeyChange{})
		require.Eventually(t, func() bool { _, ok := here.Directory.Key(k.ID); return ok }, time.Minute, time.Millisecond)
		_, err := there.RevokeKey(t.Context(), loyaltytest.Caller, k.ID)
		require.NoError(t, err)
		require.Eventually(t, func() bool { _, ok := here.Directory.Key(k.ID); return !ok }, time.Minute, time.Millisecond)
		_, err = there.SetModule(t.Context(), loyaltytest.Caller, "stores", administration.ModuleChange{Enabled: new(false)})
		require.NoError(t, err)
		require.Eventually(t, func() bool { return !here.Directory.Programme().On["stores"] }, time.Minute, time.Millisecond)

		last := there.Create(t, administration.KeyChange{})
		here.Directory.Used(last.ID)
		stop()
		wait.Wait()
		shown, err := there.Key(t.Context(), last.ID)
		require.NoError(t, err)
		require.Equal(t, here.Now(), shown.LastUsedAt, "uses are recorded when the watch ends")
		before := there.Directory.Programme().Version
		require.NoError(t, there.Directory.Refresh(t.Context()))
		require.Equal(t, before, there.Directory.Programme().Version, "a use is no change of the programme")
	})
}

func TestKeysUsedKeepsTheLatest(t *testing.T) {
	eachDesk(t, 0, func(t *testing.T, d *desk) {
		k := d.Create(t, administration.KeyChange{})
		for _, at := range []time.Duration{time.Hour, time.Minute} {
			require.NoError(t, d.Store.KeysUsed(t.Context(), map[string]time.Time{k.ID: d.Now().Add(at), "LKNOBODY": d.Now()}))
		}
		_, err := d.UpdateKey(t.Context(), loyaltytest.Caller, k.ID, administration.KeyChange{Label: new("x")})
		require.NoError(t, err)
		shown, err := d.Key(t.Context(), k.ID)
		require.NoError(t, err)
		require.Equal(t, d.Now().Add(time.Hour), shown.LastUsedAt)
	})
}

// While the database is away the last view stays, and uses wait in memory.
func TestDirectoryOutage(t *testing.T) {
	cluster := storetest.NewCluster(t)
	s := storetest.Open(t, cluster.URL("postgres"))
	require.NoError(t, s.Migrate(t.Context()))
	var reports atomic.Int64
	d, err := administration.NewDirectory(t.Context(), administration.DirectoryOptions{Registry: action.Registry(), Store: s, Report: func(error) { reports.Add(1) }})
	require.NoError(t, err)
	admin := administration.NewAdmin(administration.AdminOptions{Registry: action.Registry(), Store: s, Directory: d})
	key, err := admin.CreateKey(t.Context(), loyaltytest.Caller, administration.KeyChange{})
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { d.Watch(ctx, 5*time.Millisecond) })
	require.NoError(t, cluster.Kill())
	require.Eventually(t, func() bool { return reports.Load() > 0 }, time.Minute, time.Millisecond)
	_, ok := d.Key(key.Value.ID)
	require.True(t, ok)
	_, err = admin.RevokeKey(t.Context(), loyaltytest.Caller, key.Value.ID)
	require.ErrorIs(t, err, loyalty.ErrUnavailable)
	d.Used(key.Value.ID)
	require.Error(t, d.Flush(t.Context()))

	require.NoError(t, cluster.Start())
	require.Eventually(t, func() bool { return d.Refresh(t.Context()) == nil }, time.Minute, time.Millisecond)
	stop()
	wait.Wait()
	shown, err := admin.Key(t.Context(), key.Value.ID)
	require.NoError(t, err)
	require.False(t, shown.LastUsedAt.IsZero(), "the use was kept until it could be recorded")
}

// slowSnapshots reads a configuration as slowly as a large one on a busy database.
type slowSnapshots struct {
	loyalty.AdminStore
	slow atomic.Bool
}

func (s *slowSnapshots) Snapshot(ctx context.Context, types []string) (loyalty.Snapshot, error) {
	if s.slow.Load() {
		select {
		case <-ctx.Done():
			return loyalty.Snapshot{}, ctx.Err()
		case <-time.After(3 * time.Second):
		}
	}
	return s.AdminStore.Snapshot(ctx, types)
}

// A programme is followed however long it takes to be read, and the directory says
// when it is behind.
func TestDirectoryFollowsALargeProgramme(t *testing.T) {
	url := storetest.Postgres(t)
	slow := &slowSnapshots{AdminStore: storetest.Open(t, url)}
	d, err := administration.NewDirectory(t.Context(), administration.DirectoryOptions{Registry: action.Registry(), Store: slow})
	require.NoError(t, err)
	slow.slow.Store(true)
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { d.Watch(ctx, 5*time.Millisecond) })
	there := newDesk(t, url)
	k := there.Create(t, administration.KeyChange{})
	var behind time.Duration
	require.Eventually(t, func() bool {
		behind = max(behind, d.Behind())
		_, ok := d.Key(k.ID)
		return ok
	}, 30*time.Second, time.Millisecond)

	require.Greater(t, behind, 2*time.Second)
	require.Eventually(t, func() bool { return d.Behind() < time.Second }, 30*time.Second, time.Millisecond)
	stop()
	wait.Wait()
}
