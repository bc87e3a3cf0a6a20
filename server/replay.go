package server

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// guard refuses a write whose very signature has been taken already, by whichever
// node and before whichever restart: the signatures are kept in the database for as
// long as they could be sent again. It is off by default, because two equal requests
// within one second have equal signatures, and because it costs each write a
// statement more.
//
// With the guard on an Idempotency-Key must be signed: an attacker who can hold a request back
// could otherwise send it with another key, and again with none.
func (s *Server) guard(c *gin.Context) {
	r := requestOf(c)
	if s.signatures == nil || r.caller != nil || c.Request.Method != http.MethodPost || r.operation != nil && r.operation.reads {
		return
	}
	if _, sent := c.Request.Header[idempotencyHeader]; sent && !slices.Contains(strings.Split(r.signed, ";"), strings.ToLower(idempotencyHeader)) {
		s.fail(c, errKeyUnsigned.At(idempotencyHeader))
		return
	}
	signature, err := hex.DecodeString(r.signature)
	if err != nil {
		s.fail(c, err) // a verified signature is hexadecimal
		return
	}
	// A signature is good for twice the window, from a clock ahead to a clock behind.
	goodUntil := s.clock().Add(2*s.programme().Settings.AcceptanceWindow + time.Second)
	fresh, err := s.signatures.TakeSignature(c.Request.Context(), [32]byte(signature), goodUntil)
	switch {
	case err != nil:
		s.fail(c, err)
	case !fresh:
		s.fail(c, loyalty.ErrReplayed)
	}
}
