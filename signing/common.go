package signing

import (
	"crypto/sha256"
	"strings"
	"time"
)

// longestCommon is the greatest total length of the header values of requests that are remembered as alike.
const longestCommon = 512

// common is what all requests have in common that a client signs within one second for the same target: in the canonical
// request and in the string to sign only a hash at their end differs. It is kept as the states of SHA-256 in front of these
// hashes, so that what is alike is neither written nor hashed again.
type common struct {
	at             time.Time
	method, target string
	values         []string // of the signed headers, the date and the host among them, each of which has one
	canonical      []byte   // state behind the canonical request but for the hash of the body
	key            *signingKey
	text           []byte // state of an HMAC under the key, behind the string to sign but for the hash of the canonical request
}

// fits reports whether a request has it all. Its target is one without query or anything to be cleaned.
func (c *common) fits(w *work) bool {
	if c == nil || !w.plain || c.method != w.in.Method || c.target != w.in.Target || len(c.values) != len(w.values) {
		return false
	}
	for i, values := range w.values {
		if len(values) != 1 || values[0] != c.values[i] {
			return false
		}
	}
	return true
}

// learnCommon keeps what a request whose signature is good has in common with those to come, once for each second.
func (v *Verifier) learnCommon(w *work, at time.Time) {
	if w.common != nil || w.matched == nil || !w.plain {
		return
	}
	if last := w.shape.common.Load(); last != nil && !at.After(last.at) {
		return
	}
	length := 0
	c := &common{at: at, method: strings.Clone(w.in.Method), target: strings.Clone(w.in.Target), key: w.matched, values: make([]string, len(w.values))}
	for i, values := range w.values {
		if len(values) != 1 {
			return
		}
		if length += len(values[0]); length > longestCommon {
			return
		}
		c.values[i] = strings.Clone(values[0])
	}
	const hex = 2 * sha256.Size // the hash at the end of either, which were written for this request
	c.canonical = w.digest.behind(nil, w.canon[:len(w.canon)-hex])
	c.text = w.digest.behind(c.key.inner, w.text[:len(w.text)-hex])
	w.shape.common.Store(c)
}
