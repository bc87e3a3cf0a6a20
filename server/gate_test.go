package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
)

// TestGate: so many work, so many wait, and the next is told to come back; one key
// has half of the places at most, and who goes away frees theirs.
func TestGate(t *testing.T) {
	ctx := context.Background()
	g := newGate(2, 2)
	first, err := g.enter(ctx, "a")
	require.NoError(t, err)
	second, err := g.enter(ctx, "a")
	require.NoError(t, err)
	_, err = g.enter(ctx, "a")
	require.ErrorIs(t, err, errBusy, "half of four")

	entered := make(chan func())
	wait := func(ctx context.Context, key string) {
		leave, err := g.enter(ctx, key)
		if err != nil {
			leave = nil
		}
		entered <- leave
	}
	gone, leave := context.WithCancel(ctx)
	go wait(ctx, "b")
	go wait(gone, "c")
	require.Eventually(t, func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.count == 4 }, 5*time.Second, time.Millisecond)
	_, err = g.enter(ctx, "d")
	require.ErrorIs(t, err, errBusy, "all places are taken")
	leave()
	require.Nil(t, <-entered, "the one who went away")
	first()
	third := <-entered
	require.NotNil(t, third)
	second()
	third()
	require.Empty(t, g.inside)
	require.Zero(t, g.count)
	require.Empty(t, g.slots)
}

// Reads that add up whatever there is take turns: 200 of them at once, by a key that may only
// read, took a gigabyte.
func TestTotalsTakeTurns(t *testing.T) {
	on := programme.Programme{Location: time.UTC}
	api := administrationAPI{
		totals:     newGate(0, 0),
		statistics: statistics.New(statistics.Options{Programmes: unchanging{&on}}),
	}
	ctx := &gin.Context{Request: httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)}
	ctx.Set(requestKey{}, &request{key: &loyalty.AccessKey{}})
	_, err := api.GetStatistics(ctx, administration.GetStatisticsRequestObject{})
	require.ErrorIs(t, err, errBusy)
	_, err = api.GetLedger(ctx, administration.GetLedgerRequestObject{})
	require.ErrorIs(t, err, errBusy)
	dry := true
	_, err = api.ReplayWebhook(ctx, administration.ReplayWebhookRequestObject{Body: &administration.WebhookReplay{DryRun: &dry}})
	require.ErrorIs(t, err, errBusy)
}

// TestPartsTakeTurns: of the parts of files one at a time is written. 40 senders of parts of a
// megabyte had events wait for 12 s on SQLite.
func TestPartsTakeTurns(t *testing.T) {
	ctx := &gin.Context{Request: httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)}
	ctx.Set(requestKey{}, &request{key: &loyalty.AccessKey{}})
	api := administrationAPI{imports: importsAPI{parts: newGate(0, 0)}}
	_, err := api.AddImportFile(ctx, administration.AddImportFileRequestObject{Body: &administration.ImportPart{}})
	require.ErrorIs(t, err, errBusy)
}

// unchanging is a programme that stays as it is.
type unchanging struct{ p *programme.Programme }

func (u unchanging) Programme() *programme.Programme { return u.p }
