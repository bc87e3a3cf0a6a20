package signing

import (
	"crypto/sha256"
	"strings"
	"time"
)

// longestCommon is the greatest total length of header values that a common keeps, in octets.
const longestCommon = 512

// common is the shared part of requests that a client signs within one second for the same target: their canonical
// requests, and their strings to sign, differ only in a hash at the end. It keeps the states of SHA-256 in front of
// these hashes, so that the shared part is neither written nor hashed again.
type common struct {
	at             time.Time
	method, target string
	values         []string // of the signed headers, the date and the host among them; each has one value
	canonical      []byte   // state after the canonical request, up to the hash of the body
	key            *signingKey
	text           []byte // state of an HMAC under the key, after the string to sign up to its hash
}

// fits reports whether a request shares all of c. The target must be plain: no query, and a path that needs no
// cleaning.
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

// learnCommon keeps the shared part of a request whose signature is good, at most once per second.
func (v *Verifier) learnCommon(w *work, at time.Time) {
	if w.common != nil || w.matched == nil || !w.plain {
		return
	}
	if last := w.shape.common.Load(); last != nil && !at.After(last.at) {
		return
	}

	length := 0
	c := &common{at: at, method: strings.Clone(w.in.Method), target: strings.Clone(w.in.Target), key: w.matched,
		values: make([]string, len(w.values))}
	for i, values := range w.values {
		if len(values) != 1 {
			return
		}
		if length += len(values[0]); length > longestCommon {
			return
		}
		c.values[i] = strings.Clone(values[0])
	}

	const hex = 2 * sha256.Size // length of the hash at the end of each, which is specific to this request
	c.canonical = w.digest.behind(nil, w.canon[:len(w.canon)-hex])
	c.text = w.digest.behind(c.key.inner, w.text[:len(w.text)-hex])
	w.shape.common.Store(c)
}
