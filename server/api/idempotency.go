package api

import (
	"crypto/sha256"
	"net/http"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Idempotency returns the caller's key with the hash of this request's method, path and body; ok is false if the caller
// sent none. A handler that calls it must store the answer, whatever it is.
func (r *Request) Idempotency(req *http.Request) (loyalty.AnswerKey, [32]byte, bool) {
	r.Decided = true
	sent := req.Header[IdempotencyHeader]
	if len(sent) != 1 {
		return loyalty.AnswerKey{}, [32]byte{}, false
	}
	return loyalty.AnswerKey{AccessKey: r.Key.ID, Key: sent[0]}, StandsFor(req, r.Body), true
}

// StandsFor is the hash of method, path and given parts of the body.
func StandsFor(req *http.Request, what ...[]byte) [32]byte {
	path, _, _ := strings.Cut(req.RequestURI, "?")
	h := sha256.New()
	h.Write([]byte(req.Method))
	h.Write([]byte{0})
	h.Write([]byte(path))
	h.Write([]byte{0})
	for i, part := range what {
		if i > 0 {
			h.Write([]byte{0})
		}
		h.Write(part)
	}
	return [32]byte(h.Sum(nil))
}
