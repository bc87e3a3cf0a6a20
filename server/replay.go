package server

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// guard refuses a write whose signature was used already, on any node and also before a restart: the database keeps
// signatures for as long as they are valid. It is off by default, because two equal requests within one second have
// equal signatures, and because it costs one more statement for each write.
//
// With the guard on, an Idempotency-Key must be signed: otherwise an attacker who can hold a request back could send it
// with another key, and again with none.
func (s *Server) guard(c *gin.Context) {
	r := api.RequestOf(c)
	if s.signatures == nil || r.Caller != nil ||
		c.Request.Method != http.MethodPost || r.Operation != nil && r.Operation.Reads {
		return
	}

	if _, sent := c.Request.Header[api.IdempotencyHeader]; sent &&
		!slices.Contains(strings.Split(r.Signed, ";"), strings.ToLower(api.IdempotencyHeader)) {
		s.fail(c, api.ErrKeyUnsigned.At(api.IdempotencyHeader))
		return
	}

	signature, err := hex.DecodeString(r.Signature)
	if err != nil {
		s.fail(c, err) // a verified signature is hexadecimal
		return
	}

	// A signature is valid for twice the window, from a clock ahead to a clock behind.
	goodUntil := s.clock().Add(2*s.programme().Settings.AcceptanceWindow + time.Second)
	fresh, err := s.signatures.TakeSignature(c.Request.Context(), [32]byte(signature), goodUntil)
	switch {
	case err != nil:
		s.fail(c, err)
	case !fresh:
		s.fail(c, loyalty.ErrReplayed)
	}
}
