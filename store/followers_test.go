package store_test

import (
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestFollowersReadAside: on SQLite what follows the tail reads beside the writer, so that others write meanwhile: to
// fold a thousand events they waited for 40 ms, again and again until a follower had caught up. If another process
// followed meanwhile, nothing is counted twice.
func TestFollowersReadAside(t *testing.T) {
	url := storetest.SQLite(t)
	s, other := storetest.Open(t, url), storetest.Open(t, url)
	var w loyalty.Writes
	ada := storetest.Member("ada", start)
	storetest.Enrol(&w, ada)
	e := loyalty.Event{ID: loyalty.NewID(start, loyalty.ID{}), Customer: ada.ID, Action: "opt_in", At: start, RecordedAt: start}
	w.Events = append(w.Events, e)
	require.NoError(t, storetest.Put(s, start, w))
	require.NoError(t, s.NumberOwn(t.Context()))
	state := loyalty.StatisticsState{Zone: "UTC", Version: 1, Generation: 1}
	swapped, err := s.SwapStatistics(t.Context(), loyalty.StatisticsState{}, state)
	require.NoError(t, err)
	require.True(t, swapped)

	fold := func(s *store.Store, meanwhile func()) (events int, err error) {
		events, _, err = s.FoldFigures(t.Context(), 1, 100, func(p *loyalty.FigurePiece) []loyalty.Figure {
			meanwhile()
			return []loyalty.Figure{{Metric: "events", Key: loyalty.FigureKey{}, Day: 1, Value: *big.NewInt(int64(len(p.Events)))}}
		})
		return events, err
	}

	_, err = fold(s, func() {
		patient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, s.Change(patient, func(loyalty.AdminTx) error { return nil }), "writes while a piece is read")
		events, err := fold(other, func() {})
		require.NoError(t, err)
		require.Equal(t, 1, events)
	})

	require.ErrorIs(t, err, loyalty.ErrBatchConflict, "the other one followed meanwhile")
	events, err := fold(s, func() {})
	require.NoError(t, err)
	require.Zero(t, events)
	counted, some, err := s.LastFigure(t.Context(), "events")
	require.NoError(t, err)
	require.True(t, some)
	require.Equal(t, "1", counted.String())
}
