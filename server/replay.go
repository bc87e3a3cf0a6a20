package server

import (
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// replayGuard remembers the signatures of writes for as long as they could be
// sent again. It is off by default: two equal requests within one second have
// equal signatures. It remembers on this node only.
type replayGuard struct {
	mu        sync.Mutex
	seen, old map[signatureStart]struct{} // this generation and the one before
	turned    time.Time
}

// signatureStart is half of a signature, which is as good as all of it.
type signatureStart [16]byte

func newReplayGuard() *replayGuard { return &replayGuard{seen: map[signatureStart]struct{}{}} }

// once says whether a signature is new. A signature is good for twice the
// window (from a clock ahead to a clock behind), so that is how long one
// generation collects before it is kept for another.
func (g *replayGuard) once(signature string, now time.Time, window time.Duration) bool {
	var start signatureStart
	if _, err := hex.Decode(start[:], []byte(signature[:2*len(start)])); err != nil {
		return false // a verified signature is hexadecimal
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if life := 2*window + time.Second; now.Sub(g.turned) > life {
		g.old, g.seen, g.turned = g.seen, map[signatureStart]struct{}{}, now
	}
	_, again := g.seen[start]
	_, before := g.old[start]
	g.seen[start] = struct{}{}
	return !again && !before
}

// guard refuses a write whose very signature has been taken already.
func (s *Server) guard(c *gin.Context) {
	r := requestOf(c)
	if s.replays == nil || c.Request.Method != http.MethodPost {
		return
	}
	window := s.programme().Settings.AcceptanceWindow
	if !s.replays.once(r.signature, s.clock(), window) {
		s.fail(c, loyalty.ErrReplayed)
	}
}
