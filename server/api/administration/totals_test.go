package administration

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
)

// Reads that add up whatever there is take turns: 200 of them at once, by a key that may only
// read, took a gigabyte.
func TestTotalsTakeTurns(t *testing.T) {
	on := programme.Programme{Location: time.UTC}
	a := API{
		Totals:     api.NewGate(0, 0),
		Statistics: statistics.New(statistics.Options{Programmes: unchanging{&on}}),
	}
	ctx := &gin.Context{Request: httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)}
	ctx.Set(api.RequestKey{}, &api.Request{Key: &loyalty.AccessKey{}})
	_, err := a.GetStatistics(ctx, administration.GetStatisticsRequestObject{})
	require.ErrorIs(t, err, api.ErrBusy)
	dry, from := true, int64(1)
	_, err = a.ReplayWebhook(ctx, administration.ReplayWebhookRequestObject{Body: &administration.WebhookReplay{DryRun: &dry, FromSequence: &from}})
	require.ErrorIs(t, err, api.ErrBusy)
}

// unchanging is a programme that stays as it is.
type unchanging struct{ p *programme.Programme }

func (u unchanging) Programme() *programme.Programme { return u.p }
