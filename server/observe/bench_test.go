package observe

import (
	"net/http"
	"testing"
	"time"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
)

// BenchmarkEvent is what an event costs that is counted: its request, a batch of its own, and
// what became of it. An event takes some 350 µs of the processors of server and database.
func BenchmarkEvent(b *testing.B) {
	m := NewMetrics(Build{}, []string{"point_add"})
	points := int64(5)
	r := &loyalty.Result{Outcome: loyalty.Outcome{Events: []loyalty.Event{{Action: "point_add", Points: &points}}}}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Began()
			m.Tried(traffic.Attempt{Size: 1, Load: time.Millisecond, Decide: time.Microsecond, Write: time.Millisecond})
			m.Ended("point_add", r)
			m.Answered(api.Answered{API: "events", Method: http.MethodPost, Route: "/events", Status: http.StatusOK, Took: 3 * time.Millisecond})
		}
	})
}
